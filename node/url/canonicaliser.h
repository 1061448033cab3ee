// The canonical form that a crawl chose: the form of CanonicalUrl, and the ring-wide settings that join further URLs.
// docs/reference/canonical-form.md lists the rules for people. Every URL of a crawl passes through it (seeds, links,
// redirects, records from peers), so that all peers of a ring treat the same URLs as equal. All of its rules are off by
// default: each of them joins URLs that a server may distinguish.
//
// Idempotent: canonicalising its own output changes nothing (tests/unit/canonicaliser_test.cc, tests/fuzz/url_fuzz.cc).
// Thread rule: immutable once made; share freely. Cost beyond CanonicalUrl::from(): with no rule on, nothing; with all
// on, one copy of path and query and a look-up for each parameter, about a microsecond.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "node/base.h"
#include "node/settings/settings.h"
#include "node/url/canonical_url.h"

namespace orbweaver {

class Canonicaliser {
 public:
  // No rule on: CanonicalUrl's own form.
  Canonicaliser() = default;
  // The rules that the settings choose.
  explicit Canonicaliser(const Settings& settings);

  Result<CanonicalUrl> parse(std::string_view text) const;
  Result<CanonicalUrl> from(const Url& url) const;
  // Two URLs that differ in their fragments alone may be two in this form.
  bool keeps_fragments() const { return keep_hash_bang_; }

  // What differs between the URL standard's serialisation and the canonical form, in the order of the rules:
  // "credentials", "fragment", "host_dot", "empty_query", "escapes", then settings' names. Empty if the URL is refused.
  std::vector<std::string_view> changes(const Url& url) const;

 private:
  enum Rule : std::uint16_t;
  Result<CanonicalUrl> apply(const Url& url, std::uint16_t& changed) const;
  std::string_view joined_host(std::string_view host) const;
  std::string joined_path(std::string_view path, std::uint16_t& changed) const;
  std::string joined_query(std::string_view query, std::uint16_t& changed) const;
  bool is_stripped(std::string_view parameter, std::uint16_t& changed) const;

  // Lower-case names, and names with '*'.
  struct Names {
    std::unordered_set<std::string> whole;
    std::vector<std::string> patterns;
    void add(std::string_view pattern);
    bool match(const std::string& name) const;
    bool empty() const { return whole.empty() && patterns.empty(); }
  };

  bool any_ = false;
  Names tracking_;
  Names asked_;
  Names sessions_;
  Names sessions_if_id_;
  bool sort_ = false;
  bool strip_sessions_ = false;
  bool strip_index_ = false;
  bool drop_slash_ = false;
  bool join_www_ = false;
  bool keep_hash_bang_ = false;
  std::string scheme_;  // the scheme that http and https are joined to; empty: they stay two
};

// The fault of a pattern of strip_parameters, in a sentence; empty when there is none.
std::string parameter_pattern_fault(std::string_view pattern);

}  // namespace orbweaver
