// Whether this peer may act on its tenures. It may once it has learned what the others know of the tenures, since its
// start or since its process last stood still: from one peer that is confirmed itself, or from all. Until then nothing
// is fetched, because another peer may have taken over. Only an answer to a question asked since then counts (its
// nonce): what waited in a socket meanwhile is old. Thread rule: one owner (the peer's loop).
#pragma once

#include <optional>
#include <set>

#include "node/coordination/farewell.h"

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

  // The message answers the current question.
  bool is_answer(const ring::Sync& sync) const { return !sync.reply_wanted && sync.nonce != 0 && sync.nonce == nonce_; }
  // An answer whose tenures were learned already.
  void hear(const ring::PeerId& from, const ring::Sync& answer);

  Result<void> tick(const Step& step);
  std::optional<Time> next_deadline() const;

 private:
  void confirm();

  const PeerState* state_;
  const Members* members_;
  const Messenger* messenger_;
  Replication* replication_;
  Farewell* farewell_;
  bool confirmed_ = false;
  bool members_lost_ = false;
  std::uint64_t nonce_ = 0;
  std::set<ring::PeerId> answered_;  // the nonce
  Time next_question_{};
  ring::PeerId last_asked_;  // of the last round of questions
};

}  // namespace orbweaver
