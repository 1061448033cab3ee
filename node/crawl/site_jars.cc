#include "node/crawl/site_jars.h"

#include <algorithm>

#include "node/http/url_place.h"
#include "node/url/registrable_domain.h"

namespace orbweaver {

namespace {

// A version is the time of its change, or one more than the version before.
std::uint64_t version_at(Time now) {
  return static_cast<std::uint64_t>(std::max<Time::rep>(now.time_since_epoch().count(), 0));
}

}  // namespace

std::optional<SiteJars::Site> SiteJars::site_of(const FetchJob& fetch) const {
  std::string_view host = fetch.url.host();
  if (const PageFetch* const page = fetch.page()) {
    host = CanonicalUrl::host_in(page->queued.url);  // a canonical redirect asks it by another name
  } else if (const RobotsFetch* const robots = fetch.robots()) {
    if (CanonicalUrl::host_in(robots->origin + "/") != host) return std::nullopt;
  }
  if (state_->partitioner.by() != PartitionBy::domain) return Site{fetch.host, std::string(host)};
  // A domain's own name has the same home: domains and their hosts are in one partition.
  std::string domain = registrable_domain(host);
  const storage::HostKey key = state_->partitioner.host_key(domain, fetch.host.partition);
  return Site{key, std::move(domain)};
}

CookieJar SiteJars::jar_of(const storage::HostKey& site) const {
  if (const auto found = changed_.find(site); found != changed_.end()) return found->second;
  const auto row = state_->store->cookies(site);
  if (!row || !*row) return {};
  return CookieJar::decode((*row)->jar).value_or(CookieJar{});
}

std::string SiteJars::header_for(Time now, const FetchJob& fetch) {
  if (state_->settings.cookies != Cookies::crawl) return {};
  const std::optional<Site> site = site_of(fetch);
  if (!site) return {};
  CookieJar jar = jar_of(site->key);
  std::string header = jar.header_for(place_of(fetch.url), now);
  // The request's outcome brings the row up to date.
  if (jar.drop_expired(now)) changed_.insert_or_assign(site->key, std::move(jar));
  return header;
}

void SiteJars::take(Time now, const FetchJob& fetch, const std::vector<std::string>& set_cookies) {
  if (state_->settings.cookies != Cookies::crawl || set_cookies.empty()) return;
  const std::optional<Site> site = site_of(fetch);
  if (!site) return;
  CookieJar jar = jar_of(site->key);
  bool taken = false;
  for (const std::string& value : set_cookies) taken = jar.take(place_of(fetch.url), value, now) || taken;
  jar.drop_expired(now);
  if (taken) changed_.insert_or_assign(site->key, std::move(jar));
}

void SiteJars::write(Time now, const FetchJob& fetch, storage::Commit& commit) {
  if (changed_.empty()) return;
  const std::optional<Site> site = site_of(fetch);
  const auto changed = site ? changed_.find(site->key) : changed_.end();
  if (changed == changed_.end()) return;
  const CookieJar jar = std::move(changed->second);
  changed_.erase(changed);
  const auto stored = state_->store->cookies(site->key);
  storage::SiteCookies row{
      .site = site->name, .version = version_at(now), .expires = jar.expires(), .jar = jar.encode()};
  if (stored && *stored) {
    if ((*stored)->jar == row.jar) return;  // set again to the same
    row.version = std::max(row.version, (*stored)->version + 1);
    // An empty row stays for as long as older copies elsewhere hold something.
    row.expires = std::max(row.expires, (*stored)->expires);
  }
  if (row.expires <= now) {
    if (stored && *stored) commit.cookies.emplace_back(site->key, std::nullopt);
    return;
  }
  commit.cookies.emplace_back(site->key, std::move(row));
}

bool believable(const storage::SiteCookies& cookies, Time now) {
  return cookies.version <= version_at(now + storage::max_host_wait) && CookieJar::decode(cookies.jar);
}

}  // namespace orbweaver
