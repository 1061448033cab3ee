// The records that this peer has, in all places: what it sends of them to others (replication), the frontier in memory
// (workbench), and the one way to change them (writer). Thread rule: one owner (the peer's loop).
#pragma once

#include "node/replication/record_writer.h"

namespace orbweaver {

struct Records {
  // Both outlive it.
  Records(const PeerState& state, const Members& members, std::uint64_t first_sequence);
  Records(const Records&) = delete;  // its parts point at each other
  Records& operator=(const Records&) = delete;

  Replication replication;
  Workbench bench;
  RecordWriter writer;
};

}  // namespace orbweaver
