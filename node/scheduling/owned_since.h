// Since when this peer has owned each partition: a new owner of an address or a host's lease does not know what the
// owner before it gave. Thread rule: one owner (the peer's loop).
#pragma once

#include <optional>
#include <vector>

#include "node/replication/view.h"

namespace orbweaver {

class OwnedSince {
 public:
  // `made_ring`: this peer made the ring in this run, so what it owns at first no other peer ever owned.
  explicit OwnedSince(bool made_ring) : made_ring_(made_ring) {}

  void owners_changed(const View& view, Time now) {
    const bool first = since_.empty();
    since_.resize(view.partitions());
    for (std::uint32_t i = 0; i < view.partitions(); ++i) {
      if (!view.owns(static_cast<ring::Partition>(i))) {
        since_[i].reset();
      } else if (!since_[i]) {
        since_[i] = first && made_ring_ ? Time{} : now;
      }
    }
  }
  // The epoch: no other peer ever owned it. `now` for a partition that this peer does not own.
  Time of(ring::Partition partition, Time now) const { return since_[partition].value_or(now); }

 private:
  bool made_ring_;
  std::vector<std::optional<Time>> since_;  // none: this peer does not own it
};

}  // namespace orbweaver
