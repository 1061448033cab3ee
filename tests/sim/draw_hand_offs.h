// Which seeds have partitions that change hands at the worst moment. Thread rule: functions.
#pragma once

#include "tests/sim/parameters.h"
#include "tests/sim/random.h"

namespace orbweaver::sim {

// With its own source of chance: seeds that get none of it stay as they were.
void draw_hand_offs(std::uint64_t seed, Parameters& p, const FaultKinds& kinds);

// Pages stay in work while members come and go, and most partitions have some.
void make_it_last(Random& random, Parameters& p);
// A newcomer joins then; answers its number.
std::size_t draw_join(Random& random, Parameters& p, Duration at);

}  // namespace orbweaver::sim
