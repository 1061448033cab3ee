// Which URLs a crawl follows: a pure function of the scope kind and the seeds, so that every peer judges alike.
// Thread rule: immutable once made; share freely. Cost of contains(): host: one hash look-up; domain: one for each
// label of the host, and the public suffix list (about a microsecond) only when one hits; prefix: one look-up and a few
// compares; any: nothing.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "node/config/settings.h"
#include "node/url/canonical_url.h"

namespace orbweaver {

// host: the URL's host is a seed's host. domain: its registrable domain (public suffix list, libpsl) is a seed's; an IP
// address or a single-label host counts as its own domain. prefix: same origin (scheme, host, port) and the path begins
// with the seed's path up to its last '/'. any: all.
class Scope {
 public:
  Scope(ScopeKind kind, const std::vector<CanonicalUrl>& seeds);

  bool contains(const CanonicalUrl& url) const;
  // For `orbweaver explain`: the rule that lets it in or keeps it out, in a sentence.
  std::string explain(const CanonicalUrl& url) const;

 private:
  // Look-ups by string_view, without a copy.
  struct TextHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
  };

  const std::string* domain_of(std::string_view host) const;
  const std::string* prefix_of(const CanonicalUrl& url) const;

  ScopeKind kind_;
  std::unordered_set<std::string, TextHash, std::equal_to<>> hosts_;  // or registrable domains
  // origin -> path prefixes, none of which begins with another
  std::unordered_map<std::string, std::vector<std::string>, TextHash, std::equal_to<>> prefixes_;
};

// The registrable domain ("example.co.uk" of "a.b.example.co.uk"); the host itself for IP addresses, single labels and
// public suffixes.
std::string registrable_domain(std::string_view host);

}  // namespace orbweaver
