// The end of this process: what it sends to the others before it ends. A peer that leaves announces it until another
// has received that, because a silent peer is down and is waited for. A peer that stops keeps its partitions and comes
// back. Thread rule: one owner (the peer's loop).
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

  // Hands everything over, then ends; when no peer can take it, or after leave_timeout, ends as it is.
  void leave(Time now);
  // The process ends once its last messages are sent. A peer that leaves has left by then.
  Result<void> exit(const Step& step, int code, std::string message);
  Result<void> exit(const Step& step, ErrorCode code, std::string message) {
    return exit(step, static_cast<int>(code), std::move(message));
  }
  // The crawl has ended: every peer of the ring ends with the same totals, and keeps its partitions for a later run.
  void finish(const Step& step, std::string reason, std::map<std::string, std::uint64_t> totals);

  // A question has come, whose answer is to be sent before the process ends.
  void asked(Time now) { asked_ = now; }
  // The members as another peer knows them: perhaps it knows that this peer has left.
  void hear(Time now, const std::vector<ring::Member>& members);
  void tick(const Step& step);
  std::optional<Time> next_deadline() const;

 private:
  void announce(const Step& step);
  Time last_moment(Time now) const;  // of this process, when it says goodbye now

  const PeerState* state_;
  Members* members_;
  Lifecycle* lifecycle_;
  const Messenger* messenger_;
  RecordWriter* writer_;
  Time next_word_{};
  Time asked_{};
};

}  // namespace orbweaver
