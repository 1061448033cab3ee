// Which URLs a crawl follows: a pure function of the scope kind and the seeds, so that every peer judges alike.
// Thread rule: immutable once made; share freely. Cost of judge(): a hash look-up (host, domain, any); for prefix a look-up and a few compares.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "node/config/settings.h"
#include "node/url/canonical_url.h"

namespace orbweaver {

// host: the URL's host is a seed's host. domain: its registrable domain (public suffix list, libpsl) is a seed's; an IP address or a
// single-label host counts as its own domain. prefix: same origin (scheme, host, port) and the path begins with the seed's path up to its last '/'. any: all.
class Scope {
 public:
  Scope(ScopeKind kind, const std::vector<CanonicalUrl>& seeds);

  bool contains(const CanonicalUrl& url) const;
  // For `orbweaver explain`: the rule that lets it in or keeps it out, in a sentence.
  std::string explain(const CanonicalUrl& url) const;

 private:
  ScopeKind kind_;
  std::unordered_set<std::string> hosts_;    // or registrable domains
  std::unordered_map<std::string, std::vector<std::string>> prefixes_;  // origin -> path prefixes
};

// The registrable domain ("example.co.uk" of "a.b.example.co.uk"); the host itself for IP addresses, single labels and public suffixes.
std::string registrable_domain(std::string_view host);

}  // namespace orbweaver
