// The clock of a process. It starts with the wall-clock time and then follows the time since the machine started:
// within a process time never runs backwards, whatever happens to the machine's clock, and goes on while the machine is
// suspended (clock_gettime(2), CLOCK_BOOTTIME), so a peer notices that it stood still. Thread rule: immutable; share
// freely.
#pragma once

#include <time.h>

#include "node/base.h"

namespace orbweaver {

class Clock {
 public:
  Clock() : wall_(std::chrono::time_point_cast<Duration>(std::chrono::system_clock::now())), started_(since_boot()) {}
  Time now() const { return wall_ + (since_boot() - started_); }

 private:
  static Duration since_boot() {
    timespec now{};
    ::clock_gettime(CLOCK_BOOTTIME, &now);  // cannot fail for this clock
    return std::chrono::duration_cast<Duration>(std::chrono::seconds{now.tv_sec} +
                                                std::chrono::nanoseconds{now.tv_nsec});
  }

  Time wall_;
  Duration started_;
};

}  // namespace orbweaver
