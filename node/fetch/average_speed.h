// Whether an answer comes too slowly on the whole: bytes a second from its first byte on, judged once it has taken a
// while. Time in which this peer did not want more is not counted. It is asked as bytes come; what comes to a stop is
// the low-speed limit's business. Pure. Thread rule: values.
#pragma once

#include <cstdint>

#include "node/base.h"

namespace orbweaver {

class AverageSpeed {
 public:
  // `least`: bytes a second; 0: no such limit. `after`: not judged before.
  AverageSpeed() = default;
  AverageSpeed(std::uint64_t least, Duration after) : least_(least), after_(after) {}

  // `now`: of any clock that does not go back, the same one in all calls.
  void came(std::uint64_t bytes, Duration now) {
    if (!begun_) first_ = now;
    begun_ = true;
    bytes_ += bytes;
  }
  void pause(Duration now) {
    if (!paused_) paused_at_ = now;
    paused_ = true;
  }
  void go_on(Duration now) {
    if (paused_) first_ += now - paused_at_;
    paused_ = false;
  }
  bool too_slow(Duration now) const {
    if (least_ == 0 || !begun_ || now - first_ <= after_) return false;
    const double seconds = std::chrono::duration<double>(now - first_).count();
    return static_cast<double>(bytes_) < static_cast<double>(least_) * seconds;
  }

 private:
  std::uint64_t least_ = 0;
  Duration after_{};
  std::uint64_t bytes_ = 0;
  bool begun_ = false;
  bool paused_ = false;
  Duration first_{};  // byte, as if nothing had been paused since
  Duration paused_at_{};
};

}  // namespace orbweaver
