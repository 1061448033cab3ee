// Members, batches, waves and seeds: how the peer lives with the others.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "node/crawl/peer.h"
#include "node/try.h"
#include "ring/codec.h"

namespace orbweaver {

namespace {

// Another process with a joiner's identity must be heard for so long before the joiner is refused.
constexpr Duration twin_wait = std::chrono::seconds{4};
constexpr Duration join_every = std::chrono::seconds{1};
constexpr Duration finish_every = std::chrono::milliseconds{300};
// No transport holds a message longer; a wave whose number is lower than the last after that is not a late copy, but
// the last one's number was not true.
constexpr Duration late_copy_max = std::chrono::minutes{1};

std::string hours_text(Duration duration) {
  return std::to_string(std::chrono::duration_cast<std::chrono::hours>(duration).count()) + " hours";
}

}  // namespace

// --- joining

Result<void> Peer::join_tick(const Step& step) {
  const Time now = step.now;
  if (welcomed_ || join_.empty() || lifecycle_.stopping() || lifecycle_.ending() || now < next_join_) return {};
  if (lifecycle_.leaving() && !state_.has_ring)
    return farewell_.exit(step, 0, "left before any member of the ring answered");
  if (!state_.has_ring && now - state_.started > join_wait_max) {
    std::string tried;
    for (const std::string& address : join_) tried += (tried.empty() ? "" : ", ") + address;
    return farewell_.exit(
        step, ErrorCode::unreachable,
        "no member of the ring answered at " + tried +
            "; check the address, that a peer runs there, and that it has the same ring key (--ring-key-file)");
  }
  next_join_ = now + join_every;
  ring::Join join;
  join.self = membership_.self();
  join.ring = state_.ring;
  for (const auto& [name, value] : ring_wide_settings(settings_))
    if (given_.contains(name)) join.given.emplace_back(name, value);
  for (const std::string& address : join_) {
    if (address == membership_.self().address) continue;
    step.out.push_back(SendMessage{address, messenger_.message(join, {})});
    if (!state_.has_ring && now - state_.started > join_every)
      step.log(LogLevel::warning, "ring", "no answer yet, trying again", {{"join", address}}, true);
  }
  return {};
}

void Peer::on_join(Time now, const ring::Message& in, const ring::Join& join, const ring::ReplyPath& reply,
                   Commands& out) {
  if (!state_.has_ring || (lifecycle_.saying_goodbye() && !lifecycle_.crawl_finished())) return;  // it asks again
  const auto refuse = [&](std::string reason) {
    ++counters_.messages_refused;
    note(out, LogLevel::warning, "ring", "join refused",
         {{"peer", join.self.id.brief()}, {"address", join.self.address}, {"reason", reason}}, true);
    messenger_.reply(reply, in.from, ring::Refuse{std::move(reason), true}, out);
  };
  if (lifecycle_.crawl_finished()) {
    // It may have been let in by another a moment ago.
    if (end_.told()) messenger_.reply(reply, in.from, *end_.told(), out);
    return refuse("the crawl has ended");
  }
  if (join.ring != ring::RingId{} && join.ring != state_.ring)
    return refuse("the data directory there belongs to ring " + join.ring.hex() + ", and this is ring " +
                  state_.ring.hex() + "; join with a new directory");
  for (const auto& [name, value] : ring_wide_settings(settings_))
    for (const auto& [given_name, given_value] : join.given)
      if (given_name == name && given_value != value)
        return refuse("ring-wide setting '" + name + "' is " + value + " in the ring and " + given_value +
                      " at the joining peer; leave it out to take the ring's");
  if (!membership_.plausible(join.self, now))
    return refuse("its clock is more than " + hours_text(ring::clock_lead_max) + " ahead of the ring's; set it right");
  if (membership_.find(join.self.id) == nullptr && membership_.full())
    return refuse("the ring has " + std::to_string(ring::members_max) + " members, and no room for another");
  // Who was killed and started again elsewhere is not heard any more: only one that goes on living is refused.
  const bool twin = join.self.id == id();
  if (twin || membership_.lives_elsewhere(join.self, now)) {
    const Time since = twins_.try_emplace(join.self.id, now).first->second;
    if (!twin && now - since < twin_wait) return;  // it asks again
    twins_.erase(join.self.id);
    const ring::Member* other = membership_.find(join.self.id);
    return refuse("a peer with its identity is running at " + (other == nullptr ? std::string() : other->address) +
                  ": was its data directory copied? Start it with a new directory");
  }
  twins_.erase(join.self.id);
  membership_.merge({join.self}, now);
  // With those that are waited for; whom nobody waits for any more, a newcomer need not know.
  std::vector<ring::Member> members;
  for (const auto& [peer, member] : membership_.members())
    if (ring::reachable(member) || members_.waited_for(peer, now)) members.push_back(member);
  // Many seeds go in several messages; the joiner is complete when its seeds' fingerprint is ours.
  const std::vector<std::string> seeds(seeds_.all().begin(), seeds_.all().end());
  for (std::size_t at = 0; at == 0 || at < seeds.size(); at += SeedSet::per_message) {
    ring::Welcome welcome;
    welcome.ring = state_.ring;
    welcome.settings = ring_wide_settings(settings_);
    welcome.members = members;
    welcome.seeds.assign(
        seeds.begin() + static_cast<std::ptrdiff_t>(at),
        seeds.begin() + static_cast<std::ptrdiff_t>(std::min(at + SeedSet::per_message, seeds.size())));
    welcome.seeds_fingerprint = seeds_.fingerprint();
    welcome.tenures = keeper_.tenures().all();
    messenger_.reply(reply, in.from, std::move(welcome), out);
  }
}

Result<void> Peer::on_welcome(Time now, const ring::Welcome& welcome, Commands& out) {
  const Step step{now, out};
  if (state_.ring != ring::RingId{} && welcome.ring != state_.ring) return {};
  if (welcomed_) return {};
  if (!state_.has_ring) {
    const auto ahead = std::find_if(welcome.members.begin(), welcome.members.end(), [&](const ring::Member& member) {
      return ring::reachable(member) && !membership_.plausible(member, now);
    });
    if (ahead != welcome.members.end())
      return farewell_.exit(step, ErrorCode::mismatch,
                            "this machine's clock is more than " + hours_text(ring::clock_lead_max) +
                                " behind that of peer " + ahead->id.brief() + " at " + ahead->address +
                                "; set it right");
    if (Result<void> applied = apply_ring_wide(state_.settings, welcome.settings); !applied)
      return farewell_.exit(step, ErrorCode::mismatch,
                            "the ring's settings cannot be used: " + applied.error().message);
    ORBWEAVER_TRY(enter_ring(step, welcome));
  }
  membership_.welcome(welcome.members, now);
  ORBWEAVER_TRY(moves_.hear(step, welcome.tenures, true));
  ORBWEAVER_TRY(seeds_.add(step, welcome.seeds));
  // Not before it knows the whole scope: links that it judged by a part of it would be lost.
  if (seeds_.fingerprint() != welcome.seeds_fingerprint && membership_.self().state == ring::MemberState::joining)
    return {};
  welcomed_ = true;
  if (membership_.self().state == ring::MemberState::joining) membership_.set_state(ring::MemberState::active, now);
  // The others hear of this peer's state at once, not with the next probes; with its own record only, for in a large
  // ring the whole view from everyone to everyone would be much.
  ring::Sync news;
  news.members = {membership_.self()};
  for (const ring::PeerId& member : members_.others()) messenger_.send(member, news, out);
  return {};
}

// The ring's settings are known.
Result<void> Peer::enter_ring(const Step& step, const ring::Welcome& welcome) {
  state_.canonicaliser = Canonicaliser(settings_);
  state_.has_ring = true;
  state_.ring = welcome.ring;
  state_.sites = SitePolicy(settings_);
  state_.partitioner = Partitioner(settings_.partition_by, settings_.partitions);
  members_.start_view();
  keeper_ = Keeper(Replication::keeper_config(settings_), id(), settings_.partitions, *store_);
  waves_ = Waves(waves_config(settings_));
  trap_rules_ = TrapRules(settings_);
  set_order();
  start_access(false);
  mirrors_ = MirrorBook(mirror_hosts_max, settings_.trap_mirror_pages);
  ORBWEAVER_TRY(start_filter());
  storage::Commit commit;
  commit.meta.emplace_back(meta_name::ring, state_.ring.hex());
  commit.meta.emplace_back(meta_name::left, "no");
  commit.meta.emplace_back(meta_name::settings, nlohmann::json(ring_wide_settings(settings_)).dump());
  ORBWEAVER_TRY(writer_.commit(step, commit));
  seeds_.make_scope();
  step.log(LogLevel::info, "ring", "joined",
           {{"ring", state_.ring.hex()}, {"members", std::to_string(welcome.members.size())}});
  return {};
}

// --- view

Result<void> Peer::on_sync(Time now, const ring::Message& in, const ring::Sync& sync, const ring::ReplyPath& reply,
                           Commands& out) {
  const Step step{now, out};
  membership_.merge(sync.members, now);
  // A newcomer that was let in while the end was being told.
  if (lifecycle_.crawl_finished() && end_.told() && !finish_acks_.contains(in.from))
    messenger_.reply(reply, in.from, *end_.told(), out);
  farewell_.hear(now, sync.members);
  ORBWEAVER_TRY(seeds_.add(step, sync.seeds));
  ORBWEAVER_TRY(moves_.hear(step, sync.tenures, fence_.is_answer(sync)));
  if (sync.seeds_fingerprint != 0) seeds_.compare(step, in.from, sync.seeds_fingerprint);
  if (!sync.reply_wanted) {
    fence_.hear(in.from, sync);
    return {};
  }
  ring::Sync answer = membership_.sync_message(false);
  answer.nonce = sync.nonce;
  answer.confirmed = fence_.confirmed();
  if (sync.nonce != 0) answer.tenures = keeper_.tenures().all();
  messenger_.reply(reply, in.from, std::move(answer), out);
  return {};
}

Result<void> Peer::membership_changed(const Step& step) {
  replication_.plan_due = true;
  storage::Commit commit;
  ring::Sync view;
  for (const ring::Member& member : membership_.member_list())
    if (member.id != id()) view.members.push_back(member);
  commit.meta.emplace_back(meta_name::members, ring::encode(messenger_.message(std::move(view), {})));
  ORBWEAVER_TRY(writer_.commit(step, commit));
  const bool owners_changed = members_.accept_changes(step.now);
  for (const auto& [peer, member] : membership_.members()) {
    if (ring::reachable(member)) continue;
    forwarder_.forget_peer(peer);
    seeds_.forget_peer(peer);
  }
  access_->forget_strangers();
  if (!owners_changed) return {};
  step.log(LogLevel::info, "ring", "owners changed",
           {{"peers", std::to_string(std::count_if(membership_.members().begin(), membership_.members().end(),
                                                   [](const auto& m) { return ring::owns_partitions(m.second); }))},
            {"own_partitions", std::to_string(view_.empty() ? 0 : view_.ring().partitions_of(id()).size())}});
  link_cache_->clear();
  seeds_.owners_changed();
  access_->owners_changed(step.now);
  forwarder_.owners_changed(view_);
  copier_.owners_changed(view_, step.now);
  return {};
}

// --- the end

bool Peer::passive() const {
  if (!jobs_.empty() || recrawl_ || wait_for_peers_ > 0 || !seeds_.differing().empty() || seeds_.size() == 0 ||
      moves_.acknowledges_later())
    return false;
  const storage::Counts& held = store_->held();
  const bool only_lacks_pages = limited() && !may_start_page();
  return held.outbox == 0 && (held.queued == 0 || only_lacks_pages) && copier_.idle() && fence_.confirmed() &&
         !replication_.plan_due && keeper_.settled();
}

ring::WaveReply Peer::wave_reply() {
  const storage::Counts& held = store_->held();
  const std::uint64_t used = counters_.pages_fetched + pages_in_flight_;
  // What a peer without work has been granted is free for the others.
  if (held.queued == 0) cap_ = used;
  ring::WaveReply reply;
  reply.ring_fingerprint = view_.ring().fingerprint();
  reply.tenures_fingerprint = keeper_.tenures().fingerprint();
  reply.incarnation = static_cast<std::uint64_t>(std::max<std::int64_t>(state_.started.time_since_epoch().count(), 0));
  reply.passive = passive();
  reply.sent = forwarder_.batches_acknowledged();
  reply.received = counters_.batches_received;
  reply.grant_sequence = grant_applied_;
  const std::uint64_t cap = std::max(cap_, used);
  reply.counts = {{"fetched", held.fetched},
                  {"failed", held.failed},
                  {"excluded", held.excluded},
                  {"queued", held.queued},
                  {"outbox", held.outbox},
                  {"forwarded", forwarder_.records_sent()},
                  {"partitions", keeper_.held()},
                  {"cap", cap},
                  {"unspent", cap - counters_.pages_fetched},
                  {"wants", limited() && held.queued > 0 && !may_start_page() ? 1u : 0u}};
  if (settings_.max_bytes > 0) reply.counts["bytes"] = bytes_spent_;
  return reply;
}

void Peer::on_wave_probe(Time now, const ring::Message& in, const ring::WaveProbe& probe, const ring::ReplyPath& reply,
                         Commands& out) {
  // Both follow the sender's clock.
  const std::int64_t ahead = (now + ring::clock_lead_max).time_since_epoch().count();
  const auto most = static_cast<std::uint64_t>(std::max<std::int64_t>(ahead, 0));
  if (probe.wave > most || probe.grant_sequence > most)
    return refuse_message(in, "its wave is more than " + hours_text(ring::clock_lead_max) + " ahead", out);
  if (in.from == last_wave_from_ && probe.wave < last_wave_ && now - last_wave_at_ < late_copy_max) return;
  if (in.from != last_wave_from_ || probe.wave < last_wave_) grant_applied_ = 0;
  last_wave_from_ = in.from;
  last_wave_ = probe.wave;
  last_wave_at_ = now;
  if (probe.grant_sequence > grant_applied_) {
    grant_applied_ = probe.grant_sequence;
    cap_ = std::max(cap_, probe.grant_pages);
  }
  ring::WaveReply answer = wave_reply();
  answer.wave = probe.wave;
  messenger_.reply(reply, in.from, std::move(answer), out);
}

// Only a peer that is passive itself can find the others so; under a page limit waves carry the allowances too.
bool Peer::waves_wanted() const { return passive() || limited(); }

Result<void> Peer::waves_tick(Time now, Commands& out) {
  const Step step{now, out};
  if (lifecycle_.ending()) return {};
  bool complete = true;
  for (const auto& [peer, member] : membership_.members()) {
    if (member.state == ring::MemberState::joining) complete = false;
    if (members_.waited_for(peer, now)) complete = false;
  }
  const std::vector<ring::PeerId> members = members_.reachable();
  // The crawl had ended when this peer last ran, and nobody is there who has taken it up again.
  if (!waves_.end() && end_.told() && !recrawl_ && settings_.stop_when_done && members.size() == 1 &&
      fence_.confirmed() && jobs_.empty() && first_seeds_.empty() && wait_for_peers_ == 0) {
    farewell_.finish(step, end_.told()->reason, end_.told()->totals);
    return {};
  }
  if (!waves_.end()) {
    std::vector<Waves::Probe> probes;
    if (!waves_wanted()) return {};
    waves_.tick(now, id(), members, complete && !lifecycle_.stopping() && !lifecycle_.leaving(),
                view_.ring().fingerprint(), wave_reply(), probes);
    for (Waves::Probe& probe : probes) messenger_.send(probe.to, probe.probe, out);
    if (const auto grant = waves_.own_grant()) cap_ = std::max(cap_, *grant);
  }
  const auto end = waves_.end();
  if (!end) return {};
  ORBWEAVER_TRY(remember_end(step, {end->wave, end->reason, end->totals}));
  if (finish_to_.empty()) {
    finish_to_ = members;
    finish_since_ = now;
  }
  // One that looks dead only now may hear it yet, on a bad network. With one copy of everything it would wait for this
  // peer for ever, came it back and found nobody: it is given the time in which it may come back.
  const Duration patience =
      std::max(2 * settings_.suspicion_time, settings_.replicas < 2 ? settings_.gone_after : Duration{});
  std::vector<ring::PeerId> waiting;
  for (const ring::PeerId& peer : finish_to_) {
    const ring::Member* member = membership_.find(peer);
    const bool may_hear =
        member != nullptr &&
        (ring::reachable(*member) || (member->state == ring::MemberState::down && now - finish_since_ < patience));
    if (peer != id() && may_hear && !finish_acks_.contains(peer)) waiting.push_back(peer);
  }
  if (waiting.empty()) {
    farewell_.finish(step, end->reason, end->totals);
    return {};
  }
  if (now < next_finish_) return {};
  next_finish_ = now + finish_every;
  for (const ring::PeerId& member : waiting)
    messenger_.send(member, ring::Finish{end->wave, end->reason, end->totals}, out);
  return {};
}

// On disk before another hears that this peer knows it: started again, it does not wait for others that have ended.
Result<void> Peer::remember_end(const Step& step, const ring::Finish& finish) {
  if (end_.told()) return {};
  storage::Commit commit;
  end_.remember(finish, commit);
  ORBWEAVER_TRY(writer_.commit(step, commit));
  return {};
}

Result<void> Peer::on_finish(Time now, const ring::Message& in, const ring::Finish& finish,
                             const ring::ReplyPath& reply, Commands& out) {
  const Step step{now, out};
  ORBWEAVER_TRY(remember_end(step, finish));
  messenger_.reply(reply, in.from, ring::FinishAck{finish.wave}, out);
  // A peer that found it itself ends when all have heard.
  if (!waves_.end()) farewell_.finish(step, finish.reason, finish.totals);
  return {};
}

Result<void> Peer::leave_tick(const Step& step) {
  if (!lifecycle_.leaving() || lifecycle_.ending()) return {};
  const storage::Counts& counts = store_->counts();
  // Members that are down may only be cut off: they are waited for.
  const auto& members = membership_.members();
  const bool alone = view_.empty() && std::none_of(members.begin(), members.end(), [&](const auto& entry) {
                       if (entry.first != id() && entry.second.state == ring::MemberState::joining) return true;
                       return members_.away(entry.first, step.now);
                     });
  if (alone || step.now >= lifecycle_.leave_by()) {
    lifecycle_.leave_now();  // transfers under way are cancelled
    if (!jobs_.empty()) return {};
    return farewell_.exit(step, 0,
                          (alone ? "left; nobody is there to hand over to: " : "left; leave_timeout is over: ") +
                              std::to_string(counts.discovered()) + " URLs and " + std::to_string(counts.outbox) +
                              " links to other peers remain in the data directory");
  }
  if (jobs_.empty() && counts.outbox == 0 && counts.discovered() == 0 && keeper_.held() == 0 && copier_.idle())
    return farewell_.exit(step, 0, "left; all partitions were handed over");
  return {};
}

}  // namespace orbweaver
