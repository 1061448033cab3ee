// What has happened at a peer, for people: the last lines of its log from info on. Lines that a site or another peer
// can cause at will are left out: they would push out the others. In memory only: the log on disk has all. Pure. Thread
// rule: one owner (the peer's loop).
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>
#include <vector>

#include "node/base.h"
#include "node/crawl/events.h"

namespace orbweaver {

class EventLog {
 public:
  static constexpr std::size_t max_events = 500;
  static constexpr std::size_t max_value_bytes = 256;  // of a field; the rest is cut

  void note(Time at, const LogEntry& line);
  // Those with a greater number than `after`, the first `most` of them: number, at, level, channel, event, and the
  // line's own fields in "fields".
  nlohmann::json after(std::uint64_t after, std::size_t most) const;
  std::uint64_t last() const { return last_; }  // number of the last one; 0: there was none
  std::size_t size() const { return events_.size(); }

 private:
  struct Event {
    std::uint64_t number = 0;
    Time at{};
    LogEntry line;
  };
  std::deque<Event> events_;
  std::uint64_t last_ = 0;
};

}  // namespace orbweaver
