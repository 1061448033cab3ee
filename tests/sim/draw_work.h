// The part of draw.cc that gives some seeds uncommon work: traps, budgets, recrawls, canonical redirects, questions,
// long pages, pages that kill the process. Thread rule: a function of its arguments.
#pragma once

#include <cstdint>
#include <utility>

#include "tests/sim/parameters.h"
#include "tests/sim/random.h"

namespace orbweaver::sim {

// Changes only the seeds that are drawn for such work.
void draw_work(std::uint64_t seed, Parameters& p, const FaultKinds& kinds);

// What one of the peers sends is late, by up to a second. `at`, `down`: the first and the last moment at which that
// begins, the least and the most that it lasts.
void draw_slow_peer(Random& random, Parameters& p, std::pair<Duration, Duration> at,
                    std::pair<Duration, Duration> down);

}  // namespace orbweaver::sim
