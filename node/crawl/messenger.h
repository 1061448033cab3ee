// Messages to other peers: each in the envelope that its receiver understands, with the fingerprints by which peers
// find out that they know different things. Thread rule: one owner (the peer's loop).
#pragma once

#include <vector>

#include "node/crawl/events.h"
#include "ring/membership.h"
#include "ring/tenures.h"

namespace orbweaver {

class Messenger {
 public:
  // Both outlive it. `tenures`: those whose fingerprint goes with probes.
  Messenger(const ring::Membership& membership, const ring::Tenures& tenures)
      : membership_(&membership), tenures_(&tenures) {}

  // All zero: this peer has not joined its ring yet.
  void set_ring(const ring::RingId& ring) { ring_ = ring; }
  void set_seeds_fingerprint(std::uint64_t fingerprint) { seeds_fingerprint_ = fingerprint; }

  // In the newest protocol version that the receiver speaks too. A receiver that is not a member gets the oldest one.
  ring::Message message(ring::Body body, const ring::PeerId& to) const;
  // To a member; nothing is sent to a peer that is not one.
  void send(const ring::PeerId& to, ring::Body body, Commands& out) const;
  // What the membership wants to be sent.
  void send_all(const std::vector<ring::Send>& sends, Commands& out) const;
  // On the connection that the question came by; without one, to the member that asked.
  void reply(const ring::ReplyPath& path, const ring::PeerId& from, ring::Body body, Commands& out) const;

 private:
  const ring::Membership* membership_;
  const ring::Tenures* tenures_;
  ring::RingId ring_;
  std::uint64_t seeds_fingerprint_ = 0;
};

}  // namespace orbweaver
