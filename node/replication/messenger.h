// Messages to other peers: each in the envelope that its receiver understands, with the fingerprints by which peers
// notice that they know different things. Thread rule: one owner (the peer's loop).
#pragma once

#include <vector>

#include "node/crawl/events.h"
#include "node/replication/members.h"
#include "ring/tenures.h"

namespace orbweaver {

class Messenger {
 public:
  // All outlive it. `tenures`: their fingerprint goes with probes.
  Messenger(const PeerState& state, const Members& members, const ring::Tenures& tenures)
      : state_(&state), members_(&members), tenures_(&tenures) {}

  // In the newest protocol version that the receiver speaks too. A receiver that is not a member gets the oldest one.
  ring::Message message(ring::Body body, const ring::PeerId& to) const;
  // To a member; nothing is sent to a peer that is not one.
  void send(const ring::PeerId& to, ring::Body body, Commands& out) const;
  // Sends what the membership wants to be sent.
  void send_all(const std::vector<ring::Send>& sends, Commands& out) const;
  // On the connection on which the question came; without one, to the member that asked.
  void reply(const ring::ReplyPath& path, const ring::PeerId& from, ring::Body body, Commands& out) const;

 private:
  const PeerState* state_;
  const Members* members_;
  const ring::Tenures* tenures_;
};

}  // namespace orbweaver
