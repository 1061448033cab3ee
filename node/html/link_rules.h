// What an element's attributes mean as a link: the rules that both extractors share. Pure functions on decoded
// attribute values.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "node/html/links.h"
#include "node/html/tokenizer.h"

namespace orbweaver::html {

struct Refresh {
  std::uint32_t delay_seconds = 0;  // at most 2^32 - 1
  std::string url;                  // empty: the page itself
};

// The shared declarative refresh steps (HTML standard, 4.2.5.3) up to the URL, which is not yet resolved. Nothing if
// the steps return early.
std::optional<Refresh> parse_refresh(std::string_view content);

// Whether a set of space-separated tokens contains a token, ASCII case-insensitively; `lower` is in lower case.
bool has_token(std::string_view tokens, std::string_view lower);

// The candidates' URLs of a srcset attribute (HTML standard, "parse a srcset attribute"), in order. Candidates with
// invalid descriptors are left out, as in the standard.
std::vector<std::string> parse_srcset(std::string_view input);

// By the rel of an <a> or <area>: canonical, next and prev are more specific than `otherwise`.
LinkKind kind_of_anchor_rel(std::string_view rel, LinkKind otherwise);

// By a <link>'s rel: the kind of a resource that is loaded with the page.
std::optional<LinkKind> resource_kind_of_link_rel(std::string_view rel);

// By a <link>'s rel. A stylesheet, even an alternate one, gives nothing.
std::optional<LinkKind> kind_of_link_rel(std::string_view rel);

// <meta name content>: notes nofollow, none and noindex if the name is "robots". If it contains such words it also
// notes the whole tag, whatever its name: the name may be this crawler's own.
void note_meta_robots(std::string_view name, std::string_view content, PageLinks& page);

// <meta http-equiv content>: adds the target of a refresh that has one.
void note_meta_refresh(std::string_view http_equiv, std::string_view content, PageLinks& page);

// Adds a link, up to the page's bounds on links and their bytes.
void add_link(PageLinks& page, std::string href, LinkKind kind, bool nofollow = false);

// An attribute's decoded value by its name in lower case; nothing when the element has none.
using AttributeOf = std::function<std::optional<std::string>(std::string_view name)>;

// Adds an element's links that are not navigation: resources, styles, cites and forms, as chosen. `element`: its name.
void note_chosen(NameKey element, const AttributeOf& attribute, LinkChoice choice, PageLinks& page);

// The text inside a <style>, or a <script> of that type attribute.
void note_style_text(std::string_view css, PageLinks& page);
void note_script_text(std::string_view type, std::string_view text, LinkChoice choice, PageLinks& page);

}  // namespace orbweaver::html
