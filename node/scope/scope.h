// Which URLs a crawl follows: a pure function of the ring-wide settings and the seeds, so that every peer judges alike.
// docs/how-to/scope.md has the order of judgement. Thread rule: immutable once made; share freely. Cost of place(), in
// addition to the lists' (scope_lists.h): host: one hash look-up; domain: one for each label of the host, and the
// public suffix list (about a microsecond) only when one hits; prefix: one look-up and a few compares; any: nothing.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "node/scope/scope_lists.h"
#include "node/settings/settings.h"
#include "node/url/canonical_url.h"
#include "node/url/registrable_domain.h"

namespace orbweaver {

// host: the URL's host is a seed's host. domain: its registrable domain (public suffix list, libpsl) is a seed's; an IP
// address or a single-label host counts as its own domain. prefix: same origin (scheme, host, port) and the path begins
// with the seed's path up to its last '/'. any: all.
//
// A seed itself is in scope. Then the lists that exclude apply, then surt_accept, then the kind. A URL that only the
// kind excludes is off_site: links may lead there for a few hops (max_hops_off_site).
class Scope {
 public:
  enum class Place : std::uint8_t { in, off_site, out };

  Scope(ScopeKind kind, const std::vector<CanonicalUrl>& seeds);  // no lists
  Scope(const Settings& settings, const std::vector<CanonicalUrl>& seeds);
  // Adds seeds; the same as if they had been there before. A seed that is a result page (setting result_pages) is
  // itself in scope and widens nothing: its engine is not a site of the crawl.
  void add_seeds(const std::vector<CanonicalUrl>& seeds);

  Place place(const CanonicalUrl& url) const;
  bool is_result_page(const CanonicalUrl& url) const { return lists_->is_result_page(url); }
  bool contains(const CanonicalUrl& url) const { return place(url) == Place::in; }
  // For `orbweaver explain`: a sentence with the rule (setting and entry) that includes or excludes the URL.
  std::string explain(const CanonicalUrl& url) const;

 private:
  struct DigestHash {
    std::size_t operator()(const ring::Md5& digest) const;
  };

  bool in_kind(const CanonicalUrl& url) const;
  std::string explain_kind(const CanonicalUrl& url, bool in) const;
  const std::string* domain_of(std::string_view host) const;
  const std::string* prefix_of(const CanonicalUrl& url) const;

  ScopeKind kind_;
  std::uint32_t hops_off_site_ = 0;
  std::shared_ptr<const ScopeLists> lists_;
  std::unordered_set<ring::Md5, DigestHash> seeds_;  // by MD5 of the URL; lists and result pages need them
  bool has_result_pages_ = false;                    // among the seeds
  TextSet hosts_;                                    // or registrable domains
  // origin -> path prefixes, none of which begins with another
  std::unordered_map<std::string, std::vector<std::string>, TextHash, std::equal_to<>> prefixes_;
};

}  // namespace orbweaver
