// A run that fails, made as small as it will go: faults, faults, peers, hosts and odd settings are taken away one at a
// time, and stay away while the run still fails with the same checker and in the same words, numbers and names left
// out. Greedy, and the same input gives the same answer. Thread rule: a function of its arguments.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "tests/sim/parameters.h"

namespace orbweaver::sim {

struct Minimized {
  Parameters parameters;
  std::string failure;      // "checker: what"; empty: the run passes
  std::string log;          // its events, without ticks in which nothing was done
  std::uint64_t lines = 0;  // of the log
  std::uint64_t runs = 0;   // tried
};

// At most `runs_max` runs. `tell` is given a line for each step that made it smaller.
Minimized minimize(const Parameters& failing, std::uint64_t runs_max,
                   const std::function<void(const std::string&)>& tell);

}  // namespace orbweaver::sim
