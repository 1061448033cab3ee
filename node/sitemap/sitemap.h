// Sitemaps: lists of URLs that a site hands to crawlers, in the five forms of https://www.sitemaps.org/protocol.html:
// XML <urlset> and <sitemapindex>, plain text, RSS (2.0, 1.0) and Atom; each gzipped too. Outside input of any bytes:
// bounded, never throws, and what is wrong with a file costs only what comes after it: what was read is kept and
// `problem` says what happened. Names are compared without their namespaces (real files name wrong ones, or none), but
// an element of another prefix than the root's is none of ours (<image:loc>). Nothing outside the document is ever
// read: DTDs, entities and XInclude are passed over. Thread rule: free functions and values.
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

// sitemaps.org's limits: of one file, uncompressed.
inline constexpr std::size_t sitemap_bytes_max = 50 * 1024 * 1024;
inline constexpr std::size_t sitemap_entries_max = 50'000;

enum class SitemapKind : std::uint8_t { unknown, urlset, index, text, rss, atom };
std::string_view sitemap_kind_name(SitemapKind kind);  // "urlset"

struct SitemapEntry {
  std::string url;                 // as written, white space around it taken off; UTF-8; at most url_bytes_max bytes
  std::optional<Time> lastmod;     // <lastmod>, <pubDate>, <dc:date>, <updated>; nothing when it cannot be read
  std::string change_frequency;    // "daily"; empty when absent or none of the protocol's words
  std::optional<double> priority;  // 0.0 to 1.0; nothing when absent or outside
};

struct Sitemap {
  SitemapKind kind = SitemapKind::unknown;
  std::vector<SitemapEntry> entries;  // in order; of an index: further sitemaps
  bool cut = false;                   // a limit was met: there is more
  bool damaged = false;               // not well-formed, or it ends in the middle
  std::string problem;                // for people, when cut, damaged, repaired or unknown
};

struct SitemapLimits {
  std::size_t bytes_max = sitemap_bytes_max;
  std::size_t entries_max = sitemap_entries_max;
};

// `body`: Content-Encoding undone; a gzip file is unpacked here. `content_type`: the header's value, for its charset.
// Memory: the unpacked text (at most bytes_max), converted when it is not UTF-8, and the entries.
Sitemap read_sitemap(std::string_view body, std::string_view content_type, const SitemapLimits& limits = {});

// Whether a response is a sitemap, by its first bytes alone, whatever its Content-Type says (it is often wrong): the
// root element is <urlset>, <sitemapindex>, <rss>, <RDF> or <feed>; or it is text/plain whose every line is an http or
// https URL. Gzip files are looked into. Cost: some 50 ns for a page of HTML.
bool looks_like_sitemap(std::string_view body, std::string_view content_type);

// Whether it is worth unpacking a response of this media type to look: not for images, styles and the like.
bool may_be_sitemap(std::string_view media_type);

struct SitemapUrls {
  std::vector<CanonicalUrl> urls;  // each once, in order; fragments dropped
  std::vector<Time> lastmods;      // of each, when entries have any; the epoch: not told. A file's lines have none
  std::uint32_t skipped = 0;       // not http or https, or no URL at all
  std::uint32_t over_budget = 0;   // left out: the texts of those before took all of bytes_max
};
// The entries as URLs. Relative ones (which the protocol does not allow) are resolved against the sitemap's own URL;
// "www.example.com/x" is taken as a host's name, which is what it is meant as.
// In the crawl's canonical form.
SitemapUrls resolve_entries(const Sitemap& sitemap, const Url& location, const Canonicaliser& rules = {},
                            std::uint64_t bytes_max = UINT64_MAX);

// A robots.txt's Sitemap lines as URLs, resolved against its own (which RFC 9309 does not ask for; files do it).
SitemapUrls resolve_sitemap_lines(const std::vector<std::string>& lines, const Url& robots_txt,
                                  const Canonicaliser& rules = {});

}  // namespace orbweaver
