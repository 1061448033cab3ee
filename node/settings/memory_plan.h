// One budget for a peer's memory, setting `max_memory`, and its division into shares. Pure.
//
// A share is a bound in bytes that its user enforces: work that can wait, waits; a cache makes room; anything else is
// refused and counted. The shares are fixed when the peer starts.
// Memory outside all shares (code, threads, small tables) is in `base`.
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
  std::uint64_t seen_sets = 0;      // fingerprints of active hosts
  std::uint64_t frontier = 0;       // the workbench: hosts and the heads of their queues
  std::uint64_t waiting_hosts = 0;  // when hosts that are not in memory are due
  std::uint64_t storage = 0;        // RocksDB: blocks, indexes, filters, write buffers
  std::uint64_t base = 0;

  // Names as `status` and the metrics show them.
  std::array<std::pair<std::string_view, std::uint64_t>, 12> shares() const;
};

// `machine`: bytes of memory of the machine or its control group; used when max_memory is 0.
MemoryPlan plan_memory(const Settings& settings, std::uint64_t machine);

// How a peer's memory is used, in bytes.
struct MemoryUse {
  struct Share {
    std::string_view name;
    std::uint64_t bound = 0;
    std::uint64_t used = 0;
    std::uint64_t peak = 0;  // of the samples so far, or exact where the share itself counts
  };
  std::vector<Share> shares;
  std::uint64_t resident = 0;  // of the process, as counted by the system
  std::uint64_t resident_peak = 0;
};

// For one of `peers` peers on a machine, where max_memory is not set.
std::uint64_t automatic_memory(std::uint64_t machine, std::uint64_t peers);

// A setting for one stage applies, but never beyond its share. max_body_memory and max_storage_memory are the whole
// share where they are not `given`. Returns a line for the log for each setting that was reduced.
//   max_body_memory                    bodies
//   max_body_bytes, max_decoded_bytes  half of bodies, half of the large part of `decoded` (node/memory/decode_room.h)
//   max_link_bytes                     half of links
//   max_link_cache_entries             link_cache, cached_link_bytes each
//   max_hosts_in_memory                frontier, host_bytes each
//   max_storage_memory                 the rest of storage after write buffers
std::vector<std::string> fit_settings(Settings& settings, const std::map<std::string, std::string>& given,
                                      const MemoryPlan& plan);

// How workers share `decoded`, of `bound` bytes: each has a small part, one thread more has the large one
// (node/memory/decode_room.h).
inline constexpr std::uint64_t max_decode_small = std::uint64_t{4} << 20;
std::uint64_t decode_small_of(std::uint64_t bound, std::uint64_t workers);
std::uint64_t decode_large_of(std::uint64_t bound, std::uint64_t workers);

// The part of `storage` for data not yet in tables. The rest is RocksDB's cache.
std::uint64_t write_buffer_bytes(const MemoryPlan& plan);

inline constexpr std::uint64_t cached_link_bytes = 40;
inline constexpr std::uint64_t host_bytes = 6144;  // with one URL of maximum length
// The minimum for a peer: code, threads and RocksDB alone take about 40 MiB.
inline constexpr std::uint64_t max_memory_least = std::uint64_t{128} << 20;

}  // namespace orbweaver
