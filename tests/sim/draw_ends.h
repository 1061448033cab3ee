// What a seed may be given around the end of its crawl, of a cut, and of a leave. Thread rule: functions.
#pragma once

#include "tests/sim/parameters.h"

namespace orbweaver::sim {

// The last part of a draw, each kind with its own source of chance: seeds that get none of it stay as they were.
void draw_ends(std::uint64_t seed, Parameters& p, const FaultKinds& kinds);

}  // namespace orbweaver::sim
