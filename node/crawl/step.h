// What one step of a peer gives to each of its parts: the time, and the list that commands go into. Thread rule: one
// owner (the peer's loop).
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "node/crawl/events.h"

namespace orbweaver {

// The longest time that the loop sleeps.
inline constexpr Duration idle_wait = std::chrono::milliseconds{500};

struct Step {
  Time now;
  Commands& out;

  // A line for the log. `limited`: a remote host or peer can trigger it.
  void log(LogLevel level, std::string_view channel, std::string_view event,
           std::vector<std::pair<std::string_view, std::string>> fields, bool limited = false) const {
    out.push_back(LogEntry{level, channel, event, std::move(fields), limited});
  }
};

}  // namespace orbweaver
