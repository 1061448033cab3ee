// The rules that judge a URL before it is queued, each with what it remembers. Lifetime: the peer's. Thread rule: one
// owner (the peer's loop).
#pragma once

#include "node/coordination/seed_set.h"
#include "node/crawl/peer_state.h"
#include "node/links/mirror_table.h"
#include "node/links/recrawl_walk.h"
#include "node/links/trap_judge.h"
#include "node/replication/record_writer.h"

namespace orbweaver {

struct UrlVerdicts {
  // All outlive it.
  UrlVerdicts(PeerState& state, const Members& members, const Messenger& messenger, const SeedSet& seeds,
              RecordWriter& writer);
  UrlVerdicts(const UrlVerdicts&) = delete;  // its parts point at each other
  UrlVerdicts& operator=(const UrlVerdicts&) = delete;

  TrapRules trap_rules;
  MirrorTable mirrors;
  TrapJudge traps;
  RecrawlWalk walk;
};

}  // namespace orbweaver
