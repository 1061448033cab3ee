// One budget for a peer's memory, setting `max_memory`, and who has which share of it. Pure.
//
// A share is a bound in bytes that its holder keeps by itself: what waits, waits, what is a cache makes room, what can
// do neither is refused and counted. The shares are fixed when the peer starts. What is in none of them (code, threads,
// small tables) is in `base`.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "node/settings/settings.h"

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

// How a peer's memory is used, in bytes.
struct MemoryUse {
  struct Share {
    std::string_view name;
    std::uint64_t bound = 0;
    std::uint64_t used = 0;
    std::uint64_t peak = 0;  // of the looks so far, or exact where the share itself counts
  };
  std::vector<Share> shares;
  std::uint64_t resident = 0;  // of the process, as the system counts
  std::uint64_t resident_peak = 0;
};

// Of one of `peers` peers on a machine, where max_memory is not set.
std::uint64_t automatic_memory(std::uint64_t machine, std::uint64_t peers);

// A setting for one stage counts as it is, but never beyond its share. max_body_memory and max_storage_memory are the
// whole share where they are not `given`. A line for the log for each setting that was made smaller.
//   max_body_memory                    bodies
//   max_body_bytes, max_decoded_bytes  half of bodies, half of the large part of `decoded` (node/memory/decode_room.h)
//   max_link_bytes                     half of links
//   max_link_cache_entries             link_cache, cached_link_bytes each
//   max_hosts_in_memory                frontier, host_bytes each
//   max_storage_memory                 what write buffers leave of storage
std::vector<std::string> fit_settings(Settings& settings, const std::map<std::string, std::string>& given,
                                      const MemoryPlan& plan);

// How workers share `decoded`, of `bound` bytes: each has a small part, one at a time has the large one
// (node/memory/decode_room.h).
inline constexpr std::uint64_t decode_small_max = std::uint64_t{4} << 20;
std::uint64_t decode_small_of(std::uint64_t bound, std::uint64_t workers);
std::uint64_t decode_large_of(std::uint64_t bound, std::uint64_t workers);

// Of `storage`: for what is not yet in tables. The rest is RocksDB's cache.
std::uint64_t write_buffer_bytes(const MemoryPlan& plan);

inline constexpr std::uint64_t cached_link_bytes = 36;
inline constexpr std::uint64_t host_bytes = 6144;  // with one URL of the longest
// A peer needs this: code, threads and RocksDB alone take about 40 MiB.
inline constexpr std::uint64_t max_memory_least = std::uint64_t{128} << 20;

}  // namespace orbweaver
