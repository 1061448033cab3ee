// The names of the rows that a peer keeps in its store's meta table.
#pragma once

#include <string_view>

namespace orbweaver {

namespace meta_name {
inline constexpr std::string_view peer = "peer";          // identity, 32 hex digits
inline constexpr std::string_view life = "life";          // processes that this directory has had, in decimal digits
inline constexpr std::string_view address = "address";    // where others have last reached this peer, "host:port"
inline constexpr std::string_view ring = "ring";          // ring identity, 32 hex digits
inline constexpr std::string_view settings = "settings";  // ring-wide settings, JSON array of [name, value]
inline constexpr std::string_view members = "members";    // the last view: an encoded Sync message
inline constexpr std::string_view seeds = "seeds";        // canonical seed URLs, one per line
inline constexpr std::string_view orders = "orders";      // of operators (operator_orders.h), a JSON text on a line
inline constexpr std::string_view left = "left";          // this peer has left: it must be welcomed again
// The end of the crawl as this peer received it: a Finish message. Empty: new seeds came since.
inline constexpr std::string_view ended = "ended";
// Pages fetched up to the first moment have their links on two disks, and this peer fetched none after the second: two
// u64, big-endian, microseconds (copied_until.h).
inline constexpr std::string_view copied_until = "copied_until";
inline constexpr std::string_view bytes = "bytes";  // received in all, under max_bytes
inline constexpr std::string_view recrawl =
    "recrawl";  // a walk in progress (docs/how-to/recrawl.md), JSON; empty: none
inline constexpr std::string_view mirror =
    "mirror/";  // + a host: the host that it is a mirror of; empty: none, the user says
inline constexpr std::string_view crashed = "crashed/";             // + a page's key in hex: unclean ends; empty: none
inline constexpr std::string_view redirects_out = "redirects_out";  // JSON object: seed, where it redirects to
inline constexpr std::string_view waited = "waited";  // the highest number of members that seeds waited for
}  // namespace meta_name

}  // namespace orbweaver
