// Who of a peer may have how many file descriptors, so that all of them together fit into its limit. Pure.
//
// What does not fit is made smaller, in this order: kept connections, the store's open files, fetches. Each has a floor
// that it goes below only when the others are at theirs.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>

#include "node/settings/settings.h"

namespace orbweaver {

inline constexpr std::uint64_t open_files_usual = 65'536;  // setting max_open_files = 0: as many, if the system allows

// A peer with fewer cannot even open its logs, locks, journals and ports: the plan's reserve.
inline constexpr std::uint64_t open_files_least = 128;

struct DescriptorPlan {
  std::uint64_t limit = 0;        // of the process
  std::uint32_t max_fetches = 0;  // transfers: a connection each, and every fourth has a try of the other family
  std::uint32_t kept_connections =
      512;                          // to web servers, for another request; up to 4,096 where there are this many hosts
  std::uint32_t store_files = 512;  // RocksDB's tables
  std::uint32_t unknown_connections = 0;  // to the ring's port: two each (ring/zmq_gate.h)
  std::uint32_t members = 0;              // of the ring: three each, for both directions
  std::uint32_t workers = 0;              // six each: archive, text, the pipes of a text command
  bool fits = false;

  // Names and descriptors, as the log shows them; the last is the reserve: logs, locks, journals, name servers, the
  // status port, the event loops.
  std::array<std::pair<std::string_view, std::uint64_t>, 7> shares() const;
  std::uint64_t sum() const;
};

// `limit`: descriptors that the process may have.
DescriptorPlan plan_descriptors(const Settings& settings, std::uint64_t limit);

}  // namespace orbweaver
