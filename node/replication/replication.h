// What this peer sends of its records: links to the peers that own them, copies to the replicas, partitions that change
// hands. One counter numbers the batches of all three. Thread rule: one owner (the peer's loop).
#pragma once

#include "node/crawl/peer_state.h"
#include "node/replication/outbox_sender.h"
#include "node/replication/partition_manager.h"
#include "node/replication/replicator.h"

namespace orbweaver {

struct Replication {
  Replication(const PeerState& state, std::uint64_t first_sequence);

  std::uint64_t new_sequence() { return outbox.new_sequence(); }
  // Everything that the replicas are to have they have.
  bool all_copied() const { return replicator.safe() >= replicator.issued(); }

  OutboxSender outbox;
  Replicator replicator;
  PartitionManager partition_manager;
  bool plan_due = true;  // who holds what, or who should, may have changed
};

}  // namespace orbweaver
