// The members of the ring as this peer sees them: who answers, who is gone for good, who is waited for, which version
// of the protocol each speaks, and what the ring makes of them (who owns what). Thread rule: one owner (the peer's
// loop).
#pragma once

#include <map>
#include <vector>

#include "node/crawl/peer_state.h"
#include "node/replication/view.h"
#include "ring/membership.h"

namespace orbweaver {

// A peer that needs an answer of a member before it can begin gives up when none has come for this long.
inline constexpr Duration join_wait_max = std::chrono::seconds{60};

class Members {
 public:
  // `state` outlives it.
  Members(const PeerState& state, ring::Membership membership);

  ring::Membership& membership() { return membership_; }
  const ring::Membership& membership() const { return membership_; }
  const View& view() const { return view_; }

  std::vector<ring::PeerId> reachable() const;  // this peer among them
  std::vector<ring::PeerId> others() const;     // reachable, without this peer
  bool is_reachable(const ring::PeerId& peer) const;
  // Down for so long that it is taken not to come back; what it held is then the replicas'.
  bool gone(const ring::PeerId& peer, Time now) const;
  // Down, and it may come back.
  bool away(const ring::PeerId& peer, Time now) const { return down_since_.contains(peer) && !gone(peer, now); }
  // Down, and nothing is decided without it: it may come back with work.
  bool waited_for(const ring::PeerId& peer, Time now) const;
  // Under on_cut = pause-minority: whether fewer than half of the members answer; of two halves, the one without the
  // lowest id. A suspected member does not count as one that answers: the majority takes over when it is sure, and by
  // then this side must have stopped.
  bool paused() const;

  // Its records have changed since the last accept_changes().
  bool changed() const { return membership_.version() != accepted_; }
  // Those that are down, and their time, follow. True: owners have changed.
  bool accept_changes(Time now);

  // The version of a message that came from a member.
  void note_version(const ring::PeerId& from, std::uint16_t version);
  std::uint16_t version_of(const ring::PeerId& peer) const;  // 0: it has said nothing

 private:
  const PeerState* state_;
  ring::Membership membership_;
  View view_;
  std::uint64_t accepted_ = 0;  // membership_.version()
  std::map<ring::PeerId, Time> down_since_;
  std::map<ring::PeerId, std::uint16_t> versions_;
};

}  // namespace orbweaver
