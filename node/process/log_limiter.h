// How much of one event is logged: at most a burst per minute and (channel, event), then the number of suppressed
// records. Pure: `now` is passed in. Not thread-safe: its owner locks a mutex.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "node/base.h"
#include "node/process/log.h"

namespace orbweaver {

// The number of records of one (channel, event) that were not logged in one minute.
struct Suppressed {
  LogLevel level = LogLevel::info;
  std::string channel;
  std::string event;
  std::uint64_t count = 0;
};

class LogLimiter {
 public:
  static constexpr std::uint64_t burst = 20;                  // records in a window
  static constexpr Duration window{std::chrono::minutes{1}};  // begins with its first record
  // Events are a few fixed phrases in the code. If one is ever made from input, those beyond max_keys share one window.
  static constexpr std::size_t max_keys = 256;

  // True: log this record. Call ended() first to close windows that have ended.
  bool admit(LogLevel level, std::string_view channel, std::string_view event, Time now);

  // Closes the windows that ended by `now` and returns what they suppressed. Cheap when none ended.
  std::vector<Suppressed> ended(Time now);
  // Closes all windows.
  std::vector<Suppressed> finish();

  std::size_t keys() const { return windows_.size(); }

 private:
  struct Window {
    Time ends{};
    std::uint64_t let_through = 0;
    std::uint64_t suppressed = 0;
    LogLevel level = LogLevel::info;  // the most severe that was suppressed
  };
  using Key = std::pair<std::string, std::string>;

  std::map<Key, Window> windows_;
  Time first_end_ = Time::max();  // the earliest end of all windows
};

}  // namespace orbweaver
