// What holds a peer's fetching back, and for how long it has done so: of the hosts with URLs to fetch, what most wait
// for. Lifetime: the peer's. Thread rule: one owner (the peer's loop).
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "node/frontier/page_allowance.h"
#include "node/scheduling/fetch_gate.h"
#include "node/scheduling/fetch_scheduler.h"
#include "node/scheduling/host_access.h"
#include "node/scheduling/job_table.h"

namespace orbweaver {

enum class FetchLimit : std::uint8_t {
  held,         // the peer may not fetch: FetchGate::reasons()
  page_limit,   // it may not fetch more pages now: max_pages, max_bytes
  connections,  // max_fetches requests are in flight
  workers,      // most of what was received waits to be read, or to be on the disk
  shares,       // a domain or a network uses its share of the transfers
  delays,       // hosts wait until they and their address may be asked again
  answers,      // hosts are being asked
  lookups,      // names are being looked up
  peers,        // other peers are asked for slots of addresses or leases of hosts
  other,        // of what is queued nothing is known in memory: partitions move, hosts come in from disk
  nothing,      // no URL is queued
};
inline constexpr std::size_t fetch_limits = 11;

// For status and metrics.
std::string_view name_of(FetchLimit limit);

class FetchLimits {
 public:
  // What it reads of the peer; all outlive it.
  struct Around {
    const PeerState& state;
    const FetchGate& gate;
    const PageAllowance& allowance;
    const JobTable& jobs;
    const Workbench& bench;
    const FetchScheduler& scheduler;
    const HostAccess& access;
    const RobotsDesk& robots;
  };
  explicit FetchLimits(const Around& around) : around_(around) {}

  // Hosts with URLs to fetch by what they wait for: those on the workbench, and those that wait for long. Not counted:
  // hosts on disk without a place. A host has one request at a time, but one may be read while the next waits.
  struct Hosts {
    std::size_t shares = 0, delays = 0, answers = 0, workers = 0, lookups = 0, peers = 0;
  };
  Hosts hosts() const;
  FetchLimit limit() const;
  // The time since the last call counts for what was the limit then.
  void note(Time now);
  // Since the peer's first step, up to the last call of note().
  Duration time(FetchLimit limit) const { return times_[static_cast<std::size_t>(limit)]; }
  Time noted() const { return noted_; }

 private:
  Around around_;
  std::array<Duration, fetch_limits> times_{};
  FetchLimit since_then_ = FetchLimit::held;
  Time noted_{};
};

}  // namespace orbweaver
