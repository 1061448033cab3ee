// Who is alive: SWIM (Das, Gupta, Motivala 2002): probe, indirect probe, suspicion with refutation by incarnation,
// piggybacked gossip, and a periodic full exchange; with the refinements of Lifeguard (Dadgar, Phillips, Currey 2018):
// local_health.h stretches the probes of a peer that keeps up badly, suspicion.h the suspicions that nobody confirms,
// and who is suspected is told first. Pure: no socket, clock or thread; `now` comes in, messages go out. Thread rule:
// one owner (the peer's loop).
//
// Everything random comes from `random_seed`: same seed and same calls, same messages. Memory is bounded by
// members_max.
//
// Where this differs from the papers:
//
// - Several probes may be in flight: the direct one gets probe_timeout, the indirect ones twice that again, whatever
//   probe_every is; all of it times the local health multiplier, as it was when the probe began. A relay answers with a
//   nack after probe_timeout, unstretched, and still passes on an answer that comes later.
// - A suspected member that is pinged is told so in the same ping, so that it can refute at once (Lifeguard's buddy
//   system).
// - Hearsay of a death buries only whom this peer has itself suspected for half the suspicion time; any other it makes
//   suspect. After a cut heals, each side would else bury its own living neighbours on the other side's word.
// - A tick that comes late (a suspended process, a loaded machine) moves suspicions and probes in flight on by as much
//   as it was late: the silence was ours (after Lifeguard's local health). So hand over the messages that wait before
//   calling tick().
// - A member that leaves says so to everyone at once.
//
// Records come from outside: one whose incarnation is too far off (messages.h: clock_lead_max, incarnation_step_max) is
// left out and counted, whoever it is about. So a word against a peer can always be refuted: the refutation is one
// step above it.
//
// Identity: Member::started tells processes apart. Of two with one id (a copied data directory) the one that started
// first continues, the other learns it from duplicate().
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

namespace orbweaver::ring {

struct MembershipConfig {
  Duration probe_every{std::chrono::milliseconds{500}};    // one member is probed each period
  Duration probe_timeout{std::chrono::milliseconds{300}};  // then others are asked to probe it
  Duration suspicion_time{std::chrono::seconds{10}};       // from suspect to down, when others confirm it
  std::uint32_t suspicion_factor = 3;                      // times suspicion_time, when nobody does
  std::uint32_t health_max = 8;                            // probes are stretched up to 1 + this times; 0: never
  Duration sync_every{std::chrono::seconds{15}};           // full exchange with a random member
  Duration forget_after{std::chrono::hours{24}};           // down and left members are forgotten, within sync_every
  std::size_t indirect_probes = 3;
  std::size_t gossip_per_message = 32;  // members piggybacked on a ping or ack, at most: 2 KB when there is much news
};

// Whether record `a` of a member replaces record `b` of the same member: the precedence of types.h, made total
// (address, capacity, started, protocol), so that peers that know the same records agree.
bool supersedes(const Member& a, const Member& b);

// To a peer by id and address; the address is the one to use (the id may not be known to the transport yet). An empty
// address: the peer is not a known member, so it can be answered only on the connection its message came by.
struct Send {
  PeerId to;
  std::string address;
  Body body;
};

class Membership {
 public:
  // `self.incarnation` must be larger than any this peer ever used (microseconds since the epoch at start). `started`
  // and `protocol` of `self` are set here.
  Membership(Member self, MembershipConfig config, std::uint64_t random_seed);

  // Members known from the last run: they count as they were (and own what they owned) until heard of or suspected and
  // declared down. Answers those that were not taken, for their incarnations.
  std::vector<Member> restore(const std::vector<Member>& members, Time now);
  // Whether a record's incarnation is near enough to the clock, or to what is known of the member.
  bool plausible(const Member& member, Time now) const;
  // Records that were left out: not plausible, or of unknown members when members_max are known.
  std::uint64_t claims_refused() const { return claims_refused_; }
  bool full() const { return members_.size() >= members_max; }

  // Changes this peer's own state (joining -> active -> leaving -> left); raises its incarnation and gossips it.
  void set_state(MemberState state, Time now);

  // Merges records from Welcome, Sync, BatchRefused. A record of this peer itself that supersedes its own is refuted,
  // unless it is the word of a process that has this identity and started before this one: see duplicate().
  // Records of left or down members that are not known here are skipped: else two peers could keep each other from ever
  // forgetting one.
  void merge(const std::vector<Member>& members, Time now);
  // merge() of a Welcome's records: down members are taken up as well, for a newcomer must know whom the ring waits
  // for.
  void welcome(const std::vector<Member>& members, Time now);

  // The three probe messages; answers are appended to `out`.
  void on_ping(const PeerId& from, const Ping& ping, Time now, std::vector<Send>& out);
  void on_ping_request(const PeerId& from, const PingRequest& request, Time now, std::vector<Send>& out);
  void on_ping_ack(const PeerId& from, const PingAck& ack, Time now, std::vector<Send>& out);
  // Any message from a peer shows that it is alive: clears a probe in flight to it (not a suspicion: only it refutes
  // that).
  void heard_from(const PeerId& from, Time now);

  // The address of another living process with this identity that started before this one, once heard of: this peer
  // must end, by name, without saying that it leaves (that would be said of the other). Only a record that is well
  // (reachable, not suspect) counts: what is left in others' memory of a dead process becomes suspect within seconds.
  std::optional<std::string> duplicate() const { return duplicate_; }
  // Whether the joiner's identity belongs to a process that lives at another address: that member is reachable and not
  // suspect, and was heard from within the last three probe periods. Ask before heard_from() of the joiner's own
  // message, which would count as the other's.
  bool lives_elsewhere(const Member& joiner, Time now) const;

  void tick(Time now, std::vector<Send>& out);
  // When tick() is next wanted; until then it does nothing. The epoch (at once) before the first tick. Never farther
  // off than probe_every, stretched by the local health, except for a peer that has left: there Time::max(), never.
  Time next_deadline() const;

  // The whole view, for an answer to a Sync that asks for one. The owner adds the seeds, here and to the Sync messages
  // of tick().
  Sync sync_message(bool reply_wanted) const;

  // Copied into pings and acks; set by the owner whenever its seed set changes.
  void set_seeds_fingerprint(std::uint64_t fingerprint);
  std::uint64_t seeds_fingerprint() const { return seeds_fingerprint_; }

  const Member& self() const;
  // All known members by id, this peer among them; down and left ones too until forgotten.
  const std::map<PeerId, Member>& members() const;
  std::vector<Member> member_list() const;
  const Member* find(const PeerId& id) const;
  // Grows with every change of any member's record; for "has the view changed since".
  std::uint64_t version() const;
  // Over everything in the records of the reachable members (a newcomer never hears of those gone before it): equal
  // when two peers know the same (the membership's fingerprint, not the ring's). Cost: about 0.1 us a member.
  std::uint64_t fingerprint() const;
  // The local health score: 0 is well, health_max the worst.
  std::uint32_t health() const { return health_.score(); }

 private:
  struct Probe {
    PeerId target;
    Time started;
    Duration timeout;            // until the relays are asked; twice that again until it has failed
    std::vector<PeerId> relays;  // asked to probe for us
    std::vector<PeerId> nacks;   // those of them that have no answer either
    bool indirect = false;       // the relays were asked
    Time deadline() const { return started + (indirect ? 3 : 1) * timeout; }
  };
  // A probe for another peer: when the target acknowledges our `sequence`, or does not in time, the asker is told.
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
  void acknowledge(const PeerId& to, std::uint64_t sequence, bool reached, std::vector<Send>& out);
  void confirm(const PeerId& suspect, const PeerId& by);
  Time end_of(const Suspicion& suspicion) const;
  void suspect(const PeerId& id, Time now);
  void bury_suspects(Time now);
  void exchange(Time now, std::vector<Send>& out);
  void forget_gone(Time now);
  void announce_leave(std::vector<Send>& out);
  std::optional<PeerId> next_target();
  std::vector<PeerId> random_peers(std::size_t count, const PeerId& not_this, bool down_ones);
  std::vector<Member> gossip_for(const PeerId& to);
  std::string address_of(const PeerId& id) const;
  std::uint64_t below(std::uint64_t bound);
  Duration probe_lifetime() const { return 3 * config_.probe_timeout; }  // unstretched

  PeerId self_id_;
  MembershipConfig config_;
  std::mt19937_64 random_;
  std::map<PeerId, Member> members_;
  std::map<PeerId, Suspicion> suspicions_;  // of those reachable and suspect
  std::map<PeerId, Time> gone_since_;       // of those left or down: when this peer learned it
  std::map<PeerId, Time> heard_at_;         // the last message of each member that sent one
  std::size_t reachable_ = 0;               // this peer among them
  LocalHealth health_;
  std::optional<std::string> duplicate_;
  GossipQueue gossip_;
  std::uint64_t version_ = 1;
  std::uint64_t seeds_fingerprint_ = 0;
  std::uint64_t claims_refused_ = 0;

  std::map<std::uint64_t, Probe> probes_;  // in flight, by sequence
  std::deque<Relay> relays_;               // by nack_due; bounded, see membership.cc
  std::uint64_t sequence_ = 0;
  std::vector<PeerId> round_;  // this round's order of probing
  std::size_t round_at_ = 0;   // the next to probe in it
  bool started_ = false;
  bool leave_announcement_due_ = false;
  Time next_probe_{};
  Time next_sync_{};
};

}  // namespace orbweaver::ring
