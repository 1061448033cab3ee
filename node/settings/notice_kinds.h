// The events that a peer tells an operator's program or web hook of (settings notify_command, notify_url,
// notify_events). Pure. Thread rule: constants.
#pragma once

#include <array>
#include <string_view>

namespace orbweaver {

struct NoticeKind {
  std::string_view name;
  std::string_view what;   // for people
  bool of_ring = false;    // all peers see it, and one tells it
  bool by_default = true;  // told unless notify_events names others
};

inline constexpr std::array<NoticeKind, 14> notice_kinds = {{
    {"crawl_ended", "the crawl has ended", true},
    {"peer_failed", "a peer has ended with an error"},
    {"peer_lost", "a peer is down", true},
    {"peer_joined", "a peer has joined, or is back", true, false},
    {"peer_left", "a peer has left, or is forgotten", true, false},
    {"peers_changed", "many peers have come or gone at a time", true},
    {"paused", "a peer is cut off from most members, and pauses"},
    {"resumed", "that peer continues"},
    {"disk_low", "a peer's disk is almost full, and it asks for nothing"},
    {"disk_has_room", "that peer's disk has room again"},
    {"orders", "operators' orders have changed", true, false},
    {"archive_file_closed", "a file of the archive is whole", false, false},
    {"snapshot_saved", "a peer has saved its part of a snapshot", false, false},
    {"snapshot_failed", "a peer could not save its part of a snapshot"},
}};

// nullptr: there is no such event.
constexpr const NoticeKind* find_notice_kind(std::string_view name) {
  for (const NoticeKind& kind : notice_kinds)
    if (kind.name == name) return &kind;
  return nullptr;
}

}  // namespace orbweaver
