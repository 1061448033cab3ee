// The end of this process: what it says to the others before it goes. A peer that leaves says so until another has
// heard it, for a peer that is silent is down, and waited for; one that stops keeps its partitions and comes back.
// Thread rule: one owner (the peer's loop).
#pragma once

#include <map>
#include <optional>
#include <string>

#include "node/coordination/lifecycle.h"
#include "node/replication/messenger.h"
#include "node/replication/record_writer.h"

namespace orbweaver {

class Farewell {
 public:
  // All outlive it.
  Farewell(const PeerState& state, Members& members, Lifecycle& lifecycle, const Messenger& messenger,
           RecordWriter& writer)
      : state_(&state), members_(&members), lifecycle_(&lifecycle), messenger_(&messenger), writer_(&writer) {}

  // Hands everything over, then ends; when no peer is there to take it, or after leave_timeout, ends as it is.
  void leave(Time now);
  // The process ends once the last words are sent. One that leaves has left then.
  Result<void> exit(const Step& step, int code, std::string message);
  Result<void> exit(const Step& step, ErrorCode code, std::string message) {
    return exit(step, static_cast<int>(code), std::move(message));
  }
  // The crawl has ended: every peer of the ring ends with the same totals, and keeps its partitions for a later run.
  void finish(const Step& step, std::string reason, std::map<std::string, std::uint64_t> totals);

  // What another knows: perhaps that this peer has left.
  void hear(Time now, const std::vector<ring::Member>& members);
  void tick(const Step& step);
  std::optional<Time> next_deadline() const;

 private:
  void announce(const Step& step);

  const PeerState* state_;
  Members* members_;
  Lifecycle* lifecycle_;
  const Messenger* messenger_;
  RecordWriter* writer_;
  Time next_word_{};
};

}  // namespace orbweaver
