#include "node/scope/scope.h"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "node/url/registrable_domain.h"
#include "node/url/url_host.h"

namespace orbweaver {

namespace {

// The seed's path up to its last '/': the URLs of a prefix crawl begin with it.
std::string_view directory_of(const CanonicalUrl& url) {
  std::string_view path = url.path_and_query();
  path = path.substr(0, path.find('?'));
  return path.substr(0, path.rfind('/') + 1);
}

std::string quoted(std::string_view text) { return "'" + std::string(text) + "'"; }

}  // namespace

std::size_t Scope::DigestHash::operator()(const ring::Md5& digest) const {
  std::size_t value = 0;
  std::memcpy(&value, digest.data(), sizeof value);
  return value;
}

Scope::Scope(ScopeKind kind, const std::vector<CanonicalUrl>& seeds)
    : kind_(kind), lists_(std::make_shared<ScopeLists>(Settings{})) {
  add_seeds(seeds);
}

Scope::Scope(const Settings& settings, const std::vector<CanonicalUrl>& seeds)
    : kind_(settings.scope),
      hops_off_site_(settings.max_hops_off_site),
      lists_(std::make_shared<ScopeLists>(settings)) {
  add_seeds(seeds);
}

void Scope::add_seeds(const std::vector<CanonicalUrl>& seeds) {
  for (const CanonicalUrl& seed : seeds) {
    seeds_.insert(seed.digest());
    if (lists_->is_result_page(seed)) {
      has_result_pages_ = true;
      continue;
    }
    switch (kind_) {
      case ScopeKind::host:
        hosts_.emplace(seed.host());
        break;
      case ScopeKind::domain:
        hosts_.insert(registrable_domain(seed.host()));
        break;
      case ScopeKind::prefix: {
        std::vector<std::string>& prefixes = prefixes_[std::string(seed.origin())];
        const std::string_view directory = directory_of(seed);
        const bool covered = std::any_of(prefixes.begin(), prefixes.end(),
                                         [&](const std::string& prefix) { return directory.starts_with(prefix); });
        if (covered) break;
        std::erase_if(prefixes, [&](const std::string& prefix) { return prefix.starts_with(directory); });
        prefixes.emplace_back(directory);
        break;
      }
      case ScopeKind::any:
        break;
    }
  }
}

// The seeds' domain that the host belongs to; null when there is none. The list is read only when one of the host's
// suffixes is a seed's domain: most links that lead elsewhere cost a few look-ups.
const std::string* Scope::domain_of(std::string_view host) const {
  if (is_ip_address(host)) {
    const auto found = hosts_.find(host);
    return found == hosts_.end() ? nullptr : &*found;
  }
  for (std::string_view suffix = host;;) {
    const auto found = hosts_.find(suffix);
    if (found != hosts_.end()) {
      // A domain may be above a public suffix ("s3.amazonaws.com"
      // below "amazonaws.com"), so the list decides.
      return registrable_domain(host) == *found ? &*found : nullptr;
    }
    const std::size_t dot = suffix.find('.');
    if (dot == std::string_view::npos) return nullptr;
    suffix.remove_prefix(dot + 1);
  }
}

const std::string* Scope::prefix_of(const CanonicalUrl& url) const {
  const auto found = prefixes_.find(url.origin());
  if (found == prefixes_.end()) return nullptr;
  for (const std::string& prefix : found->second) {
    if (url.path_and_query().starts_with(prefix)) return &prefix;
  }
  return nullptr;
}

bool Scope::in_kind(const CanonicalUrl& url) const {
  switch (kind_) {
    case ScopeKind::host:
      return hosts_.contains(url.host());
    case ScopeKind::domain:
      return domain_of(url.host()) != nullptr;
    case ScopeKind::prefix:
      return prefix_of(url) != nullptr;
    case ScopeKind::any:
      return true;
  }
  return false;
}

Scope::Place Scope::place(const CanonicalUrl& url) const {
  if (lists_->any_refuse() && !lists_->refused(url).setting.empty())
    return seeds_.contains(url.digest()) ? Place::in : Place::out;
  if (in_kind(url) || !lists_->accepted(url).setting.empty()) return Place::in;
  return has_result_pages_ && seeds_.contains(url.digest()) ? Place::in : Place::off_site;
}

std::string Scope::explain_kind(const CanonicalUrl& url, bool in) const {
  switch (kind_) {
    case ScopeKind::host:
      return "scope = host: host " + quoted(url.host()) + (in ? " is a seed's host" : " is not a seed's host");
    case ScopeKind::domain:
      return "scope = domain: domain " + quoted(registrable_domain(url.host())) +
             (in ? " is a seed's domain" : " is not a seed's domain");
    case ScopeKind::prefix: {
      const std::string* const prefix = prefix_of(url);
      if (prefix != nullptr) return "scope = prefix: it begins with " + quoted(std::string(url.origin()) + *prefix);
      if (!prefixes_.contains(url.origin())) return "scope = prefix: no seed is on " + quoted(url.origin());
      return "scope = prefix: path " + quoted(url.path_and_query()) + " begins with no seed's path on " +
             quoted(url.origin());
    }
    case ScopeKind::any:
      return "scope = any: this crawl takes any host";
  }
  return {};
}

std::string Scope::explain(const CanonicalUrl& url) const {
  const ScopeLists::Hit refused = lists_->refused(url);
  if (!refused.setting.empty()) {
    const std::string rule =
        std::string(refused.setting) + (refused.entry.empty() ? " has no entry for it" : " " + quoted(refused.entry));
    return seeds_.contains(url.digest()) ? "in scope: it is a seed, though " + rule : "out of scope: " + rule;
  }
  const bool in = in_kind(url);
  if (const ScopeLists::Hit accepted = lists_->accepted(url); !in && !accepted.setting.empty())
    return "in scope: " + std::string(accepted.setting) + " " + quoted(accepted.entry);
  if (!in && seeds_.contains(url.digest())) return "in scope: it is a seed, a page of results (result_pages)";
  std::string text = (in ? "in scope: " : "out of scope: ") + explain_kind(url, in);
  if (!in && hops_off_site_ > 0)
    text += "; links lead there for " + std::to_string(hops_off_site_) + " hops (max_hops_off_site)";
  return text;
}

}  // namespace orbweaver
