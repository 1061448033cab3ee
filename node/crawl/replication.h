// What this peer sends of its records: links to the peers that own them, copies to the replicas, partitions that change
// hands. One counter numbers the batches of all three. Thread rule: one owner (the peer's loop).
#pragma once

#include "node/crawl/copier.h"
#include "node/crawl/forwarder.h"
#include "node/crawl/keeper.h"
#include "node/crawl/peer_state.h"

namespace orbweaver {

struct Replication {
  Replication(const PeerState& state, std::uint64_t first_sequence);

  // Of partitions, with the ring's settings.
  static Keeper::Config keeper_config(const Settings& settings);

  std::uint64_t new_sequence() { return forwarder.new_sequence(); }
  // Everything that the replicas are to have they have.
  bool all_copied() const { return copier.safe() >= copier.issued(); }

  Forwarder forwarder;
  Copier copier;
  Keeper keeper;
  bool plan_due = true;  // who holds what, or who should, may have changed
};

}  // namespace orbweaver
