// Which seeds crawl with durability = power, whose power fails, and whose archive. Thread rule: functions.
#pragma once

#include "tests/sim/parameters.h"

namespace orbweaver::sim {

// The last part of a draw, with its own source of chance: seeds that get none of it stay as they were.
void draw_power(std::uint64_t seed, Parameters& p, const FaultKinds& kinds);

}  // namespace orbweaver::sim
