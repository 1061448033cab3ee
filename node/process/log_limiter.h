// How much of one event is logged: at most a burst a minute for each (channel, event), and then how many were held
// back. Pure: `now` is passed in. Not thread-safe: its owner holds a lock.
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

// Records of one (channel, event) that were not logged in one minute.
struct HeldBack {
  LogLevel level = LogLevel::info;
  std::string channel;
  std::string event;
  std::uint64_t count = 0;
};

class LogLimiter {
 public:
  static constexpr std::uint64_t burst = 20;                  // records in a window
  static constexpr Duration window{std::chrono::minutes{1}};  // begins with its first record
  // Events are a few fixed words in the code; should one ever be made from input, those beyond this share one window.
  static constexpr std::size_t keys_max = 256;

  // True: log this record. Windows that have ended are to be taken with ended() first.
  bool admit(LogLevel level, std::string_view channel, std::string_view event, Time now);

  // Closes the windows that ended by `now` and returns what they held back. Cheap when none did.
  std::vector<HeldBack> ended(Time now);
  // Closes all windows.
  std::vector<HeldBack> finish();

  std::size_t keys() const { return windows_.size(); }

 private:
  struct Window {
    Time ends{};
    std::uint64_t let_through = 0;
    std::uint64_t held_back = 0;
    LogLevel level = LogLevel::info;  // the most severe that was held back
  };
  using Key = std::pair<std::string, std::string>;

  std::map<Key, Window> windows_;
  Time first_end_ = Time::max();  // of all windows, the earliest end
};

}  // namespace orbweaver
