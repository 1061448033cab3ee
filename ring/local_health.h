// How well this peer itself keeps up: Lifeguard's local health multiplier (Dadgar, Phillips, Currey 2018, "Lifeguard:
// Local Health Awareness for More Accurate Failure Detection", LHA-Probe). A peer that handles its messages late sees
// others as silent although they are well. The score says how much of that may be its own fault, and stretches its
// probes. Pure; thread rule: one owner (Membership).
//
// 0 is well, `max` is
// the worst. It falls by
// one with each probe
// that is answered,
// directly or through
// others. It rises by
// one:
#pragma once

#include <cstdint>

#include "ring/types.h"

namespace orbweaver::ring {

class LocalHealth {
 public:
  // `max` 0: always well, nothing is ever stretched.
  explicit LocalHealth(std::uint32_t max) : max_(max) {}
  void better() { score_ -= score_ > 0 ? 1 : 0; }
  void worse() { score_ += score_ < max_ ? 1 : 0; }
  std::uint32_t score() const { return score_; }
  // The base when well, (max + 1) times as long at worst.
  Duration stretched(Duration base) const { return base * (1 + score_); }

 private:
  std::uint32_t max_;
  std::uint32_t score_ = 0;
};

}  // namespace orbweaver::ring
