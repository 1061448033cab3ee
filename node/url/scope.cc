#include "node/url/scope.h"

#include <libpsl.h>

#include <algorithm>
#include <string_view>

#include "node/url/url_host.h"

namespace orbweaver {

namespace {

// The seed's path up to its last '/': what the URLs of a prefix crawl begin with.
std::string_view directory_of(const CanonicalUrl& url) {
  std::string_view path = url.path_and_query();
  path = path.substr(0, path.find('?'));
  return path.substr(0, path.rfind('/') + 1);
}

std::string quoted(std::string_view text) { return "'" + std::string(text) + "'"; }

}  // namespace

std::string registrable_domain(std::string_view host) {
  std::string domain(host);
  // The built-in list: the same on every peer with the same libpsl. Without one, every host is its own domain.
  const psl_ctx_t* const list = psl_builtin();
  if (list == nullptr || is_ip_address(host)) return domain;
  const char* const found = psl_registrable_domain(list, domain.c_str());  // points into `domain`
  return found == nullptr ? domain : std::string(found);
}

Scope::Scope(ScopeKind kind, const std::vector<CanonicalUrl>& seeds) : kind_(kind) {
  for (const CanonicalUrl& seed : seeds) {
    switch (kind) {
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

// The seeds' domain that the host belongs to; null when there is none. The list is asked only when one of the host's
// suffixes is a seed's domain: most links of a page that lead elsewhere cost a few look-ups.
const std::string* Scope::domain_of(std::string_view host) const {
  if (is_ip_address(host)) {
    const auto found = hosts_.find(host);
    return found == hosts_.end() ? nullptr : &*found;
  }
  for (std::string_view suffix = host;;) {
    const auto found = hosts_.find(suffix);
    if (found != hosts_.end()) {
      // A domain may lie above a public suffix ("s3.amazonaws.com" below "amazonaws.com"), so the list has the last
      // word.
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

bool Scope::contains(const CanonicalUrl& url) const {
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

std::string Scope::explain(const CanonicalUrl& url) const {
  const bool in = contains(url);
  const std::string verdict = in ? "in scope: " : "out of scope: ";
  switch (kind_) {
    case ScopeKind::host:
      return verdict + "host " + quoted(url.host()) + (in ? " is a seed's host" : " is no seed's host");
    case ScopeKind::domain: {
      const std::string domain = registrable_domain(url.host());
      return verdict + "domain " + quoted(domain) + (in ? " is a seed's domain" : " is no seed's domain");
    }
    case ScopeKind::prefix: {
      const std::string* const prefix = prefix_of(url);
      if (prefix != nullptr) return verdict + "it begins with " + quoted(std::string(url.origin()) + *prefix);
      const bool origin_known = prefixes_.contains(url.origin());
      return verdict +
             (origin_known ? "path " + quoted(url.path_and_query()) + " begins with no seed's path on "
                           : std::string("no seed is on ")) +
             quoted(url.origin());
    }
    case ScopeKind::any:
      return verdict + "this crawl takes any host";
  }
  return verdict;
}

}  // namespace orbweaver
