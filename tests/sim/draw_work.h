// The part of draw.cc that gives some seeds uncommon work: traps, budgets, recrawls, canonical redirects, questions,
// long pages, pages that kill the process. Thread rule: a function of its arguments.
#pragma once

#include <cstdint>

#include "tests/sim/parameters.h"

namespace orbweaver::sim {

// Changes only the seeds that are drawn for such work.
void draw_work(std::uint64_t seed, Parameters& p, const FaultKinds& kinds);

}  // namespace orbweaver::sim
