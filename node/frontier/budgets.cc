#include "node/frontier/budgets.h"

#include "node/url/registrable_domain.h"

namespace orbweaver {

namespace {

bool reached(std::uint64_t used, std::uint64_t allowed) { return allowed > 0 && used >= allowed; }

}  // namespace

// An error of the store is noted there, and the process ends.
storage::SiteUse Budgets::use_of(const std::string& domain) const {
  const auto row = state_->store->use(key_of(domain));
  return row && *row ? **row : storage::SiteUse{.site = domain};
}

bool Budgets::spent(const BenchHost& host, const CanonicalUrl& url) const {
  const Settings& settings = state_->settings;
  if (of_hosts() && (reached(host.pages + host.pending, settings.max_pages_per_host) ||
                     reached(host.bytes, settings.max_bytes_per_host)))
    return true;
  if (!of_domains()) return false;
  const std::string domain = registrable_domain(url.host());
  const storage::SiteUse use = use_of(domain);
  const auto asked = under_way_.find(domain);
  const std::uint64_t under_way = asked == under_way_.end() ? 0 : asked->second;
  return reached(use.pages + under_way, settings.max_pages_per_domain) ||
         reached(use.bytes, settings.max_bytes_per_domain);
}

void Budgets::page_begins(const CanonicalUrl& url) {
  if (of_domains()) ++under_way_[registrable_domain(url.host())];
}

void Budgets::page_ends(const CanonicalUrl& url) {
  if (!of_domains()) return;
  const auto asked = under_way_.find(registrable_domain(url.host()));
  if (asked != under_way_.end() && --asked->second == 0) under_way_.erase(asked);
}

bool Budgets::count(const CanonicalUrl& url, std::uint64_t bytes, BenchHost* host, storage::Commit& commit) const {
  if (of_domains()) {
    storage::SiteUse use = use_of(registrable_domain(url.host()));
    ++use.pages;
    use.bytes += bytes;
    const storage::HostKey site = key_of(use.site);
    commit.uses.emplace_back(site, std::move(use));
  }
  if (!of_hosts() || host == nullptr) return false;
  ++host->pages;
  host->bytes += bytes;
  return true;
}

}  // namespace orbweaver
