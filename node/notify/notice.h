// What an operator is told of: one event of a peer or of its ring, as JSON on one line:
//
//   id        of this notice; the same when it is sent again
//   event     a name of node/settings/notice_kinds.h
//   text      a line for people
//   at        when, UTC
//   ring, peer, address   whose
//   details   what else is known of it
//
// Pure. Thread rule: free functions.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "node/base.h"
#include "node/crawl/events.h"

namespace orbweaver {

struct NoticeSource {
  std::string ring, peer, address;
};

// The event that a line of the log is, by name; nothing: operators are not told of it.
std::optional<std::string_view> event_of(const LogEntry& line);
nlohmann::json details_of(const LogEntry& line);

std::string notice(const NoticeSource& source, std::uint64_t number, Time at, std::string_view event,
                   const nlohmann::json& details);

// Of what all peers of a ring see, one tells: the first by identity of those that run, as far as this peer knows.
// `status`: its own (node/peer/peer_status.cc).
bool tells_for_ring(const nlohmann::json& status);

}  // namespace orbweaver
