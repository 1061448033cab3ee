// The records that this peer has, in all places: the part that it sends to others (replication), the frontier in memory
// (workbench), and the one way to change them (writer). Thread rule: one owner (the peer's loop).
#pragma once

#include "node/replication/record_writer.h"

namespace orbweaver {

struct RecordParts {
  // Both outlive it.
  RecordParts(const PeerState& state, const Members& members);
  RecordParts(const RecordParts&) = delete;  // its parts point at each other
  RecordParts& operator=(const RecordParts&) = delete;

  Replication replication;
  Workbench bench;
  RecordWriter writer;
};

}  // namespace orbweaver
