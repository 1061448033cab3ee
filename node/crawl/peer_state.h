// What every part of a peer may read and no part changes: settings, store, identity, the times that parts use, whether
// the disk is low. The peer itself sets the last step and the disk. Thread rule: one owner (the peer's loop).
#pragma once

#include <algorithm>

#include "node/base.h"
#include "node/crawl/partitioner.h"
#include "node/crawl/site_policy.h"
#include "node/settings/memory_plan.h"
#include "node/settings/settings.h"
#include "node/url/canonicaliser.h"
#include "ring/types.h"
#include "storage/store.h"

namespace orbweaver {

// How much work recovery does at a time.
struct RecoverySteps {
  // Records of a partition from which a comparison of its leaves costs less than to send all of it.
  std::size_t leaves_from = 2048;
  // Partitions that one message compares. A step plans four times as many, in some milliseconds.
  std::size_t partitions = 1024;
  // Records that a walk (recrawl_walk.h) looks at in one step: about 2 us each, so that the loop is not blocked.
  std::size_t walk_records = 2048;
};

struct PeerState {
  PeerState(Settings values, const MemoryPlan& plan, storage::Store& opened, const ring::PeerId& self,
            const ring::RingId& its_ring, std::uint64_t its_life = 1, const RecoverySteps& recovery = {})
      : settings(std::move(values)),
        memory(plan),
        canonicaliser(settings),
        partitioner(settings.partition_by, settings.partitions),
        sites(settings),
        recovery_steps(recovery),
        store(&opened),
        id(self),
        ring(its_ring),
        life(its_life) {}
  PeerState(const PeerState&) = delete;  // parts of it point at its settings
  PeerState& operator=(const PeerState&) = delete;

  void note_step(Time now) { stepped = std::max(stepped, now); }

  Settings settings;
  MemoryPlan memory;  // this process's shares
  Canonicaliser canonicaliser;
  mutable Partitioner partitioner;  // it remembers the last host's digest
  SitePolicy sites;
  RecoverySteps recovery_steps;
  storage::Store* store;
  ring::PeerId id;
  ring::RingId ring;
  std::uint64_t life;  // how many processes its directory has had, this one among them (rising_number.h)
  Time started{};
  Time restarted{};       // `started` when the directory had a crawl in it; else the epoch
  Time stepped{};         // the last step; never goes back, though clocks do
  bool disk_low = false;  // as last looked at: nothing is asked for (min_free_disk)
};

}  // namespace orbweaver
