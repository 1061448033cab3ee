// One budget for a peer's memory, setting `max_memory`, and who has which share of it. Pure.
//
// A share is a bound in bytes that its holder keeps by itself: what waits, waits, what is a cache makes room, what can
// do neither is refused and counted. The shares are fixed when the peer starts. What is in none of them (code, threads,
// small tables) is in `base`.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>

#include "node/config/settings.h"

namespace orbweaver {

// Bytes.
struct MemoryPlan {
  std::uint64_t total = 0;
  std::uint64_t bodies = 0;        // from the socket until their pages are committed
  std::uint64_t decoded = 0;       // decoded bodies and text, while a worker reads them
  std::uint64_t links = 0;         // resolved links, between a worker and the commit
  std::uint64_t robots = 0;        // rules in memory
  std::uint64_t messages_in = 0;   // from other peers, until the core has handled them
  std::uint64_t messages_out = 0;  // outbox heads and copies
  std::uint64_t link_cache = 0;
  std::uint64_t seen_sets = 0;  // fingerprints of active hosts
  std::uint64_t frontier = 0;   // the workbench: hosts and the heads of their queues
  std::uint64_t storage = 0;    // RocksDB: blocks, indexes, filters, write buffers
  std::uint64_t base = 0;

  // Names as `status` and the metrics show them.
  std::array<std::pair<std::string_view, std::uint64_t>, 11> shares() const;
};

// `machine`: bytes of memory that the machine or its control group has; used when max_memory is 0.
MemoryPlan plan_memory(const Settings& settings, std::uint64_t machine);

}  // namespace orbweaver
