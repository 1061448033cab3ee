// The rules that judge a URL before it is queued, each with what it remembers. Lifetime: the peer's. Thread rule: one
// owner (the peer's loop).
#pragma once

#include "node/crawl/mirror_table.h"
#include "node/crawl/peer_state.h"
#include "node/crawl/record_writer.h"
#include "node/crawl/recrawl_walk.h"
#include "node/crawl/seed_set.h"
#include "node/crawl/trap_judge.h"

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
