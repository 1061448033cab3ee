// Who is alive: SWIM (Das, Gupta, Motivala 2002): probe, indirect probe, suspicion with refutation by incarnation,
// piggybacked gossip, and a periodic full exchange; with the refinements of Lifeguard (Dadgar, Phillips, Currey 2018):
// local_health.h stretches the probes of a peer that keeps up badly, suspicion.h the suspicions that no peer confirms,
// and a suspect is the first to learn of its suspicion. Pure: no socket, clock or thread; `now` comes in, messages go
// out. Thread rule: one owner (the peer's loop).
//
// Everything random comes from `random_seed`:
// the same seed and the same calls give the same messages. Memory is bounded by max_members.
//
// Where this differs from the papers:
//
// - Several probes may be in flight. The direct one gets probe_timeout, the indirect ones twice that in addition,
//   whatever probe_every is. Both are multiplied by the local health as it was when the probe began. A relay answers
//   with a nack after probe_timeout, unstretched, and still passes on an answer that comes later.
// - A ping carries the record of the peer that sends it, and so does a request for one: the answer goes to where that
//   peer is now, also from a member that was away when it moved.
// - A ping to a suspected member carries that suspicion, so that the member can refute it at once (Lifeguard's buddy
//   system).
// - Hearsay of a death buries only a member that this peer has itself suspected for half the suspicion time; any other
//   becomes suspect. Else, after a network split heals, each side would bury its own living neighbours.
// - A tick that comes late (a suspended process, a loaded machine) moves suspicions and probes in flight later by the
//   same time: the silence was ours (after Lifeguard's local health). So pass in the waiting messages before calling
//   tick().
// - A member that leaves announces it to all reachable members at once.
//
// Records come from outside. A record whose incarnation is too far off (messages.h: max_first_incarnation,
// max_incarnation_step) is skipped and counted, whichever peer it is about. So a claim about a peer can always be
// refuted: the refutation is one step above it.
//
// Identity: Member::started tells processes apart. Of two processes with one id (a copied data directory) the one that
// started first continues; the other learns of it from duplicate().
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "ring/gossip_queue.h"
#include "ring/local_health.h"
#include "ring/messages.h"
#include "ring/suspicion.h"
#include "ring/table_sizes.h"

namespace orbweaver::ring {

struct MembershipConfig {
  Duration probe_every{std::chrono::milliseconds{500}};    // one member is probed each period
  Duration probe_timeout{std::chrono::milliseconds{300}};  // then others are asked to probe it
  Duration suspicion_time{std::chrono::seconds{10}};       // from suspect to down, when others confirm it
  std::uint32_t suspicion_factor = 3;                      // times suspicion_time, when no peer confirms it
  std::uint32_t max_health = 8;                            // probes are stretched up to 1 + this times; 0: never
  Duration sync_every{std::chrono::seconds{15}};           // full exchange with a random member
  Duration forget_after{std::chrono::hours{24}};           // down and left members are forgotten, within sync_every
  std::size_t indirect_probes = 3;
  std::size_t gossip_per_message = 32;  // at most, members piggybacked on a ping or ack: 2 KB when there is much news
};

// Whether record `a` of a member replaces record `b` of the same member. This is the precedence of types.h, made total
// by (address, capacity, started, protocol), so that peers that know the same records agree.
bool supersedes(const Member& a, const Member& b);

// A message to a peer, by id and address. Use the address (the transport may not know the id yet). An empty address:
// the peer is not a known member, so it can be answered only on the connection of its message.
struct Send {
  PeerId to;
  std::string address;
  Body body;
};

class Membership {
 public:
  // `self.incarnation` must be larger than any that this peer ever used. A `self.started` of 0 becomes the incarnation;
  // `protocol` is set here.
  Membership(Member self, MembershipConfig config, std::uint64_t random_seed);

  // Members known from the last run. They keep their state (and the partitions they owned) until a message comes from
  // them, or they are suspected and declared down. Returns the members that it rejected for their incarnations.
  std::vector<Member> restore(const std::vector<Member>& members, Time now);
  // Whether a record's incarnation is near enough to the member's known one.
  bool plausible(const Member& member) const;
  // Records that were skipped: not plausible, or of unknown members when max_members are known.
  std::uint64_t claims_refused() const { return claims_refused_; }
  bool full() const { return members_.size() >= max_members; }

  // Changes this peer's own state (joining -> active -> leaving -> left); raises its incarnation and gossips it.
  void set_state(MemberState state, Time now);

  // Merges records from Welcome, Sync, BatchRefused. A record of this peer itself that supersedes its own is
  // refuted, unless it comes from a process that has this identity and started before this one: see duplicate().
  // Skips records of left or down members that are unknown here: else two peers could keep each other from ever
  // forgetting one.
  void merge(const std::vector<Member>& members, Time now);
  // merge() of a Welcome's records. It also adds down members,
  // because a newcomer must know which members the ring waits for.
  void welcome(const std::vector<Member>& members, Time now);

  // The three probe messages; answers are appended to `out`.
  void on_ping(const PeerId& from, const Ping& ping, Time now, std::vector<Send>& out);
  void on_ping_request(const PeerId& from, const PingRequest& request, Time now, std::vector<Send>& out);
  void on_ping_ack(const PeerId& from, const PingAck& ack, Time now, std::vector<Send>& out);
  // Any message from a peer shows that it is alive:
  // clears a probe in flight to it (not a suspicion: only the peer itself refutes that). `incarnation`: the message's.
  void heard_from(const PeerId& from, std::uint64_t incarnation, Time now);

  // The address of another living process with this identity that started before this one, once known. This peer must
  // then end, naming it, without announcing a leave (which would be the other's). Only a record that is well
  // (reachable, not suspect) counts: others suspect a dead process within seconds.
  std::optional<std::string> duplicate() const { return duplicate_; }
  // Whether the joiner's identity belongs to a process that lives at another address: that member is reachable and not
  // suspect, and it sent a message within the last three probe periods. A message of another incarnation than the
  // member's does not count: it may be the joiner's, which has started again elsewhere.
  bool lives_elsewhere(const Member& joiner, Time now) const;

  void tick(Time now, std::vector<Send>& out);
  // When tick() is next wanted; until then it does nothing. The epoch (at once) before the first tick. At most
  // probe_every from now, stretched by the local health. For a peer that has left it is Time::max(), never.
  Time next_deadline() const;

  // To a Sync that asks for an answer, once its members are merged: the whole view; or what is known of the sender,
  // when its own record is all that it sent. The owner adds the seeds to the Sync messages of tick().
  Sync answer(const Sync& sync) const;

  // Copied into pings and acks; set by the owner whenever its seed set changes.
  void set_directives_fingerprint(std::uint64_t fingerprint);
  std::uint64_t directives_fingerprint() const { return directives_fingerprint_; }

  const Member& self() const;
  // All known members by id, this peer among them; down and left ones too until forgotten.
  const std::map<PeerId, Member>& members() const;
  std::vector<Member> member_list() const;
  const Member* find(const PeerId& id) const;
  // Grows with every change of any member's record; for "has the view changed since".
  std::uint64_t version() const;
  // Covers everything in the records of the reachable members (a newcomer never learns of those gone before it). Equal
  // when two peers know the same (the membership's fingerprint, not the ring's). Cost: about 0.1 us per member.
  std::uint64_t fingerprint() const;
  // Of the identities and states of the reachable members: what another peer must know to judge who is gone. Cost: some
  // nanoseconds per member.
  std::uint64_t states_fingerprint() const;
  // The local health score: 0 is well, max_health the worst.
  std::uint32_t health() const { return health_.score(); }
  TableSizes tables() const;

 private:
  struct Probe {
    PeerId target;
    Time started;
    Duration timeout;            // until the relays are asked; the probe fails after twice that again
    std::vector<PeerId> relays;  // asked to probe for us
    std::vector<PeerId> nacks;   // the relays that have no answer either
    bool indirect = false;       // the relays were asked
    Time deadline() const { return started + (indirect ? 3 : 1) * timeout; }
  };
  // A probe for another peer. The asker gets an answer when the target acknowledges `sequence`, or does not in time.
  struct Relay {
    std::uint64_t sequence;
    PeerId target;
    PeerId asker;
    std::uint64_t asker_sequence;
    Time nack_due;
    bool nacked = false;
  };
  Member& own() { return members_.at(self_id_); }
  void merge_record(const Member& member, Time now);
  void put(const Member& member, Time now);
  void answer_claim(const Member& claim, Time now);
  void refute(const Member& claim, Time now);
  void forgive_lateness(Time now);
  void ping(const PeerId& target, std::uint64_t sequence, std::vector<Send>& out);
  void start_probe(Time now, std::vector<Send>& out);
  void follow_probes(Time now, std::vector<Send>& out);
  void follow_relays(Time now, std::vector<Send>& out);
  void is_alive(const PeerId& from);
  void acknowledge(const PeerId& to, std::uint64_t sequence, bool reached, std::vector<Send>& out);
  void confirm(const PeerId& suspect, const PeerId& by);
  Time end_of(const Suspicion& suspicion) const;
  void suspect(const PeerId& id, Time now);
  void bury_suspects(Time now);
  void exchange(Time now, std::vector<Send>& out);
  void ask_about_all(const std::vector<PeerId>& peers, std::vector<Send>& out) const;
  void forget_gone(Time now);
  void announce_leave(std::vector<Send>& out);
  std::optional<PeerId> next_target();
  std::vector<PeerId> random_peers(std::size_t count, const PeerId& not_this, bool down_ones);
  std::vector<Member> gossip_for(const PeerId& to, bool with_own);
  std::string address_of(const PeerId& id) const;
  std::uint64_t below(std::uint64_t bound);
  Duration probe_lifetime() const { return 3 * config_.probe_timeout; }  // unstretched

  PeerId self_id_;
  MembershipConfig config_;
  std::mt19937_64 random_;
  std::map<PeerId, Member> members_;
  std::map<PeerId, Suspicion> suspicions_;  // of the members that are reachable and suspect
  std::map<PeerId, Time> gone_since_;       // of the members that left or are down: when this peer learned it
  std::map<PeerId, Time> heard_at_;         // the last message of each member, as its record is
  std::size_t reachable_ = 0;               // this peer among them
  LocalHealth health_;
  std::optional<std::string> duplicate_;
  GossipQueue gossip_;
  std::uint64_t version_ = 1;
  std::uint64_t directives_fingerprint_ = 0;
  std::uint64_t claims_refused_ = 0;

  std::map<std::uint64_t, Probe> probes_;  // in flight, by sequence
  std::deque<Relay> relays_;               // by nack_due; bounded, see membership.cc
  std::uint64_t
      sequence_;  // of the last probe; the incarnation comes first, so answers to an earlier life find nothing
  std::vector<PeerId> round_;  // this round's order of probing
  std::size_t round_at_ = 0;   // the next to probe in it
  bool started_ = false;
  bool leave_announcement_due_ = false;
  Time next_probe_{};
  Time next_sync_{};
};

}  // namespace orbweaver::ring
