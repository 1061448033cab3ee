#include "ring/membership.h"

#include <algorithm>
#include <bit>
#include <tuple>
#include <utility>

#include "ring/md5.h"

namespace orbweaver::ring {

namespace {

constexpr std::size_t max_relays = 4096;          // probes for others in flight; further requests are ignored
constexpr std::uint32_t gossip_sends_factor = 3;  // times ceil(log2(n+1)): SWIM's lambda, for a loss of a few percent

// Orders suspicion and end of life within one incarnation: left over down over suspect over not suspect.
int rank(const Member& member) {
  if (member.state == MemberState::left) return 3;
  if (member.state == MemberState::down) return 2;
  return member.suspect ? 1 : 0;
}

void append(std::string& bytes, std::uint64_t value) {
  for (int shift = 56; shift >= 0; shift -= 8) bytes.push_back(static_cast<char>((value >> shift) & 0xff));
}

}  // namespace

bool supersedes(const Member& a, const Member& b) {
  const auto key = [](const Member& m) {
    return std::make_tuple(m.incarnation, rank(m), m.state, std::string_view(m.address), m.capacity, m.started,
                           m.protocol);
  };
  return key(a) > key(b);
}

Membership::Membership(Member self, MembershipConfig config, std::uint64_t random_seed)
    : self_id_(self.id),
      config_(config),
      random_(random_seed),
      health_(config.max_health),
      sequence_(self.incarnation << 24) {
  self.suspect = false;
  if (self.started == 0) self.started = self.incarnation;
  self.protocol = protocol_version;
  put(self, Time{});
}

// ---- what is known ----

std::vector<Member> Membership::restore(const std::vector<Member>& members, Time now) {
  std::vector<Member> refused;
  for (const Member& member : members) {
    if (!plausible(member)) {
      refused.push_back(member);
      continue;
    }
    if (member.id == self_id_) {
      if (own().incarnation <= member.incarnation) refute(member, now);
      continue;
    }
    const auto known = members_.find(member.id);
    const bool fits = known == members_.end() ? !full() : supersedes(member, known->second);
    if (!fits) continue;
    put(member, now);
    gossip_.remove(member.id);  // a restored record is not news
  }
  return refused;
}

bool Membership::plausible(const Member& member) const {
  const Member* const known = find(member.id);
  return member.incarnation <= (known == nullptr ? max_first_incarnation : known->incarnation + max_incarnation_step);
}

void Membership::set_state(MemberState state, Time now) {
  Member changed = self();
  if (changed.state == state) return;
  changed.state = state;
  ++changed.incarnation;
  leave_announcement_due_ = state == MemberState::left;
  put(changed, now);
}

void Membership::merge(const std::vector<Member>& members, Time now) {
  for (const Member& member : members) merge_record(member, now);
}

void Membership::welcome(const std::vector<Member>& members, Time now) {
  for (const Member& member : members) {
    const bool unknown = !members_.contains(member.id);
    if (unknown && member.state == MemberState::down && !full() && plausible(member)) {
      put(member, now);
      gossip_.remove(member.id);
    } else {
      merge_record(member, now);
    }
  }
}

void Membership::merge_record(const Member& member, Time now) {
  const auto found = members_.find(member.id);
  const bool news = found == members_.end() ? reachable(member) : supersedes(member, found->second);
  if (!news) return;
  if (!plausible(member) || (found == members_.end() && full())) {
    ++claims_refused_;
    return;
  }
  if (found == members_.end()) return put(member, now);
  const Member& known = found->second;
  if (member.id == self_id_) return answer_claim(member, now);
  if (member.state == MemberState::down && reachable(known)) {
    // The death is hearsay. It buries only a member that this peer itself has suspected for long. Any other member may
    // answer first, and the clock runs from the first suspicion.
    const auto doubt = suspicions_.find(member.id);
    const bool doubted_already = doubt != suspicions_.end() && member.incarnation == known.incarnation;
    if (doubted_already && now < doubt->second.since + config_.suspicion_time / 2) return;
    if (!doubted_already) {
      Member doubted = known;
      doubted.incarnation = member.incarnation;
      doubted.suspect = true;
      return put(doubted, now);
    }
  }
  put(member, now);
}

// The only place that changes a record: keeps the clocks, the counts, the round and the gossip consistent with it.
void Membership::put(const Member& member, Time now) {
  const auto [at, added] = members_.try_emplace(member.id, member);
  Member& known = at->second;
  const bool was_reachable = !added && reachable(known);
  const bool same_suspicion = was_reachable && known.suspect && known.incarnation == member.incarnation;
  known = member;
  if (!reachable(known)) known.suspect = false;
  if (!known.suspect) {
    suspicions_.erase(known.id);
  } else if (!same_suspicion) {
    suspicions_[known.id] = Suspicion{now, {}};
  }
  if (reachable(known)) {
    gone_since_.erase(known.id);
    if (!was_reachable) {
      ++reachable_;
      // A newcomer's place in the round is random, so that not all peers probe it at once (SWIM, section 4.3).
      if (known.id != self_id_ &&
          std::find(round_.begin() + static_cast<std::ptrdiff_t>(round_at_), round_.end(), known.id) == round_.end()) {
        const auto place = round_at_ + below(round_.size() - round_at_ + 1);
        round_.insert(round_.begin() + static_cast<std::ptrdiff_t>(place), known.id);
      }
    }
  } else {
    gone_since_.try_emplace(known.id, now);
    if (was_reachable) --reachable_;
    std::erase_if(probes_, [&](const auto& probe) { return probe.second.target == known.id; });
  }
  gossip_.add(known.id);
  ++version_;
}

// A record of this peer itself that supersedes its own: a false claim about this process, or another process's record.
void Membership::answer_claim(const Member& claim, Time now) {
  const bool well = rank(claim) == 0;
  if (well && claim.started != 0 && claim.started < self().started) {
    duplicate_ = claim.address;  // the other process started first: no refutation, so that its record remains
    return;
  }
  if (!well) health_.worse();
  refute(claim, now);
}

void Membership::refute(const Member& claim, Time now) {
  Member refuted = self();
  refuted.incarnation = std::max(refuted.incarnation, claim.incarnation) + 1;  // a claim is far below max_incarnation
  put(refuted, now);
}

// ---- probes ----

// `with_own`: who asks says where it is to be answered. The receiver may have been away when that was news, and then
// answers at an old address.
std::vector<Member> Membership::gossip_for(const PeerId& to, bool with_own) {
  std::vector<Member> records;
  if (config_.gossip_per_message == 0) return records;
  if (with_own) records.push_back(self());
  const auto receiver = members_.find(to);
  // The receiver's own record comes first when it is not well: only the receiver can refute that.
  if (receiver != members_.end() && rank(receiver->second) > 0) records.push_back(receiver->second);
  const auto max_sends = gossip_sends_factor * static_cast<std::uint32_t>(std::bit_width(reachable_));
  for (const PeerId& id :
       gossip_.take(config_.gossip_per_message - std::min(records.size(), config_.gossip_per_message), max_sends, to)) {
    const auto member = members_.find(id);
    if (member != members_.end() && !(with_own && id == self_id_)) records.push_back(member->second);
  }
  return records;
}

std::string Membership::address_of(const PeerId& id) const {
  const auto found = members_.find(id);
  return found == members_.end() ? std::string() : found->second.address;
}

void Membership::ping(const PeerId& target, std::uint64_t sequence, std::vector<Send>& out) {
  out.push_back({target, address_of(target), Ping{sequence, gossip_for(target, true), directives_fingerprint_}});
}

void Membership::acknowledge(const PeerId& to, std::uint64_t sequence, bool reached, std::vector<Send>& out) {
  PingAck ack{sequence, gossip_for(to, false), directives_fingerprint_};
  ack.reached = reached;
  out.push_back({to, address_of(to), std::move(ack)});
}

void Membership::on_ping(const PeerId& from, const Ping& ping, Time now, std::vector<Send>& out) {
  for (const Member& member : ping.gossip) merge_record(member, now);
  is_alive(from);
  if (from != self_id_) acknowledge(from, ping.sequence, true, out);
}

void Membership::on_ping_request(const PeerId& from, const PingRequest& request, Time now, std::vector<Send>& out) {
  for (const Member& member : request.gossip) merge_record(member, now);
  is_alive(from);
  if (from == self_id_ || request.target.id == from) return;
  merge_record(request.target, now);
  if (request.target.id == self_id_) return acknowledge(from, request.sequence, true, out);  // this peer is the target
  const auto target = members_.find(request.target.id);
  if (target == members_.end() || !reachable(target->second)) return acknowledge(from, request.sequence, false, out);
  if (target->second.incarnation == request.target.incarnation) confirm(target->first, from);
  // An asker has one probe of a target under way: what it asked before is over. A peer that stood still reads many.
  std::erase_if(relays_, [&](const Relay& one) { return one.asker == from && one.target == target->first; });
  if (relays_.size() >= max_relays) return;
  relays_.push_back({++sequence_, target->first, from, request.sequence, now + config_.probe_timeout});
  ping(target->first, sequence_, out);
}

void Membership::on_ping_ack(const PeerId& from, const PingAck& ack, Time now, std::vector<Send>& out) {
  for (const Member& member : ack.gossip) merge_record(member, now);
  is_alive(from);
  const auto probe = probes_.find(ack.sequence);
  if (probe != probes_.end()) {
    const std::vector<PeerId>& asked = probe->second.relays;
    std::vector<PeerId>& nacks = probe->second.nacks;
    if (std::find(asked.begin(), asked.end(), from) == asked.end()) return;
    if (ack.reached) {
      probes_.erase(probe);
      health_.better();
    } else if (std::find(nacks.begin(), nacks.end(), from) == nacks.end()) {
      nacks.push_back(from);
    }
    return;
  }
  const auto relay = std::find_if(relays_.begin(), relays_.end(), [&](const Relay& waiting) {
    return waiting.sequence == ack.sequence && waiting.target == from;
  });
  if (relay == relays_.end()) return;
  const Relay answered = *relay;
  relays_.erase(relay);
  acknowledge(answered.asker, answered.asker_sequence, true, out);
}

void Membership::heard_from(const PeerId& from, std::uint64_t incarnation, Time now) {
  const Member* const known = find(from);
  if (known == nullptr) return;
  if (known->incarnation == incarnation) heard_at_[from] = now;
  is_alive(from);
}

void Membership::is_alive(const PeerId& from) {
  if (std::erase_if(probes_, [&](const auto& probe) { return probe.second.target == from; }) > 0) health_.better();
}

std::optional<PeerId> Membership::next_target() {
  const auto is_under_way = [this](const PeerId& id) {
    return std::any_of(probes_.begin(), probes_.end(), [&](const auto& probe) { return probe.second.target == id; });
  };
  for (int rounds = 0; rounds < 2; ++rounds) {
    while (round_at_ < round_.size()) {
      const PeerId id = round_[round_at_++];
      const auto member = members_.find(id);
      if (member != members_.end() && reachable(member->second) && !is_under_way(id)) return id;
    }
    round_.clear();
    round_at_ = 0;
    for (const auto& [id, member] : members_) {
      if (id != self_id_ && reachable(member)) round_.push_back(id);
    }
    for (std::size_t left = round_.size(); left > 1; --left) std::swap(round_[left - 1], round_[below(left)]);
  }
  return std::nullopt;
}

void Membership::start_probe(Time now, std::vector<Send>& out) {
  const std::optional<PeerId> target = next_target();
  if (!target) return;
  probes_.emplace(++sequence_, Probe{*target, now, health_.stretched(config_.probe_timeout), {}, {}});
  ping(*target, sequence_, out);
}

void Membership::follow_probes(Time now, std::vector<Send>& out) {
  std::vector<Probe> failed;
  for (auto at = probes_.begin(); at != probes_.end();) {
    Probe& probe = at->second;
    if (now >= probe.started + 3 * probe.timeout) {
      failed.push_back(std::move(probe));
      at = probes_.erase(at);
      continue;
    }
    if (!probe.indirect && now >= probe.deadline()) {
      probe.indirect = true;
      probe.relays = random_peers(config_.indirect_probes, probe.target, false);
      for (const PeerId& relay : probe.relays) {
        out.push_back(
            {relay, address_of(relay), PingRequest{at->first, members_.at(probe.target), gossip_for(relay, true)}});
      }
    }
    ++at;
  }
  for (const Probe& probe : failed) {
    if (probe.relays.empty() || probe.nacks.size() < probe.relays.size()) health_.worse();
    suspect(probe.target, now);
    for (const PeerId& relay : probe.nacks) confirm(probe.target, relay);
  }
  // One that is down may be back, and know nobody but the peer that fails now.
  if (!failed.empty()) ask_about_all(random_peers(1, self_id_, true), out);
}

// Sends the nacks that are due. A relay is kept for the rest of the asker's wait, for an answer that comes later.
void Membership::follow_relays(Time now, std::vector<Send>& out) {
  while (!relays_.empty() && relays_.front().nack_due + config_.probe_timeout <= now) relays_.pop_front();
  for (Relay& relay : relays_) {
    if (relay.nack_due > now) break;
    if (relay.nacked) continue;
    relay.nacked = true;
    acknowledge(relay.asker, relay.asker_sequence, false, out);
  }
}

// ---- suspicion and the end ----

void Membership::suspect(const PeerId& id, Time now) {
  const auto found = members_.find(id);
  if (found == members_.end() || !reachable(found->second) || found->second.suspect) return;
  Member doubted = found->second;
  doubted.suspect = true;
  put(doubted, now);
}

// `by` reports at first hand that it has no answer from the suspect.
void Membership::confirm(const PeerId& suspect, const PeerId& by) {
  const auto suspicion = suspicions_.find(suspect);
  const Member* witness = find(by);
  if (suspicion == suspicions_.end() || witness == nullptr || !reachable(*witness)) return;
  suspicion->second.confirm(by);
}

Time Membership::end_of(const Suspicion& suspicion) const {
  return suspicion.since +
         suspicion_wait(config_.suspicion_time, config_.suspicion_factor, reachable_, suspicion.confirmed_by.size());
}

void Membership::bury_suspects(Time now) {
  for (;;) {  // each burial may shorten the wait of the others: the ring is smaller
    const auto due = std::find_if(suspicions_.begin(), suspicions_.end(),
                                  [&](const auto& entry) { return now >= end_of(entry.second); });
    if (due == suspicions_.end()) return;
    Member gone = members_.at(due->first);
    // A member that never became active has nothing that could return with it.
    gone.state = gone.state == MemberState::joining ? MemberState::left : MemberState::down;
    gone.suspect = false;
    put(gone, now);
  }
}

void Membership::forget_gone(Time now) {
  std::erase_if(gone_since_, [&](const auto& entry) {
    const auto& [id, since] = entry;
    if (now < since + config_.forget_after || id == self_id_) return false;
    members_.erase(id);
    heard_at_.erase(id);
    gossip_.remove(id);
    ++version_;
    return true;
  });
}

void Membership::announce_leave(std::vector<Send>& out) {
  leave_announcement_due_ = false;
  for (const auto& [id, member] : members_) {
    if (id != self_id_ && reachable(member)) out.push_back({id, member.address, Sync{false, {self()}, {}}});
  }
}

// ---- time ----

void Membership::exchange(Time, std::vector<Send>& out) {
  // One member that is up, and one that is down: so that the two sides of a healed network split find each other.
  for (const bool down_ones : {false, true}) ask_about_all(random_peers(1, self_id_, down_ones), out);
}

void Membership::ask_about_all(const std::vector<PeerId>& peers, std::vector<Send>& out) const {
  for (const PeerId& id : peers) out.push_back({id, address_of(id), Sync{true, member_list(), {}}});
}

// The loop calls tick() at next_deadline(). Much later means that this
// process was stopped, and that it received nothing through its own fault.
void Membership::forgive_lateness(Time now) {
  const Time due = next_deadline();
  if (now <= due + probe_lifetime()) return;
  const Duration late = now - due;
  for (auto& [sequence, probe] : probes_) probe.started += late;
  for (auto& [id, suspicion] : suspicions_) suspicion.since = std::min(suspicion.since + late, now);
  for (Relay& relay : relays_) relay.nack_due = std::min(relay.nack_due + late, now + config_.probe_timeout);
}

TableSizes Membership::tables() const {
  return {{"membership.members", members_.size()}, {"membership.suspicions", suspicions_.size()},
          {"membership.gone", gone_since_.size()}, {"membership.heard", heard_at_.size()},
          {"membership.gossip", gossip_.size()},   {"membership.probes", probes_.size()},
          {"membership.relays", relays_.size()},   {"membership.round", round_.size()}};
}

void Membership::tick(Time now, std::vector<Send>& out) {
  if (leave_announcement_due_) announce_leave(out);
  if (self().state == MemberState::left) {
    probes_.clear();
    return;
  }
  if (!started_) {
    started_ = true;
    // A random phase, so that peers started together do not probe and exchange in step.
    next_probe_ =
        now + Duration(static_cast<Duration::rep>(below(static_cast<std::uint64_t>(config_.probe_every.count()))));
    next_sync_ =
        now + Duration(static_cast<Duration::rep>(below(static_cast<std::uint64_t>(config_.sync_every.count()))));
  }
  forgive_lateness(now);
  follow_probes(now, out);
  follow_relays(now, out);
  bury_suspects(now);
  if (now >= next_probe_) {
    start_probe(now, out);
    const Duration period = health_.stretched(config_.probe_every);
    next_probe_ += period;
    if (next_probe_ <= now) next_probe_ = now + period;
  }
  if (now >= next_sync_) {
    forget_gone(now);
    exchange(now, out);
    next_sync_ += config_.sync_every;
    if (next_sync_ <= now) next_sync_ = now + config_.sync_every;
  }
}

Time Membership::next_deadline() const {
  if (leave_announcement_due_ || !started_) return Time{};
  if (self().state == MemberState::left) return Time::max();
  Time next = std::min(next_probe_, next_sync_);
  for (const auto& [sequence, probe] : probes_) next = std::min(next, probe.deadline());
  for (const auto& [id, suspicion] : suspicions_) next = std::min(next, end_of(suspicion));
  const auto nack = std::find_if(relays_.begin(), relays_.end(), [](const Relay& relay) { return !relay.nacked; });
  if (nack != relays_.end()) next = std::min(next, nack->nack_due);
  return next;
}

// ---- the rest ----

// The modulo's bias does not matter (bounds are far below 2^64). Unlike std::uniform_int_distribution this is the same
// everywhere.
std::uint64_t Membership::below(std::uint64_t bound) { return bound == 0 ? 0 : random_() % bound; }

// Up to `count` distinct members that are down, or that are reachable;
// never this peer. It takes suspects only when all of them are suspects.
std::vector<PeerId> Membership::random_peers(std::size_t count, const PeerId& not_this, bool down_ones) {
  std::vector<PeerId> good;
  std::vector<PeerId> doubtful;
  for (const auto& [id, member] : members_) {
    if (id == self_id_ || id == not_this) continue;
    if (down_ones ? member.state != MemberState::down : !reachable(member)) continue;
    (member.suspect ? doubtful : good).push_back(id);
  }
  std::vector<PeerId>& from = good.empty() ? doubtful : good;
  const std::size_t wanted = std::min(count, from.size());
  for (std::size_t i = 0; i < wanted; ++i) std::swap(from[i], from[i + below(from.size() - i)]);
  from.resize(wanted);
  return std::move(from);
}

bool Membership::lives_elsewhere(const Member& joiner, Time now) const {
  if (joiner.id == self_id_) return joiner.started != self().started;
  const Member* known = find(joiner.id);
  if (known == nullptr || !reachable(*known) || known->suspect) return false;
  if (known->address == joiner.address || known->started == joiner.started) return false;
  const auto heard = heard_at_.find(joiner.id);
  return heard != heard_at_.end() && now <= heard->second + 3 * config_.probe_every;
}

Sync Membership::answer(const Sync& sync) const {
  const Member* const alone = sync.members.size() == 1 ? find(sync.members.front().id) : nullptr;
  return Sync{false, alone != nullptr ? std::vector<Member>{*alone} : member_list(), {}};
}

void Membership::set_directives_fingerprint(std::uint64_t fingerprint) { directives_fingerprint_ = fingerprint; }

const Member& Membership::self() const { return members_.at(self_id_); }

const std::map<PeerId, Member>& Membership::members() const { return members_; }

std::vector<Member> Membership::member_list() const {
  std::vector<Member> list;
  list.reserve(members_.size());
  for (const auto& [id, member] : members_) list.push_back(member);
  return list;
}

const Member* Membership::find(const PeerId& id) const {
  const auto found = members_.find(id);
  return found == members_.end() ? nullptr : &found->second;
}

std::uint64_t Membership::version() const { return version_; }

std::uint64_t Membership::states_fingerprint() const {
  std::uint64_t sum = 0;
  for (const auto& [id, member] : members_) {
    if (!reachable(member)) continue;
    std::uint64_t mixed = static_cast<std::uint64_t>(member.state) + 1;
    for (const std::uint8_t byte : id.bytes) mixed = (mixed ^ byte) * 0x100000001b3;  // FNV-1a
    sum += (mixed ^ (mixed >> 32)) * 0x9e3779b97f4a7c15;
  }
  return sum;
}

std::uint64_t Membership::fingerprint() const {
  std::string described;
  for (const auto& [id, member] : members_) {
    if (!reachable(member)) continue;
    described.append(reinterpret_cast<const char*>(id.bytes.data()), id.bytes.size());
    append(described, static_cast<std::uint64_t>(member.state) * 2 + (member.suspect ? 1 : 0));
    append(described, member.incarnation);
    append(described, member.capacity);
    append(described, member.address.size());
    described.append(member.address);
    append(described, member.started);
    append(described, member.protocol);
  }
  return leading_bits(md5(described));
}

}  // namespace orbweaver::ring
