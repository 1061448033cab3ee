// `orbweaver lab dedup`: every structure that answers "seen before?" over the same stream of URLs, one after the other:
// time per check, bytes per URL, wrong answers, and what survives a restart (docs/inside/lab-dedup.md).
//
// How checks are timed: in blocks of 32. Alternately a whole block is timed (two readings of the clock per 32 checks),
// and each check of a block by itself. The median is that of the whole blocks, divided by 32: reading the clock is less
// than a hundredth of it. The 99th percentile is that of the single checks, minus the median time of reading the clock
// twice with nothing between. Not timed: making the URLs, counting memory, the exact answer. Thread rule: one thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "node/lab/dedup/url_set.h"
#include "node/lab/dedup/url_stream.h"
#include "node/lab/report.h"

namespace orbweaver {

struct DedupConfig {
  std::vector<std::string> structures;  // by UrlSetKind::name; empty: all
  std::vector<std::uint64_t> sizes;     // different URLs, one run of all structures for each; empty: all of the stream
  std::chrono::duration<double> budget{10};  // for the checks of one structure and size; then it is stopped
  UrlSetPlan plan;                           // bits, hashes, cache; the rest is set for each run
  std::string directory;                     // where structures write: in a new directory there, which is removed
  Result<std::uint64_t> memory_available = fail(ErrorCode::unsupported, "not asked");  // bytes
};

// The kinds with these names, in the table's order. An unknown name is invalid_setting and suggests the nearest name.
Result<std::vector<const UrlSetKind*>> chosen_kinds(const std::vector<std::string>& names);

// The results of one structure at one size.
struct DedupRow {
  const UrlSetKind* kind = nullptr;
  std::uint64_t size = 0;  // requested different URLs
  std::uint64_t urls = 0;  // different URLs asked before it was stopped
  std::uint64_t checks = 0;
  bool stopped = false;  // by the budget, or the disk: `why`
  std::string why;
  double median_us = 0, p99_us = 0, mean_us = 0;
  std::uint64_t memory_bytes = 0, disk_bytes = 0;
  bool approximate = false;
  std::uint64_t false_positives = 0;     // new URLs that it treated as seen, as it filled
  std::uint64_t false_negatives = 0;     // seen URLs that it treated as new: never, as every structure promises
  double predicted_false_positives = 0;  // false_positives by its formula
  double full_rate = 0;                  // when full, for URLs that were never asked
  double predicted_full_rate = 0;
  std::uint64_t probes = 0;                       // for full_rate
  std::uint64_t asked_again = 0;                  // URLs asked after it was closed and reopened
  std::uint64_t survived = 0;                     // of these, the ones that it still knew
  std::vector<std::pair<double, double>> course;  // different URLs in it, us per check
};

// Errors: an unknown structure; a size of 0 or beyond the stream;
// more memory than there is, before any is allocated; the disk.
Result<std::vector<DedupRow>> measure_dedup(const DedupConfig& config, const UrlStream& stream);
Report dedup_report(const DedupConfig& config, const UrlStream& stream, const std::vector<DedupRow>& rows);

}  // namespace orbweaver
