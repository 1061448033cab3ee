// Whether an answer is too slow on average: bytes per second from its first byte on, judged after a minimum time. Time
// in which this peer paused the transfer does not count. It is checked when bytes arrive; an answer that stops
// altogether is left to the low-speed limit. Pure. Thread rule: values.
#pragma once

#include <cstdint>

#include "node/base.h"

namespace orbweaver {

class AverageSpeed {
 public:
  // `least`: bytes per second; 0: no such limit. `after`: not judged before this time.
  AverageSpeed() = default;
  AverageSpeed(std::uint64_t least, Duration after) : least_(least), after_(after) {}

  // `now`: from any clock that does not go back, and from the same one in all calls.
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
  Duration first_{};  // when the first byte came, plus all pauses since
  Duration paused_at_{};
};

}  // namespace orbweaver
