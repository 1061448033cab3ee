// How long a suspicion waits for its refutation (Dadgar, Phillips, Currey 2018, "Lifeguard: Local Health Awareness for
// More Accurate Failure Detection", LHA-Suspicion). Pure; thread rule: one owner (Membership).
//
// A suspicion that no peer confirms may be the fault of the peer that has it, so it waits `factor` times the suspicion
// time. With each distinct other member that confirms it the wait falls, logarithmically, to the suspicion time itself:
//
//   wait = max - (max - min) * log(C + 1) / log(K + 1),   min = suspicion time, max = factor * min
//
// C: confirmations, K: confirmations wanted. K is 3 (Lifeguard's K), or 2 in a ring of four, which has only two others.
// With two or three members there is at most one other to ask, so the wait
// is always min (as in memberlist, when there are fewer others than K).
//
// What confirms it: the first-hand report of another member that it has no answer from the suspect either: its nack to
// our probe (PingAck::reached), or its request that we probe the suspect for it. Passing the suspicion on does not
// confirm it: records carry no author, so the echo of a single accusation would. This is narrower than Lifeguard's
// suspect messages and needs nothing more on the wire. A peer that probes a dead member gets up to three confirmations
// at once and buries it in time; the others accept its claim (Membership: hearsay of a death).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "ring/types.h"

namespace orbweaver::ring {

inline constexpr std::size_t max_confirmations = 3;

struct Suspicion {
  Time since{};
  std::vector<PeerId> confirmed_by;  // distinct; at most max_confirmations
  // Each peer counts once; more than max_confirmations change nothing.
  void confirm(const PeerId& by);
};

// K, by the number of reachable members (this peer and the suspects included): 0, 2 or 3.
std::size_t confirmations_wanted(std::size_t reachable);

// From suspect to down. Integers only, so that it is the same on every machine; in steps of 1/10000 of the difference.
Duration suspicion_wait(Duration min, std::uint32_t factor, std::size_t reachable, std::size_t confirmations);

}  // namespace orbweaver::ring
