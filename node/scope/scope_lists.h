// The lists of a crawl's scope (settings url_deny, surt_reject, extensions_deny, url_allow, extensions_allow,
// surt_accept): a pure function of the settings, so that every peer judges alike. Thread rule: immutable once made;
// share freely. Cost: nothing for an empty list; extensions: one look-up per dot;
// SURT: the URL's SURT form (about 0.2 us) and a binary search.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "node/scope/page_rules.h"
#include "node/scope/re2_patterns.h"
#include "node/settings/settings.h"
#include "node/url/canonical_url.h"

namespace orbweaver {

// Look-ups by string_view, without a copy.
struct TextHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
};
using TextSet = std::unordered_set<std::string, TextHash, std::equal_to<>>;

// SURT prefixes as web archives write them, "http://(org,example,www,)/path". The scheme is ignored. "org,example," is
// example.org and all below it, "org,example,)/" the host itself, "org,example,)/docs/" a directory of it. A plain URL
// means its host and its path up to the last '/' ("http://example.org/docs/").
class SurtPrefixes {
 public:
  SurtPrefixes() = default;
  explicit SurtPrefixes(const std::vector<std::string>& entries);
  bool empty() const { return prefixes_.empty(); }
  const std::string* match(const CanonicalUrl& url) const;  // the prefix that the URL begins with, or null

 private:
  std::vector<std::string> prefixes_;  // sorted, none begins with another
};
// What is wrong with an entry; empty: nothing.
std::string check_surt_prefix(std::string_view entry);

// The end of a path's last segment after one of its dots, in lower case: "pdf", "tar.gz".
std::string check_ending(std::string_view entry);

class ScopeLists {
 public:
  // Skips a pattern that does not compile; the table of settings has refused it before.
  explicit ScopeLists(const Settings& settings);

  // The list that judges the URL, and the entry. When no list does, `setting` is empty.
  struct Hit {
    std::string_view setting;  // "url_deny"
    std::string_view entry;    // of the list; empty when the URL matches no entry
  };
  // The first list that excludes the URL, in the order of docs/how-to/scope.md.
  Hit refused(const CanonicalUrl& url) const;
  // surt_accept: in scope whatever the seeds are.
  Hit accepted(const CanonicalUrl& url) const;
  bool any_refuse() const { return any_refuse_; }
  // Whether it is a result page, by `result_pages`.
  bool is_result_page(const CanonicalUrl& url) const { return !result_pages_.empty() && result_pages_.find(url); }

 private:
  ResultPages result_pages_;
  UrlPatterns url_deny_;
  UrlPatterns url_allow_;
  SurtPrefixes surt_reject_;
  SurtPrefixes surt_accept_;
  TextSet endings_deny_;
  TextSet endings_allow_;
  bool any_refuse_ = false;
};

// Checks media types, "text/html" or "text/*", against the settings content_types_allow and content_types_deny. `type`
// is as media_type() makes it: lower case, no parameters. Empty (the server names none): nothing to judge, true.
bool content_type_wanted(const Settings& settings, std::string_view type);
std::string check_content_type(std::string_view entry);

}  // namespace orbweaver
