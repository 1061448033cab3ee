// The names of the rows that a peer keeps in its store's meta table.
#pragma once

#include <string_view>

namespace orbweaver {

namespace meta_name {
inline constexpr std::string_view peer = "peer";          // identity, 32 hex digits
inline constexpr std::string_view ring = "ring";          // ring identity, 32 hex digits
inline constexpr std::string_view settings = "settings";  // ring-wide settings, JSON array of [name, value]
inline constexpr std::string_view members = "members";    // the last view: an encoded Sync message
inline constexpr std::string_view seeds = "seeds";        // canonical seed URLs, one a line
inline constexpr std::string_view left = "left";          // this peer has left: it must be welcomed again
// The end of the crawl as this peer was told it: a Finish message. Empty: new seeds came since.
inline constexpr std::string_view ended = "ended";
inline constexpr std::string_view bytes = "bytes";     // received in all, under max_bytes
inline constexpr std::string_view domain = "domain/";  // + a registered domain: pages and bytes, under its budgets
inline constexpr std::string_view recrawl =
    "recrawl";  // a walk in progress (docs/how-to/recrawl.md), JSON; empty: none
inline constexpr std::string_view mirror =
    "mirror/";  // + a host: the one that it is a mirror of; empty: none, says the user
inline constexpr std::string_view crashed = "crashed/";             // + a page's key in hex: unclean ends; empty: none
inline constexpr std::string_view redirects_out = "redirects_out";  // JSON object: seed, where it redirects to
inline constexpr std::string_view waited = "waited";  // how many peers the ring had when its first seeds came
}  // namespace meta_name

}  // namespace orbweaver
