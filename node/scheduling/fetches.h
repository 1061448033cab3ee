// The fetches of a peer: what may be asked for, what is in flight, what becomes of it. Lifetime: the peer's. Thread
// rule: one owner (the peer's loop).
#pragma once

#include "node/links/links.h"
#include "node/replication/records.h"
#include "node/scheduling/fetch_outcomes.h"
#include "node/scheduling/fetch_scheduler.h"

namespace orbweaver {

struct Fetches {
  // What its parts read and change of the peer; all outlive it.
  struct Around {
    const PeerState& state;
    const Members& members;
    const Messenger& messenger;
    const Lifecycle& lifecycle;
    const Fence& fence;
    Records& records;
    SeedSet& seeds;
    Links& links;
    SeedIntake& intake;
    bool made_ring;
  };
  explicit Fetches(const Around& around);
  Fetches(const Fetches&) = delete;  // its parts point at each other
  Fetches& operator=(const Fetches&) = delete;

  FetchGate gate;
  PageAllowance allowance;
  Budgets budgets;
  CrashBook crashes;
  CanonicalRedirects redirects;
  HostAccess access;
  JobTable jobs;
  RobotsDesk robots;
  FetchScheduler scheduler;
  FetchOutcomes outcomes;
};

}  // namespace orbweaver
