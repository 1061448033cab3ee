// Makes a failing run as small as possible. Faults, peers, hosts and unusual settings are removed one at a time, and
// stay removed while the run still fails with the same checker and the same words, numbers and names left out.
// Greedy, and the same input gives the same result. Thread rule: a function of its arguments.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "tests/sim/parameters.h"

namespace orbweaver::sim {

struct Minimized {
  Parameters parameters;
  std::string failure;      // "checker: what"; empty: the run passes
  std::string log;          // the run's events, without ticks that do nothing
  std::uint64_t lines = 0;  // of the log
  std::uint64_t runs = 0;   // tried
};

// At most `max_runs` runs. `tell` gets a line for each step that makes the run smaller.
Minimized minimize(const Parameters& failing, std::uint64_t max_runs,
                   const std::function<void(const std::string&)>& tell);

}  // namespace orbweaver::sim
