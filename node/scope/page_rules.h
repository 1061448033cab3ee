// Rules of single pages and sites for their links (docs/how-to/keywords.md): which pages are result pages of a search
// engine, which of their links are results, and which links the ordinary pages of a site may give. Pure functions of
// ring-wide settings. Thread rule: immutable once made; share freely.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "node/base.h"
#include "node/scope/re2_patterns.h"
#include "node/url/canonical_url.h"
#include "node/url/canonicaliser.h"

namespace orbweaver {

// An entry of `result_pages`: "PATTERN [url=RE2] [select=SELECTOR] [unwrap=NAME]", values with spaces in double quotes.
//   PATTERN   RE2 that matches somewhere in the canonical URL of a result page
//   select    only links that this selector matches (html/selector.h)
//   url       only links whose canonical URL this matches
//   unwrap    a link with a query parameter of this name stands for the URL in its value: engines count clicks
// In any case a link to the engine's own registrable domain is not a result.
struct ResultPageEntry {
  std::string pattern;
  std::string url;     // empty: any
  std::string select;  // empty: any
  std::string unwrap;  // empty: none
};
Result<ResultPageEntry> parse_result_page(std::string_view entry);

class ResultPages {
 public:
  ResultPages() = default;
  // Skips entries that parse_result_page() refuses: the settings' table has refused them before.
  explicit ResultPages(const std::vector<std::string>& entries);
  bool empty() const { return rules_.empty(); }

  struct Rule {
    ResultPageEntry entry;
    UrlPatterns url;
  };
  // The first rule whose pattern matches; null: not a result page. Valid as long as this object.
  const Rule* find(const CanonicalUrl& page) const;

 private:
  UrlPatterns patterns_;
  std::map<std::string, Rule, std::less<>> rules_;  // by pattern
};

// The results among the links of a result page, each once, in order; at most max_results_per_page. `canonicaliser`: the
// crawl's, for unwrapped URLs.
std::vector<CanonicalUrl> results_of(const ResultPages::Rule& rule, const CanonicalUrl& page,
                                     const std::vector<CanonicalUrl>& links, const Canonicaliser& canonicaliser);
inline constexpr std::size_t max_results_per_page = 1000;

// An entry of `site_links`: "SITE [keep=RE2] [drop=RE2] [same_host=yes]". SITE is a host, "*.HOST" for it and all hosts
// below it, or "*" for all; the exact host goes before a pattern, the longer pattern before the shorter. Links of the
// site's pages are kept when `keep` matches their canonical URL,
// `drop` does not, and, with same_host, their host is the page's own.
struct SiteLinksEntry {
  std::string site;
  std::string keep;  // empty: all
  std::string drop;  // empty: none
  bool same_host = false;
};
Result<SiteLinksEntry> parse_site_links(std::string_view entry);

class SiteLinks {
 public:
  SiteLinks() = default;
  explicit SiteLinks(const std::vector<std::string>& entries);
  bool empty() const { return exact_.empty() && below_.empty() && !any_; }
  // Removes the links that the page's site does not keep; returns how many.
  std::uint32_t filter(const CanonicalUrl& page, std::vector<CanonicalUrl>& links) const;

 private:
  struct Rule {
    UrlPatterns keep;
    UrlPatterns drop;
    bool same_host = false;
  };
  const Rule* find(std::string_view host) const;
  std::map<std::string, Rule, std::less<>> exact_;
  std::map<std::string, Rule, std::less<>> below_;  // by the text after "*."
  std::optional<Rule> any_;
};

}  // namespace orbweaver
