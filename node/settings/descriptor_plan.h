// How many file descriptors each part of a peer may have, so that all together fit into its limit. Pure.
//
// Parts that do not fit are reduced, in this order: kept connections, the store's open files, fetches. Each has a
// floor; it goes below that only when the others are at theirs.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>

#include "node/settings/settings.h"

namespace orbweaver {

inline constexpr std::uint64_t open_files_usual = 65'536;  // setting max_open_files = 0: this many, if possible

// A peer with fewer cannot even open its logs, locks, journals and ports: the plan's reserve.
inline constexpr std::uint64_t open_files_least = 128;

struct DescriptorPlan {
  std::uint64_t limit = 0;        // of the process
  std::uint32_t max_fetches = 0;  // transfers: one connection each; every fourth also tries the other address family
  std::uint32_t kept_connections =
      512;                          // to web servers, for further requests; up to 4,096 where there are this many hosts
  std::uint32_t store_files = 512;  // RocksDB's tables
  std::uint32_t unknown_connections = 0;  // to the ring's port: two each (ring/zmq_gate.h)
  std::uint32_t members = 0;              // of the ring: three each, for both directions
  std::uint32_t workers = 0;              // six each: archive, text, the pipes of a text command
  bool fits = false;

  // Names and descriptors, as the log shows them. The last is the reserve: logs, locks, journals, name servers, the
  // status port, the event loops.
  std::array<std::pair<std::string_view, std::uint64_t>, 7> shares() const;
  std::uint64_t sum() const;
};

// `limit`: descriptors that the process may have.
DescriptorPlan plan_descriptors(const Settings& settings, std::uint64_t limit);

}  // namespace orbweaver
