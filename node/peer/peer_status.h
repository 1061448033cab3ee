// What a peer shows of itself: its status, as JSON, and its metrics. Only reads. Lifetime: the peer's. Thread rule: one
// owner (the peer's loop).
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "node/coordination/doorkeeper.h"
#include "node/coordination/fence.h"
#include "node/links/batch_intake.h"
#include "node/peer/outside_faults.h"
#include "node/scheduling/fetch_parts.h"

namespace orbweaver {

// Waits between the end of one exchange with a host and the beginning of the next (node/process/gap_watch.h).
struct GapsSeen {
  std::uint64_t gaps = 0;       // where a wait was promised
  std::uint64_t too_short = 0;  // of them
  Duration least{};             // the one that was shortest against what was promised
  Duration promised{};          // for that one
};

// What the process knows of itself, and the system of the process.
struct ProcessUse {
  Time at{};
  double cpu_seconds = 0;       // processor time of all its threads
  double loop_cpu_seconds = 0;  // of the peer's loop
  unsigned processors = 0;      // of the machine
  std::uint64_t disk_free = 0;  // bytes, of the disk of the data directory
  std::uint64_t disk_size = 0;  // 0: the system does not say it
  GapsSeen gaps{};
};

class PeerStatus {
 public:
  // What it reads of the peer; all outlive it.
  struct Around {
    const PeerState& state;
    const Members& members;
    const RecordParts& records;
    const Fence& fence;
    const Directives& directives;
    const Doorkeeper& doorkeeper;
    const LinkParts& links;
    const FetchParts& fetches;
    const BatchIntake& batches;
    const OutsideFaults& faults;
  };
  PeerStatus(Around around, std::map<std::string, std::uint64_t> link_trace)
      : around_(around), link_trace_(std::move(link_trace)) {}

  // What the loop has recorded of links: pages, links, bytes, files_removed.
  void note_link_trace(std::map<std::string, std::uint64_t> counts) { link_trace_ = std::move(counts); }
  // The use of all shares of memory and of the machine as the loop has found it.
  void note_use(MemoryUse memory, ProcessUse process) {
    memory_ = std::move(memory);
    process_ = process;
  }
  // What parts of this peer use now, by the names of MemoryPlan::shares(), as far as it is known here.
  std::map<std::string_view, std::uint64_t> memory_use() const;

  // `brief`: of the members only those that are not active. In a large ring they are most of a status.
  nlohmann::json status(bool brief = false) const;
  std::vector<std::pair<std::string, double>> metrics() const;

 private:
  nlohmann::json counts() const;
  nlohmann::json seen_filter() const;
  nlohmann::json seen_sets() const;
  nlohmann::json memory() const;
  nlohmann::json orders() const;
  nlohmann::json robots() const;
  nlohmann::json limit() const;
  nlohmann::json outcomes() const;
  nlohmann::json politeness() const;
  nlohmann::json process() const;
  std::uint64_t orphaned() const;
  std::uint64_t held_in_flight() const;
  std::uint64_t messages_refused() const;

  Around around_;
  std::map<std::string, std::uint64_t> link_trace_;  // empty: none is recorded
  MemoryUse memory_;
  ProcessUse process_;
};

}  // namespace orbweaver
