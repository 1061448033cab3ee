// What this peer sends of its records: links to the peers that own them, copies to the replicas, partitions that change
// hands. One counter numbers the batches of all three. Thread rule: one owner (the peer's loop).
#pragma once

#include <map>

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
  // A page's outcome, or what its links need, may be missing elsewhere, also when a later visit ended otherwise. So may
  // the links of a page that is to be visited again: with the last visit's validator another peer is told "not
  // modified", and never finds them.
  Transfers::Outcome outcome(const storage::Merge& page) const {
    const bool fetched = page.record.state == storage::UrlState::fetched;
    const bool queued = page.record.state == storage::UrlState::queued;
    if (queued && page.record.validator.empty()) return Transfers::Outcome::leaves;
    if (replicator.waits(page.key))
      return fetched || queued ? Transfers::Outcome::follows : Transfers::Outcome::next_fill;
    const bool lacks = fetched ? copied_until.lacks(page.record) : queued && !copied_until.settled();
    return lacks ? Transfers::Outcome::next_fill : Transfers::Outcome::leaves;
  }
  // By partition: waits for the sitemaps that its robots.txt files name. Until they are with their owners, no outcome
  // of the partition leaves, nor does the partition. Who has all of it fetched does not read those files again.
  std::map<ring::Partition, Dependents::Id> named_sitemaps;
  // The dependent of a commit with a robots.txt of the partition; it is closed after each such commit.
  Dependents::Id begin_sitemaps(ring::Partition partition);
  bool sitemaps_wait(ring::Partition partition) const {
    const auto found = named_sitemaps.find(partition);
    return found != named_sitemaps.end() && dependents.waits(found->second);
  }
  bool plan_due = true;  // the owners, or what this peer may do, may have changed: all is planned anew
  // Nothing is left to be planned.
  bool planned() const { return !plan_due && !partition_manager.plan_open(); }
};

}  // namespace orbweaver
