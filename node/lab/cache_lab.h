// `orbweaver lab cache`: recorded links replayed through caches of every policy and size, as Broder, Najork and Wiener
// did (docs/inside/lab-cache.md). Thread rule: one thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "node/base.h"
#include "node/lab/link_stream.h"
#include "node/lab/report.h"

namespace orbweaver {

inline constexpr std::uint32_t max_cache_exponent = 25;  // the paper's largest: 2^25 entries

struct CacheLabOptions {
  std::vector<std::string> traces;    // files and directories
  std::vector<std::string> compared;  // further traces, each one crawl: their full streams next to this one's
  std::vector<std::uint64_t> sizes;   // entries, up to 2^32 - 1; none: 2^0 to 2^25, as far as the trace has URLs
  std::vector<std::uint32_t> workers = {4, 16, 64};  // caches instead of one, in addition to the recorded workers
  std::uint64_t seed = 1;                            // of RANDOM
  StreamLimits limits;
};

Result<Report> run_cache_lab(const CacheLabOptions& options);

}  // namespace orbweaver
