// What this peer sends of its records: links to the peers that own them, copies to the replicas, partitions that change
// hands. One counter numbers the batches of all three. Thread rule: one owner (the peer's loop).
#pragma once

#include "node/crawl/peer_state.h"
#include "node/replication/outbox_sender.h"
#include "node/replication/partition_manager.h"
#include "node/replication/replicator.h"

namespace orbweaver {

struct Replication {
  explicit Replication(const PeerState& state);

  std::uint64_t new_sequence() { return outbox.new_sequence(); }

  CopiedUntil copied_until;
  Dependents dependents;  // of the outbox and the replicator
  OutboxSender outbox;
  Replicator replicator;
  PartitionManager partition_manager;
  // A fetched page's outcome, or what its links need, may be missing elsewhere.
  Transfers::Outcome outcome(const storage::Merge& page) const {
    if (page.record.state != storage::UrlState::fetched) return Transfers::Outcome::leaves;
    if (replicator.waits(page.key)) return Transfers::Outcome::follows;
    return copied_until.lacks(page.record.since) ? Transfers::Outcome::next_fill : Transfers::Outcome::leaves;
  }
  bool plan_due = true;  // the owners, or what this peer may do, may have changed: all is planned anew
  // Nothing is left to be planned.
  bool planned() const { return !plan_due && !partition_manager.plan_open(); }
};

}  // namespace orbweaver
