// The clock: read by the loop, the fetcher and nobody else. Wall-clock time at the start, then the steady clock: within
// a process time never runs backwards, whatever is done to the machine's clock. Thread rule: immutable; share freely.
#pragma once

#include "node/base.h"

namespace orbweaver {

class Clock {
 public:
  Clock()
      : wall_(std::chrono::time_point_cast<Duration>(std::chrono::system_clock::now())),
        steady_(std::chrono::steady_clock::now()) {}
  Time now() const { return wall_ + std::chrono::duration_cast<Duration>(std::chrono::steady_clock::now() - steady_); }

 private:
  Time wall_;
  std::chrono::steady_clock::time_point steady_;
};

}  // namespace orbweaver
