// Failure detection for three kinds of network. Pure.
#pragma once

#include <cstdint>

namespace orbweaver::ring {

struct MembershipConfig;  // ring/membership.h

enum class NetworkPreset : std::uint8_t { lan, wan, local };

// | preset | probe_every | probe_timeout | suspicion_time | factor | for |
// | local  | 200 ms      | 100 ms        | 3 s            | 2      | all peers on one machine |
// | lan    | 500 ms      | 300 ms        | 10 s           | 3      | one site; MembershipConfig's own values |
// | wan    | 2 s         | 1 s           | 30 s           | 4      | several sites |
//
// - probe_timeout: longer than nearly every answer that is not lost. Local answers take microseconds, so 100 ms allows
//   for a busy machine's scheduling. A round trip around the world takes 300 ms, and TCP resends lost data after 200 ms
//   to 1 s (RFC 6298: 1 s before the first measurement).
// - probe_every: room for the timeout and the probes through others, and a load that does not matter: a peer sends
//   about two messages per period.
// - suspicion_time: many times what the suspect needs to learn of its suspicion and answer: gossip takes a few periods.
//   On one machine a stall is short and a death is common (tests, trials). Over several sites a network split of half a
//   minute is common, and moving partitions back and forth costs more than waiting.
// - factor: how much longer an unconfirmed suspicion waits (ring/suspicion.h). The more messages are lost, the less one
//   peer's claim is worth.
MembershipConfig preset(NetworkPreset network);

}  // namespace orbweaver::ring
