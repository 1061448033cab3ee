// Rules of single pages and sites for their links (docs/how-to/keywords.md): which pages are result pages of a search
// engine and which of their links are results; and, of ordinary pages, which links a site's pages may give. Pure
// functions of ring-wide settings. Thread rule: immutable once made; share freely.
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
//   PATTERN   RE2 that finds itself in the canonical URL of a result page
//   select    only links that this selector means (html/selector.h)
//   url       only links in whose canonical URL this matches
//   unwrap    a link that has a query parameter of this name stands for the URL that is its value: engines count clicks
// Whatever these say, a link to the engine's own registrable domain is no result.
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
  // Entries that parse_result_page() refuses are left out: the settings' table has refused them before.
  explicit ResultPages(const std::vector<std::string>& entries);
  bool empty() const { return rules_.empty(); }

  struct Rule {
    ResultPageEntry entry;
    UrlPatterns url;
  };
  // The first whose pattern matches; null: not a result page. Valid as long as this.
  const Rule* find(const CanonicalUrl& page) const;

 private:
  UrlPatterns patterns_;
  std::map<std::string, Rule, std::less<>> rules_;  // by pattern
};

// The results among the links of a result page, each once, in order; at most results_per_page_max. `canonicaliser`: the
// crawl's, for URLs that are unwrapped.
std::vector<CanonicalUrl> results_of(const ResultPages::Rule& rule, const CanonicalUrl& page,
                                     const std::vector<CanonicalUrl>& links, const Canonicaliser& canonicaliser);
inline constexpr std::size_t results_per_page_max = 1000;

// An entry of `site_links`: "SITE [keep=RE2] [drop=RE2] [same_host=yes]". SITE is a host, "*.HOST" for it and all below
// it, or "*" for all; the exact host goes before a pattern, the longer pattern before the shorter. Links of the site's
// pages are kept when `keep` matches their canonical URL, `drop` does not, and, with same_host, their host is the
// page's own.
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
  // Takes out what the page's site does not keep; how many those were.
  std::uint32_t filter(const CanonicalUrl& page, std::vector<CanonicalUrl>& links) const;

 private:
  struct Rule {
    UrlPatterns keep;
    UrlPatterns drop;
    bool same_host = false;
  };
  const Rule* find(std::string_view host) const;
  std::map<std::string, Rule, std::less<>> exact_;
  std::map<std::string, Rule, std::less<>> below_;  // by what follows "*."
  std::optional<Rule> any_;
};

}  // namespace orbweaver
