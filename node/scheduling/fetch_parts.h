// The fetches of a peer: what may be asked for, what is in flight, and what results from it. Lifetime: the peer's.
// Thread rule: one owner (the peer's loop).
#pragma once

#include "node/crawl/site_jars.h"
#include "node/links/link_parts.h"
#include "node/replication/record_parts.h"
#include "node/scheduling/fetch_limit.h"
#include "node/scheduling/fetch_outcomes.h"
#include "node/scheduling/fetch_scheduler.h"

namespace orbweaver {

struct FetchParts {
  // What its parts read and change of the peer; all outlive it.
  struct Around {
    const PeerState& state;
    const Members& members;
    const Messenger& messenger;
    const Lifecycle& lifecycle;
    const Fence& fence;
    RecordParts& records;
    const Directives& directives;
    LinkParts& links;
    SeedIntake& intake;
    bool made_ring;
  };
  explicit FetchParts(const Around& around);
  FetchParts(const FetchParts&) = delete;  // its parts point at each other
  FetchParts& operator=(const FetchParts&) = delete;

  FetchGate gate;
  PageAllowance allowance;
  Budgets budgets;
  CrashBook crashes;
  CanonicalRedirects redirects;
  SiteJars cookies;
  HostAccess access;
  JobTable jobs;
  RobotsDesk robots;
  FetchScheduler scheduler;
  FetchOutcomes outcomes;
  FetchLimits limits;
};

}  // namespace orbweaver
