// Links out of an HTML page. Two extractors stand behind one interface: the streaming tokenizer (the crawl's default;
// about 0.05 ms for a 25 KB page) and the tidy-html5 tree. tests/real holds them against each other.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "node/base.h"
#include "node/url/canonical_url.h"
#include "node/url/url.h"

namespace orbweaver {

enum class LinkKind : std::uint8_t { anchor, area, frame, iframe, refresh, canonical, alternate, next, prev };

struct PageLink {
  std::string href;  // UTF-8, character references decoded, not yet resolved
  LinkKind kind = LinkKind::anchor;
  bool nofollow = false;  // rel=nofollow on the element
};

// A <meta> whose content has words of robots tags: name and content as written, references decoded.
struct MetaTag {
  std::string name;
  std::string content;
};

struct PageLinks {
  std::optional<std::string> base;  // href of the first <base> that has one
  std::vector<PageLink> links;      // in document order; navigational ones only: no images, scripts, styles, forms
  bool meta_nofollow = false;       // <meta name=robots content=nofollow|none>
  bool meta_noindex = false;
  std::vector<MetaTag> robots_tags;  // for RobotsMeta, which knows whom a name means; at most robots_tags_max
};
inline constexpr std::size_t robots_tags_max = 64;

// Links kept of one page; what is beyond is left out.
inline constexpr std::size_t links_per_page_max = 100'000;

class LinkExtractor {
 public:
  virtual ~LinkExtractor() = default;
  // `html` is UTF-8 (see charset.h); malformed sequences are allowed.
  virtual PageLinks extract(std::string_view html) = 0;
};

std::unique_ptr<LinkExtractor> make_stream_extractor();  // node/html/stream_links.cc
std::unique_ptr<LinkExtractor> make_tidy_extractor();    // node/html/tidy_document.cc

// The URL that a page's links are resolved against (HTML standard 2.4.3, 4.2.3): its first <base> that has an href,
// itself resolved against the document's URL; the document's URL when there is none or when that fails or is a data: or
// javascript: URL. A later <base> never counts.
Url document_base(const PageLinks& page, const Url& document, const QueryEncoder* query_encoder);

struct ResolvedLinks {
  std::vector<CanonicalUrl> urls;    // each once, in order of first appearance; fragments dropped; http and https only
  std::uint32_t skipped_scheme = 0;  // mailto:, javascript:, data:…
  std::uint32_t malformed = 0;       // the URL standard's failure, or longer than url_bytes_max
  std::uint32_t nofollow = 0;        // left out because of nofollow
};
// Resolves against document_base(). Links marked nofollow, and all links of a page with meta_nofollow, are counted and
// left out: a caller that does not honour nofollow clears the marks first.
ResolvedLinks resolve_links(const PageLinks& page, const Url& document, const QueryEncoder* query_encoder);

// What tidy's tree gives besides links.
struct PageText {
  std::string title;
  std::string language;  // lang of <html>, empty when none
  std::string text;      // visible text, white space folded, a newline between blocks
};
PageText extract_text(std::string_view html);  // node/html/tidy_document.cc

}  // namespace orbweaver
