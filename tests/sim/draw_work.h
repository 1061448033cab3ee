// The part of draw.cc that gives a seed uncommon work: traps, budgets, visits again, canonical redirects, questions,
// long pages, pages that kill. Thread rule: a function of its arguments.
#pragma once

#include <cstdint>

#include "tests/sim/parameters.h"

namespace orbweaver::sim {

// Changes only the seeds that get some of it.
void draw_work(std::uint64_t seed, Parameters& p, const FaultKinds& kinds);

}  // namespace orbweaver::sim
