// Who is alive: SWIM (Das, Gupta, Motivala 2002): probe, indirect probe, suspicion with refutation by incarnation, piggybacked
// gossip, and a periodic full exchange. Pure: no socket, clock or thread; `now` comes in, messages go out.
// Thread rule: one owner (the peer's loop).
#pragma once

#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "ring/messages.h"

namespace orbweaver::ring {

struct MembershipConfig {
  Duration probe_every{std::chrono::milliseconds{500}};     // one member is probed each period
  Duration probe_timeout{std::chrono::milliseconds{300}};   // then others are asked to probe it
  Duration suspicion_time{std::chrono::seconds{10}};        // from suspect to down
  Duration sync_every{std::chrono::seconds{15}};            // full exchange with a random member
  Duration forget_after{std::chrono::hours{24}};            // down and left members are forgotten
  std::size_t indirect_probes = 3;
  std::size_t gossip_per_message = 8;                       // members piggybacked on a ping or ack
};

// To a peer by id and address; the address is the one to use (the id may not be known to the transport yet).
struct Send {
  PeerId to;
  std::string address;
  Body body;
};

class Membership {
 public:
  // `self.incarnation` must be larger than any this peer ever used (microseconds since the epoch at start).
  Membership(Member self, MembershipConfig config, std::uint64_t random_seed);

  // Members known from the last run: they count as they were (and own what they owned) until heard of or suspected and declared down.
  void restore(const std::vector<Member>& members, Time now);

  // Changes this peer's own state (joining -> active -> leaving -> left); raises its incarnation and gossips it.
  void set_state(MemberState state, Time now);

  // Merges records from Welcome, Sync, BatchRefused or gossip. A record that calls this peer suspect or down is refuted.
  void merge(const std::vector<Member>& members, Time now);

  // The three probe messages; answers are appended to `out`.
  void on_ping(const PeerId& from, const Ping& ping, Time now, std::vector<Send>& out);
  void on_ping_request(const PeerId& from, const PingRequest& request, Time now, std::vector<Send>& out);
  void on_ping_ack(const PeerId& from, const PingAck& ack, Time now, std::vector<Send>& out);
  // Any message from a peer shows that it is alive: clears a probe under way to it (not a suspicion: only it refutes that).
  void heard_from(const PeerId& from, Time now);

  void tick(Time now, std::vector<Send>& out);
  Time next_deadline() const;

  // Copied into pings and acks; set by the owner whenever its seed set changes.
  void set_seeds_fingerprint(std::uint64_t fingerprint);

  const Member& self() const;
  // All known members by id, this peer among them; down and left ones too until forgotten.
  const std::map<PeerId, Member>& members() const;
  std::vector<Member> member_list() const;
  const Member* find(const PeerId& id) const;
  // Grows with every change of any member's record; for "has the view changed since".
  std::uint64_t version() const;
  // Over ids, states, suspicion, incarnations, addresses: equal when two peers know the same (the membership's fingerprint, not the ring's).
  std::uint64_t fingerprint() const;
};

}  // namespace orbweaver::ring
