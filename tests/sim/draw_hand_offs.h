// Which seeds have partitions that change hands at the worst moment. Thread rule: functions.
#pragma once

#include "tests/sim/parameters.h"

namespace orbweaver::sim {

// With its own source of chance: seeds that get none of it stay as they were.
void draw_hand_offs(std::uint64_t seed, Parameters& p, const FaultKinds& kinds);

}  // namespace orbweaver::sim
