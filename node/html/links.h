// Links out of an HTML page, and what other formats share with it. Two extractors stand behind one interface: the
// streaming tokenizer (the crawl's default; about 0.05 ms for a 25 KB page) and the tidy-html5 tree. tests/real holds
// them against each other.
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

// What a URL on a page is there for.
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
std::string_view link_kind_name(LinkKind kind);  // "a" for anchor, else as it stands here; '-' for '_'

// The kinds by what is chosen together: the words of the setting extra_links.
enum class LinkGroup : std::uint8_t { navigation, resources, styles, cites, forms, json_ld, scripts, text };
LinkGroup group_of(LinkKind kind);

// Which groups beside navigation.
struct LinkChoice {
  bool resources = false;
  bool styles = false;
  bool cites = false;
  bool forms = false;
  bool json_ld = false;
  bool scripts = false;
  bool text = false;

  // The words of extra_links; words that are none are left out.
  static LinkChoice from(const std::vector<std::string>& words);
  bool has(LinkGroup group) const;
  bool any() const { return resources || styles || cites || forms || json_ld || scripts || text; }
};

struct PageLink {
  std::string href;  // UTF-8, character references decoded, not yet resolved
  LinkKind kind = LinkKind::anchor;
  bool nofollow = false;     // rel=nofollow on the element
  bool from_header = false;  // of a Link or Refresh field: resolved against the document's own URL
};

// A <meta> whose content has words of robots tags: name and content as written, references decoded.
struct MetaTag {
  std::string name;
  std::string content;
};

struct PageLinks {
  std::optional<std::string> base;  // href of the first <base> that has one
  std::vector<PageLink> links;      // in document order; of other groups than navigation only what was chosen
  bool meta_nofollow = false;       // <meta name=robots content=nofollow|none>
  bool meta_noindex = false;
  std::vector<MetaTag> robots_tags;  // for RobotsMeta, which knows whom a name means; at most robots_tags_max
  std::size_t href_bytes = 0;        // of `links`; at most href_bytes_max and one more
  std::uint32_t over_budget = 0;     // links that were left out for one of the bounds below
};
inline constexpr std::size_t robots_tags_max = 64;

// Links kept of one page, and their bytes as written; what is beyond is counted and left out.
inline constexpr std::size_t links_per_page_max = 100'000;
inline constexpr std::size_t href_bytes_max = std::size_t{16} << 20;

class LinkExtractor {
 public:
  virtual ~LinkExtractor() = default;
  // `html` is UTF-8 (see charset.h); malformed sequences are allowed.
  virtual PageLinks extract(std::string_view html) = 0;
};

std::unique_ptr<LinkExtractor> make_stream_extractor(LinkChoice choice = {});  // node/html/stream_links.cc
std::unique_ptr<LinkExtractor> make_tidy_extractor(LinkChoice choice = {});    // node/html/tidy_document.cc

// The URL that a page's links are resolved against (HTML standard 2.4.3, 4.2.3): its first <base> that has an href,
// itself resolved against the document's URL; the document's URL when there is none or when that fails or is a data: or
// javascript: URL. A later <base> never counts.
Url document_base(const PageLinks& page, const Url& document, const QueryEncoder* query_encoder);

struct ResolvedLinks {
  std::vector<CanonicalUrl> urls;  // each once, in order of first appearance; fragments dropped; http and https only
  std::vector<CanonicalUrl> requisites;  // likewise: resources and styles, where the rules ask for them
  std::uint32_t skipped_scheme = 0;      // mailto:, javascript:, data:…
  std::uint32_t malformed = 0;           // the URL standard's failure, or longer than url_bytes_max
  std::uint32_t nofollow = 0;            // left out because of nofollow
  std::uint32_t over_budget = 0;         // left out: the links before took all of LinkRules::bytes_max
};
struct LinkRules {
  Canonicaliser canonicaliser;
  LinkChoice follow;        // in addition to navigation
  bool requisites = false;  // resources and styles go into `requisites`, whatever `follow` says
  // Of the text of `urls` and `requisites` together. A long <base> makes much of short links: 100,000 of them, 400 MB.
  std::uint64_t bytes_max = UINT64_MAX;
};
// Resolves against document_base(). Links marked nofollow, and all links of a page with meta_nofollow, are counted and
// left out: a caller that does not honour nofollow clears the marks first. Requisites are no links: no mark keeps them.
ResolvedLinks resolve_links(const PageLinks& page, const Url& document, const QueryEncoder* query_encoder,
                            const LinkRules& rules = {});

// What tidy's tree gives in addition to links.
struct PageText {
  std::string title;
  std::string language;  // lang of <html>, empty when none
  std::string text;      // visible text, white space folded, a newline between blocks; of a user's command: as it came
};
PageText extract_text(std::string_view html);  // node/html/tidy_document.cc

}  // namespace orbweaver
