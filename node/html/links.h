// Links of an HTML page, and what other formats share with it. One interface has two extractors: the streaming
// tokenizer (the crawl's default; about 0.05 ms for a 25 KB page) and the tidy-html5 tree. tests/real compares
// them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "node/base.h"
#include "node/url/canonical_url.h"
#include "node/url/canonicaliser.h"
#include "node/url/url.h"

namespace orbweaver {

// What a URL on a page is for.
enum class LinkKind : std::uint8_t {
  anchor,  // navigation, up to prev
  area,
  frame,
  iframe,
  refresh,
  canonical,
  alternate,
  next,
  prev,
  image,  // resources, loaded with the page: up to resource
  media,
  script,
  icon,
  object,
  resource,    // preload, manifest and so on
  stylesheet,  // styles: <link rel=stylesheet>, @import
  style_url,   // url() in a style
  cite,        // cite, longdesc
  form,        // action of a form with method get
  json_ld,
  script_text,  // a string in a script that looks like a URL
  text,         // a URL in plain text
};
std::string_view link_kind_name(LinkKind kind);  // "a" for anchor, else the name here with '-' for '_'

// The kinds in the groups that a user can choose: the words of the setting extra_links.
enum class LinkGroup : std::uint8_t { navigation, resources, styles, cites, forms, json_ld, scripts, text };
LinkGroup group_of(LinkKind kind);

// Which groups are chosen in addition to navigation.
struct LinkChoice {
  bool resources = false;
  bool styles = false;
  bool cites = false;
  bool forms = false;
  bool json_ld = false;
  bool scripts = false;
  bool text = false;

  // From the words of extra_links; unknown words are ignored.
  static LinkChoice from(const std::vector<std::string>& words);
  bool has(LinkGroup group) const;
  bool any() const { return resources || styles || cites || forms || json_ld || scripts || text; }
};

struct PageLink {
  std::string href;  // UTF-8, character references decoded, not yet resolved
  LinkKind kind = LinkKind::anchor;
  bool nofollow = false;     // rel=nofollow on the element
  bool from_header = false;  // from a Link or Refresh field: resolved against the document's own URL
};

// A <meta> whose content contains words of robots tags: name and content as written, references decoded.
struct MetaTag {
  std::string name;
  std::string content;
};

struct PageLinks {
  std::optional<std::string> base;  // href of the first <base> that has one
  std::vector<PageLink> links;      // in document order; of groups other than navigation only the chosen ones
  bool meta_nofollow = false;       // <meta name=robots content=nofollow|none>
  bool meta_noindex = false;
  std::vector<MetaTag> robots_tags;  // for RobotsMeta, which knows the names; at most max_robots_tags
  std::size_t href_bytes = 0;        // the bytes of `links`; at most max_href_bytes plus one link
  std::uint32_t over_budget = 0;     // links left out because of one of the bounds below
};
inline constexpr std::size_t max_robots_tags = 64;

// The bounds on a page's links and on their bytes as written; further links are counted and left out.
inline constexpr std::size_t max_links_per_page = 100'000;
inline constexpr std::size_t max_href_bytes = std::size_t{16} << 20;

class LinkExtractor {
 public:
  virtual ~LinkExtractor() = default;
  // `html` is UTF-8 (see charset.h); malformed sequences are allowed.
  virtual PageLinks extract(std::string_view html) = 0;
};

std::unique_ptr<LinkExtractor> make_stream_extractor(LinkChoice choice = {});  // node/html/stream_links.cc
std::unique_ptr<LinkExtractor> make_tidy_extractor(LinkChoice choice = {});    // node/html/tidy_document.cc

// The base for a page's links (HTML standard 2.4.3, 4.2.3): the first <base> that has an href, itself resolved against
// the document's URL. It is the document's URL if there is none, if resolving it fails, or if it is a data: or
// javascript: URL. A later <base> never counts.
Url document_base(const PageLinks& page, const Url& document, const QueryEncoder* query_encoder);

struct ResolvedLinks {
  std::vector<CanonicalUrl> urls;  // each once, in order of first appearance; fragments dropped; http and https only
  std::vector<CanonicalUrl> requisites;  // likewise: resources and styles, where the rules ask for them
  std::uint32_t skipped_scheme = 0;      // mailto:, javascript:, data:…
  std::uint32_t malformed = 0;           // the URL standard's failure, or longer than max_url_bytes
  std::uint32_t nofollow = 0;            // left out because of nofollow
  std::uint32_t over_budget = 0;         // left out: earlier links used up LinkRules::max_bytes
};
struct LinkRules {
  Canonicaliser canonicaliser;
  LinkChoice follow;        // in addition to navigation
  bool requisites = false;  // resources and styles go into `requisites`, whatever `follow` says
  // Bounds the text of `urls` and `requisites` together. A long <base> lengthens short links: 100,000 of them, 400 MB.
  std::uint64_t max_bytes = UINT64_MAX;
};
// Resolves against document_base(). Links marked nofollow, or all if meta_nofollow is set, are counted and left out: a
// caller that ignores nofollow clears the marks first. Requisites are not links: no mark affects them.
ResolvedLinks resolve_links(const PageLinks& page, const Url& document, const QueryEncoder* query_encoder,
                            const LinkRules& rules = {});

// What tidy's tree provides in addition to links.
struct PageText {
  std::string title;
  std::string language;  // lang of <html>, empty when none
  std::string text;      // visible text, white space folded, a newline between blocks; a command's output as it is
};
PageText extract_text(std::string_view html);  // node/html/tidy_document.cc

}  // namespace orbweaver
