// What an element's attributes mean as a link: the rules that both extractors share. Pure functions on decoded
// attribute values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "node/html/links.h"

namespace orbweaver::html {

struct Refresh {
  std::uint32_t delay_seconds = 0;  // stops at 2^32 - 1
  std::string url;                  // empty: the page itself
};

// The shared declarative refresh steps (HTML standard, 4.2.5.3) up to the URL, which is not yet resolved. Nothing when
// they do nothing.
std::optional<Refresh> parse_refresh(std::string_view content);

// Whether a set of space-separated tokens holds one, ASCII case-insensitively; `lower` is in lower case.
bool has_token(std::string_view tokens, std::string_view lower);

// Of a <link>'s rel. A stylesheet is none of them, an alternate one neither.
std::optional<LinkKind> kind_of_link_rel(std::string_view rel);

// <meta name content>: notes nofollow, none and noindex when the name is "robots", and the whole tag, whatever its
// name, when it has such words: it may be this crawler's own.
void note_meta_robots(std::string_view name, std::string_view content, PageLinks& page);

// <meta http-equiv content>: adds the target of a refresh that names one.
void note_meta_refresh(std::string_view http_equiv, std::string_view content, PageLinks& page);

// Adds a link unless links_per_page_max are there.
void add_link(PageLinks& page, std::string href, LinkKind kind, bool nofollow = false);

}  // namespace orbweaver::html
