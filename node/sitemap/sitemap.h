// Sitemaps: lists of URLs that a site offers to crawlers, in the five forms of https://www.sitemaps.org/protocol.html:
// XML <urlset> and <sitemapindex>, plain text, RSS (2.0, 1.0) and Atom; each gzipped too. Outside input of any bytes:
// bounded, never throws. A fault in a file costs only what comes after it: what was read is kept, and `problem`
// describes the fault. Names are compared without their namespaces (real files name wrong ones, or none), but an
// element with another prefix than the root's is ignored (<image:loc>). Nothing outside the document is ever read:
// DTDs, entities and XInclude are skipped. Thread rule: free functions and values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "node/base.h"
#include "node/url/canonical_url.h"
#include "node/url/canonicaliser.h"

namespace orbweaver {

// sitemaps.org's limit for one file, uncompressed.
inline constexpr std::size_t max_sitemap_bytes = 50 * 1024 * 1024;
inline constexpr std::size_t max_sitemap_entries = 50'000;

enum class SitemapKind : std::uint8_t { unknown, urlset, index, text, rss, atom };
std::string_view sitemap_kind_name(SitemapKind kind);  // "urlset"

struct SitemapEntry {
  std::string url;                 // as written, without white space around it; UTF-8; at most max_url_bytes bytes
  std::optional<Time> lastmod;     // <lastmod>, <pubDate>, <dc:date>, <updated>; nothing when it cannot be parsed
  std::string change_frequency;    // "daily"; empty when absent or not a word of the protocol
  std::optional<double> priority;  // 0.0 to 1.0; nothing when absent or outside
};

struct Sitemap {
  SitemapKind kind = SitemapKind::unknown;
  std::vector<SitemapEntry> entries;  // in order; for an index: further sitemaps
  bool cut = false;                   // a limit was reached: there is more
  bool damaged = false;               // not well-formed, or it ends in the middle
  std::string problem;                // for people, when cut, damaged, repaired or unknown
};

struct SitemapLimits {
  std::size_t max_bytes = max_sitemap_bytes;
  std::size_t max_entries = max_sitemap_entries;
};

// `body`: Content-Encoding undone; a gzip file is unpacked here. `content_type`: the header's value, for its charset.
// Memory: the unpacked text (at most max_bytes), converted when it is not UTF-8, and the entries.
Sitemap read_sitemap(std::string_view body, std::string_view content_type, const SitemapLimits& limits = {});

// Whether a response is a sitemap, by its first bytes alone, whatever its Content-Type says (it is often wrong): the
// root element is <urlset>, <sitemapindex>, <rss>, <RDF> or <feed>; or it is text/plain whose every line is an http or
// https URL. Gzip files are unpacked. Cost: about 50 ns for a page of HTML.
bool looks_like_sitemap(std::string_view body, std::string_view content_type);

// Whether a response of this media type is worth unpacking for a check: not images, styles and the like.
bool may_be_sitemap(std::string_view media_type);

struct SitemapUrls {
  std::vector<CanonicalUrl> urls;  // each once, in order; fragments dropped
  std::vector<Time> lastmods;      // of each URL, the epoch: none given; empty for the lines of a robots.txt
  std::uint32_t skipped = 0;       // not http or https, or not a URL
  std::uint32_t over_budget = 0;   // left out: the texts of earlier ones took all of max_bytes
};
// The entries as URLs, in the crawl's canonical form. Relative ones (which the protocol does not allow)
// are resolved against the sitemap's own URL.
// "www.example.com/x" is treated as a host's name, as it was meant.
SitemapUrls resolve_entries(const Sitemap& sitemap, const Url& location, const Canonicaliser& rules = {},
                            std::uint64_t max_bytes = UINT64_MAX);

// The Sitemap lines of a robots.txt as URLs, resolved against its own (RFC 9309 does not ask for that; files do it).
SitemapUrls resolve_sitemap_lines(const std::vector<std::string>& lines, const Url& robots_txt,
                                  const Canonicaliser& rules = {});

}  // namespace orbweaver
