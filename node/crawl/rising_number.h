// Numbers that rise across the lives of a peer. A life is one process on the peer's directory. Each start raises the
// number of lives on the disk before the process says anything (Core::open), whatever the clock says. A number is the
// life, then a counter, so every number of a later life is above all of an earlier one. Bounds: 2^24 lives, 2^40
// numbers in each. Pure. Thread rule: one owner.
#pragma once

#include <cstdint>

namespace orbweaver {

class RisingNumber {
 public:
  // `life`: of this process, from 1 on (PeerState::life).
  explicit RisingNumber(std::uint64_t life) : last_(life << counter_bits) {}

  std::uint64_t next() { return ++last_; }
  static std::uint64_t life_of(std::uint64_t number) { return number >> counter_bits; }

 private:
  static constexpr int counter_bits = 40;

  std::uint64_t last_;
};

}  // namespace orbweaver
