// The members of the ring as this peer sees them: which ones answer, which are gone for good, which are waited for,
// which version of the protocol each speaks, and which partitions each owns. Thread rule: one owner (the peer's
// loop).
#pragma once

#include <map>
#include <set>
#include <vector>

#include "node/crawl/peer_state.h"
#include "node/replication/view.h"
#include "ring/membership.h"
#include "ring/table_sizes.h"

namespace orbweaver {

// A peer that needs a member's answer before it can begin gives up when none has come for this long.
inline constexpr Duration max_join_wait = std::chrono::seconds{60};

class Members {
 public:
  // `state` outlives it.
  Members(const PeerState& state, ring::Membership membership);

  ring::Membership& membership() { return membership_; }
  const ring::Membership& membership() const { return membership_; }
  const View& view() const { return view_; }

  const std::vector<ring::PeerId>& reachable() const { return roll().reachable; }  // by id; this peer among them
  const std::vector<ring::PeerId>& others() const { return roll().others; }        // reachable, without this peer
  bool any_joins() const { return roll().any_joins; }
  const std::vector<ring::PeerId>& down() const { return roll().down; }
  bool is_reachable(const ring::PeerId& peer) const;
  // Down for presume_dead_after, so it is not expected back; the replicas then have what it held.
  bool gone(const ring::PeerId& peer, Time now) const;
  // Down, and it may come back; or it fell silent while it joined, and may have been welcomed by then.
  bool away(const ring::PeerId& peer, Time now) const { return down_since_.contains(peer) && !gone(peer, now); }
  // Down, and nothing is decided without it: it may come back with work.
  bool waited_for(const ring::PeerId& peer, Time now) const;
  // Under on_cut = pause-minority: true when fewer than half of the members answer, or exactly half, without the lowest
  // id. A suspected member does not count as one that answers: the majority takes over once it is sure, and by then
  // this side must have stopped.
  bool paused() const;

  // It was down at the last accept_changes(), and answers now.
  bool is_back(const ring::PeerId& peer) const { return down_since_.contains(peer) && is_reachable(peer); }

  // Its records have changed since the last accept_changes().
  bool changed() const { return membership_.version() != accepted_; }
  // Updates which members are down, and since when. True: owners have changed.
  bool accept_changes(Time now);
  // Members that the last accept_changes() found to be new, forgotten, out of reach, or in reach again.
  const std::set<ring::PeerId>& come_or_gone() const { return come_or_gone_; }

  // Notes the protocol version of a message that came from a member.
  void note_version(const ring::PeerId& from, std::uint16_t version);
  std::uint16_t version_of(const ring::PeerId& peer) const;  // 0: it has sent nothing yet
  ring::TableSizes tables() const;

 private:
  // The members by what they are, until their records change: most events change none.
  struct Roll {
    std::uint64_t version = 0;
    std::vector<ring::PeerId> reachable;
    std::vector<ring::PeerId> others;
    std::vector<ring::PeerId> down;
    bool any_joins = false;
  };
  const Roll& roll() const;
  struct Pause {  // what paused() found
    std::uint64_t version = 0;
    std::uint64_t accepted = 0;
    Time from{};   // it holds from then on
    Time until{};  // and before this, when the next member that is down counts as gone
    bool paused = false;
  };
  Pause judge_pause() const;

  const PeerState* state_;
  ring::Membership membership_;
  mutable Roll roll_;
  mutable Pause pause_;
  View view_;
  std::uint64_t accepted_ = 0;                                 // membership_.version()
  std::map<ring::PeerId, ring::MemberState> accepted_states_;  // at the last accept_changes()
  std::set<ring::PeerId> come_or_gone_;
  std::map<ring::PeerId, Time> down_since_;  // also of those that fell silent while they joined: these count as left
  std::map<ring::PeerId, std::uint16_t> versions_;
};

}  // namespace orbweaver
