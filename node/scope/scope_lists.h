// The lists of a crawl's scope (settings url_deny, surt_reject, extensions_deny, url_allow, extensions_allow,
// surt_accept): a pure function of the settings, so that every peer judges alike. Thread rule: immutable once made;
// share freely. Cost: nothing for an empty list; endings: a look-up a dot; SURT: the URL's SURT form (about 0.2 us) and
// a binary search.
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

// SURT prefixes as web archives write them, "http://(org,example,www,)/path": the scheme does not count; "org,example,"
// is example.org and all below it, "org,example,)/" the host itself, "org,example,)/docs/" a directory of it. A plain
// URL stands for its host and its path up to the last '/' ("http://example.org/docs/").
class SurtPrefixes {
 public:
  SurtPrefixes() = default;
  explicit SurtPrefixes(const std::vector<std::string>& entries);
  bool empty() const { return prefixes_.empty(); }
  const std::string* match(const CanonicalUrl& url) const;  // the prefix that it begins with, or null

 private:
  std::vector<std::string> prefixes_;  // sorted, none begins with another
};
// What is wrong with an entry; empty: nothing.
std::string check_surt_prefix(std::string_view entry);

// The end of a path's last segment after one of its dots, lower case: "pdf", "tar.gz".
std::string check_ending(std::string_view entry);

class ScopeLists {
 public:
  // A pattern that does not compile, which the table of settings has refused before, is left out.
  explicit ScopeLists(const Settings& settings);

  // Which list judges the URL, and by which entry. None of them: `setting` is empty.
  struct Hit {
    std::string_view setting;  // "url_deny"
    std::string_view entry;    // of the list; empty when it is for want of a match
  };
  // The first that keeps it out, in the order of docs/how-to/scope.md.
  Hit refused(const CanonicalUrl& url) const;
  // surt_accept: in scope whatever the seeds are.
  Hit accepted(const CanonicalUrl& url) const;
  bool any_refuse() const { return any_refuse_; }
  // A page of results, by `result_pages`.
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

// Media types, "text/html" or "text/*", against the settings content_types_allow and content_types_deny. `type` as
// media_type() makes it: lower case, without parameters; empty (the server names none): nothing to judge, true.
bool content_type_wanted(const Settings& settings, std::string_view type);
std::string check_content_type(std::string_view entry);

}  // namespace orbweaver
