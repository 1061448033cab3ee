// Whether this peer may ask for pages at all, and if not, why. Lifetime: the peer's. Thread rule: one owner (the peer's
// loop).
#pragma once

#include <string>
#include <vector>

#include "node/coordination/directives.h"
#include "node/coordination/fence.h"

namespace orbweaver {

class FetchGate {
 public:
  // All outlive it.
  FetchGate(const PeerState& state, const Members& members, const Lifecycle& lifecycle, const Fence& fence,
            const Directives& directives, const Replicator& replicator)
      : state_(&state),
        members_(&members),
        lifecycle_(&lifecycle),
        fence_(&fence),
        directives_(&directives),
        replicator_(&replicator) {}

  bool open() const {
    return !lifecycle_->stopping() && !lifecycle_->ending() && fence_->confirmed() &&
           directives_->differing().empty() && !directives_->orders().hosts().ring_paused &&
           !replicator_->items_full() && !members_->paused() && !state_->disk_low;
  }
  // Why it is not, for "orbweaver status".
  std::vector<std::string> reasons() const;
  // Whether records may be queued for another visit. Each must have its copies like any write: they wait until this
  // peer's tenures are confirmed, and for room.
  bool may_queue_again() const { return fence_->confirmed() && !lifecycle_->stopping() && !replicator_->items_full(); }

 private:
  const PeerState* state_;
  const Members* members_;
  const Lifecycle* lifecycle_;
  const Fence* fence_;
  const Directives* directives_;
  const Replicator* replicator_;
};

}  // namespace orbweaver
