// `orbweaver lab scaling`: the four experiments of the corpus crawler's paper (docs/inside/lab-scaling.md), with real
// peers as processes against the sample web. Its hosts answer late, so that waiting is the limit and not this
// machine.
//
//   fetches      10, 20, 30 and more transfers in flight at one peer (the paper's threads)
//   peers        1, 2, 3 peers with 20 each (its workers)
//   ten hosts    how evenly requests are spread over ten hosts
//   time         the pages of one period and of a period twice as long
//
// It counts the server's answers within the period, which begins once the robots.txt of every host has been requested.
// Thread rule: one call at a time; it runs its own servers and processes.
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
  std::string directory;  // for the crawls' directories; empty: the directory for temporary files
};

// One crawl, by the counts of the server and the crawl's own summary.
struct ScalingRun {
  std::uint32_t fetches = 0;
  std::uint32_t peers = 1;
  double seconds = 0;                // the actual length of the period
  double until_even = 0;             // seconds before the period: until the robots.txt of all hosts had been requested
  std::uint64_t pages = 0;           // requests except those for robots.txt, within the period
  std::uint64_t urls = 0;            // found by the crawl, at its end
  std::uint64_t failures = 0;        // failed tries at its end: failed for good, or tried again
  std::uint64_t most_at_once = 0;    // simultaneous requests to one host, the maximum of all hosts
  double cpu_seconds = 0;            // of the crawl's processes, start to end
  std::vector<std::uint64_t> hosts;  // pages of each host, in order of their names
};

Result<Report> run_scaling(const ScalingOptions& options);

}  // namespace orbweaver
