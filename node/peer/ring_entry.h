// How a peer came to its ring, and what it has by then: a peer is made of this, once. Thread rule: a value, moved.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "node/coordination/admission.h"
#include "node/coordination/lifecycle.h"
#include "node/peer/peer_start.h"
#include "ring/membership.h"
#include "storage/store.h"

namespace orbweaver {

// A row of the data directory that cannot be read or believed.
struct LeftOutRow {
  std::string_view name;
  std::string cause;
};
inline LogEntry left_out_note(const LeftOutRow& row) {
  return {LogLevel::warning,
          "storage",
          "a row in the data directory is left out",
          {{"row", std::string(row.name)}, {"cause", row.cause}},
          true};
}

struct RingEntry {
  enum class How : std::uint8_t {
    made,      // a new ring, all of which it holds
    restored,  // the data directory knows it
    joined,    // a member has let it in
  };

  RingEntry(PeerStart with, storage::Store& opened, ring::Membership self, std::uint64_t of_life, Time now)
      : start(std::move(with)), store(&opened), membership(std::move(self)), life(of_life), started(now) {}

  How how = How::made;
  PeerStart start;  // the settings have the ring's values
  storage::Store* store;
  ring::RingId ring;
  ring::Membership membership;
  std::uint64_t life;  // PeerState::life
  Lifecycle lifecycle;
  Admission admission{{}, {}};
  Time started;
  Time restarted{};  // `started` when the directory had a crawl in it; else the epoch
  std::vector<LeftOutRow> left_out;
  bool members_left_out = false;  // some members of the last run
  std::uint64_t messages_refused = 0;
  std::map<std::string, std::uint64_t> link_trace;
};

}  // namespace orbweaver
