// Whether this peer may ask for pages at all, and if not, why. Lifetime: the peer's. Thread rule: one owner (the peer's
// loop).
#pragma once

#include <string>
#include <vector>

#include "node/coordination/fence.h"
#include "node/coordination/seed_set.h"

namespace orbweaver {

class FetchGate {
 public:
  // All outlive it.
  FetchGate(const Members& members, const Lifecycle& lifecycle, const Fence& fence, const SeedSet& seeds,
            const Replicator& replicator)
      : members_(&members), lifecycle_(&lifecycle), fence_(&fence), seeds_(&seeds), replicator_(&replicator) {}

  bool open() const {
    return !lifecycle_->stopping() && !lifecycle_->ending() && fence_->confirmed() && seeds_->differing().empty() &&
           !replicator_->items_full() && !members_->paused();
  }
  // Why it is not, for "orbweaver status".
  std::vector<std::string> reasons() const;
  // Whether records may be queued for another visit. Each must have its copies like any write: they wait until this
  // peer's tenures are confirmed, and for room.
  bool may_queue_again() const { return fence_->confirmed() && !lifecycle_->stopping() && !replicator_->items_full(); }

 private:
  const Members* members_;
  const Lifecycle* lifecycle_;
  const Fence* fence_;
  const SeedSet* seeds_;
  const Replicator* replicator_;
};

}  // namespace orbweaver
