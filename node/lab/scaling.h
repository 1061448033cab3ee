// `orbweaver lab scaling`: the four experiments of the corpus crawler's paper (docs/inside/lab-scaling.md), with real
// peers as processes against the sample web, whose hosts answer late, so that waiting is what limits and not this
// machine.
//
//   fetches      10, 20, 30 and more transfers under way at one peer (the paper's threads)
//   peers        1, 2, 3 peers with 20 each (its workers)
//   ten hosts    how evenly ten hosts are asked
//   time         the pages of one period and of twice that
//
// What counts are the answers that the server gave within the period, which begins once every host has been asked for
// its robots.txt. Thread rule: one call at a time; it runs servers and processes of its own.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "node/base.h"
#include "node/lab/report.h"

namespace orbweaver {

struct ScalingOptions {
  std::chrono::seconds period{20};  // the paper's 30 minutes
  std::chrono::milliseconds latency{200};
  std::vector<std::uint32_t> fetches = {10, 20, 30, 100, 300, 1000};
  std::uint64_t seed = 1;
  std::string directory;  // for the crawls' directories; empty: where temporary files go
};

// One crawl, as the server and the crawl's own summary saw it.
struct ScalingRun {
  std::uint32_t fetches = 0;
  std::uint32_t peers = 1;
  double seconds = 0;                // the period as it was
  double until_even = 0;             // seconds before it: until all hosts had been asked for robots.txt
  std::uint64_t pages = 0;           // requests but those for robots.txt, within the period
  std::uint64_t urls = 0;            // found by the crawl, at its end
  std::uint64_t failures = 0;        // tries that failed, at its end: failed for good, and tried again
  std::uint64_t most_at_once = 0;    // requests to one host at one time, the most of all hosts
  double cpu_seconds = 0;            // of the crawl's processes, start to end
  std::vector<std::uint64_t> hosts;  // pages of each host, in order of their names
};

Result<Report> run_scaling(const ScalingOptions& options);

}  // namespace orbweaver
