// Whether this peer may act on its tenures. It may once it has learned what the others know of the tenures, since its
// start or since its process last stood still: from one peer that is confirmed itself, or from all. One that it knows
// as down may be back meanwhile: it is asked too, and has suspicion_time to answer and to be a member again. Before
// that, this peer would take over what that one holds. Until then nothing is fetched, because another peer may have
// taken over, and no seed of the ring is admitted: a newcomer whose members are gone would begin their crawl again.
// Only an answer to a question asked since then counts (its nonce): what waited in a socket meanwhile is old. It asks
// a few members, and others when these do not answer or are not confirmed themselves
// (docs/decisions/0030-compare-by-ranges.md). Thread rule: one owner (the peer's loop).
#pragma once

#include <optional>
#include <set>

#include "node/coordination/farewell.h"
#include "ring/table_sizes.h"

namespace orbweaver {

class Fence {
 public:
  // All outlive it.
  Fence(const PeerState& state, const Members& members, const Messenger& messenger, Replication& replication,
        Farewell& farewell)
      : state_(&state), members_(&members), messenger_(&messenger), replication_(&replication), farewell_(&farewell) {}

  bool confirmed() const { return confirmed_; }
  // The process stood still for so long that the others may have given it up.
  void raise();
  // Not all members of the last run could be read from the directory, and one of the missing members holds
  // something.
  void note_lost_members() { members_lost_ = true; }
  // The directory was at this other address before. If it is a copy, the process at that address lives. It is told of
  // this one, and answers (Membership::duplicate); by the end of suspicion_time others have heard of both too.
  void note_moved(std::string from) { moved_from_ = std::move(from); }
  // Until then it takes no message of the ring but those about members.
  bool awaits_namesake(Time now) const { return !confirmed_ && now < begins(); }

  // The message answers the current question.
  bool is_answer(const ring::TenuresCompared& answer) const { return answer.nonce != 0 && answer.nonce == nonce_; }
  // An answer whose tenures were learned already.
  void hear(Time now, const ring::PeerId& from, const ring::TenuresCompared& answer);

  Result<void> tick(const Step& step);
  std::optional<Time> next_deadline() const;
  ring::TableSizes tables() const;

 private:
  void confirm();
  bool down_ones_had_their_time(Time now) const;
  void ask(const Step& step);
  void ask_namesake(const Step& step);
  Time begins() const;

  const PeerState* state_;
  const Members* members_;
  const Messenger* messenger_;
  Replication* replication_;
  Farewell* farewell_;
  bool confirmed_ = false;
  bool members_lost_ = false;
  std::optional<std::string> moved_from_;
  std::optional<Time> since_;  // when it began to ask
  std::uint64_t nonce_ = 0;
  std::set<ring::PeerId> answered_;      // the nonce
  std::set<ring::PeerId> confirmed_by_;  // of these, those that are confirmed themselves
  std::set<ring::PeerId> unanswered_;    // of those asked last
  std::size_t group_ = 0;                // how many were
  Time next_question_{};
  ring::PeerId last_asked_;
  ring::PeerId last_asked_down_;
};

}  // namespace orbweaver
