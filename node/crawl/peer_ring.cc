// Members, batches, waves and seeds: how the peer lives with the others.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "node/crawl/peer.h"
#include "ring/codec.h"

namespace orbweaver {

namespace {

// Another process with a joiner's identity must be heard for so long before the joiner is refused.
constexpr Duration twin_wait = std::chrono::seconds{4};
constexpr Duration join_every = std::chrono::seconds{1};
// So that a message stays well under ring::message_bytes_max.
constexpr std::size_t seeds_per_message = 1000;
constexpr Duration seed_sync_every = std::chrono::milliseconds{500};
// Between the last word to the others and the end of the process: the transport has sent it by then.
constexpr Duration last_words = std::chrono::milliseconds{300};
constexpr Duration finish_every = std::chrono::milliseconds{300};
// No transport holds a message longer; a wave whose number is lower than the last after that is not a late copy, but
// the last one's number was not true.
constexpr Duration late_copy_max = std::chrono::minutes{1};

std::string hours_text(Duration duration) {
  return std::to_string(std::chrono::duration_cast<std::chrono::hours>(duration).count()) + " hours";
}

}  // namespace

std::vector<ring::PeerId> Peer::reachable_members() const {
  std::vector<ring::PeerId> members;
  for (const auto& [id, member] : membership_.members())
    if (ring::reachable(member)) members.push_back(id);
  return members;
}

// --- joining
// ------------------------------------------------------------------------------------------------------------------

void Peer::join_tick(Time now, Commands& out) {
  if (welcomed_ || join_.empty() || stopping_ || exit_at_ || now < next_join_) return;
  if (leaving_ && !has_ring_) return exit(now, 0, "left before any member of the ring answered", out);
  if (!has_ring_ && now - started_ > join_wait_max) {
    std::string tried;
    for (const std::string& address : join_) tried += (tried.empty() ? "" : ", ") + address;
    return exit(now, static_cast<int>(ErrorCode::unreachable),
                "no member of the ring answered at " + tried +
                    "; check the address, that a peer runs there, and that it has the same ring key (--ring-key-file)",
                out);
  }
  next_join_ = now + join_every;
  ring::Join join;
  join.self = membership_.self();
  join.ring = ring_;
  for (const auto& [name, value] : ring_wide_settings(settings_))
    if (given_.contains(name)) join.given.emplace_back(name, value);
  for (const std::string& address : join_) {
    if (address == membership_.self().address) continue;
    out.push_back(SendMessage{address, messenger_.message(join, {})});
    if (!has_ring_ && now - started_ > join_every)
      note(out, LogLevel::warning, "ring", "no answer yet, trying again", {{"join", address}}, true);
  }
}

void Peer::on_join(Time now, const ring::Message& in, const ring::Join& join, const ring::ReplyPath& reply,
                   Commands& out) {
  if (!has_ring_ || (exit_at_ && !exit_.finished)) return;  // it asks again
  const auto refuse = [&](std::string reason) {
    ++counters_.messages_refused;
    note(out, LogLevel::warning, "ring", "join refused",
         {{"peer", join.self.id.brief()}, {"address", join.self.address}, {"reason", reason}}, true);
    messenger_.reply(reply, in.from, ring::Refuse{std::move(reason), true}, out);
  };
  if (exit_at_) {
    // It may have been let in by another a moment ago.
    if (ended_ && exit_.finished) messenger_.reply(reply, in.from, *ended_, out);
    return refuse("the crawl has ended");
  }
  if (join.ring != ring::RingId{} && join.ring != ring_)
    return refuse("the data directory there belongs to ring " + join.ring.hex() + ", and this is ring " + ring_.hex() +
                  "; join with a new directory");
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
    if (ring::reachable(member) || waited_for(peer, now)) members.push_back(member);
  // Many seeds go in several messages; the joiner is complete when its seeds' fingerprint is ours.
  const std::vector<std::string> seeds(seeds_.begin(), seeds_.end());
  for (std::size_t at = 0; at == 0 || at < seeds.size(); at += seeds_per_message) {
    ring::Welcome welcome;
    welcome.ring = ring_;
    welcome.settings = ring_wide_settings(settings_);
    welcome.members = members;
    welcome.seeds.assign(seeds.begin() + static_cast<std::ptrdiff_t>(at),
                         seeds.begin() + static_cast<std::ptrdiff_t>(std::min(at + seeds_per_message, seeds.size())));
    welcome.seeds_fingerprint = seeds_fingerprint_;
    welcome.tenures = keeper_.tenures().all();
    messenger_.reply(reply, in.from, std::move(welcome), out);
  }
}

void Peer::on_welcome(Time now, const ring::Welcome& welcome, Commands& out) {
  if (ring_ != ring::RingId{} && welcome.ring != ring_) return;
  if (welcomed_) return;
  const bool first = !has_ring_;
  if (first) {
    const auto ahead = std::find_if(welcome.members.begin(), welcome.members.end(), [&](const ring::Member& member) {
      return ring::reachable(member) && !membership_.plausible(member, now);
    });
    if (ahead != welcome.members.end())
      return exit(now, static_cast<int>(ErrorCode::mismatch),
                  "this machine's clock is more than " + hours_text(ring::clock_lead_max) + " behind that of peer " +
                      ahead->id.brief() + " at " + ahead->address + "; set it right",
                  out);
    if (Result<void> applied = apply_ring_wide(settings_, welcome.settings); !applied)
      return exit(now, static_cast<int>(ErrorCode::mismatch),
                  "the ring's settings cannot be used: " + applied.error().message, out);
    canonicaliser_ = Canonicaliser(settings_);
    has_ring_ = true;
    ring_ = welcome.ring;
    messenger_.set_ring(ring_);
    scope_.reset();  // made anew below: its kind is the ring's
    sites_ = SitePolicy(settings_);
    view_ = View(id(), settings_.partitions, settings_.replicas);
    partitioner_ = Partitioner(settings_.partition_by, settings_.partitions);
    keeper_ = Keeper(keeper_config(settings_), id(), settings_.partitions, *store_);
    waves_ = Waves(waves_config(settings_));
    trap_rules_ = TrapRules(settings_);
    set_order();
    start_access(false);
    mirrors_ = MirrorBook(mirror_hosts_max, settings_.trap_mirror_pages);
    if (Result<void> filled = start_filter(); !filled) return fail_for_good(filled.error(), out);
    storage::Commit commit;
    commit.meta.emplace_back(meta_name::ring, ring_.hex());
    commit.meta.emplace_back(meta_name::left, "no");
    commit.meta.emplace_back(meta_name::settings, nlohmann::json(ring_wide_settings(settings_)).dump());
    if (!apply(now, commit, out)) return;
    note(out, LogLevel::info, "ring", "joined",
         {{"ring", ring_.hex()}, {"members", std::to_string(welcome.members.size())}});
  }
  membership_.welcome(welcome.members, now);
  if (!hear(now, welcome.tenures, out, true) || !add_seeds(now, welcome.seeds, out)) return;
  // Not before it knows the whole scope: links that it judged by a part of it would be lost.
  if (seeds_fingerprint_ != welcome.seeds_fingerprint && membership_.self().state == ring::MemberState::joining) return;
  welcomed_ = true;
  if (membership_.self().state == ring::MemberState::joining) membership_.set_state(ring::MemberState::active, now);
  // The others hear of this peer's state at once, not with the next probes; with its own record only, for in a large
  // ring the whole view from everyone to everyone would be much.
  ring::Sync news;
  news.members = {membership_.self()};
  for (const ring::PeerId& member : reachable_members())
    if (member != id()) messenger_.send(member, news, out);
}

// --- view
// ---------------------------------------------------------------------------------------------------------------------

void Peer::on_sync(Time now, const ring::Message& in, const ring::Sync& sync, const ring::ReplyPath& reply,
                   Commands& out) {
  membership_.merge(sync.members, now);
  // A newcomer that was let in while the end was being told.
  if (exit_at_ && exit_.finished && ended_ && !finish_acks_.contains(in.from))
    messenger_.reply(reply, in.from, *ended_, out);
  if (exit_at_ && membership_.self().state == ring::MemberState::left &&
      std::any_of(sync.members.begin(), sync.members.end(), [this](const ring::Member& member) {
        return member.id == id() && member.state == ring::MemberState::left;
      }))
    exit_at_ = std::min(*exit_at_, now + last_words);  // someone has heard it
  if (!add_seeds(now, sync.seeds, out)) return;
  const bool asked = !sync.reply_wanted && sync.nonce != 0 && sync.nonce == nonce_;
  if (!hear(now, sync.tenures, out, asked)) return;
  if (sync.seeds_fingerprint != 0) check_seeds(now, in.from, sync.seeds_fingerprint, out);
  if (sync.reply_wanted) {
    ring::Sync answer = membership_.sync_message(false);
    answer.nonce = sync.nonce;
    answer.confirmed = confirmed_;
    if (sync.nonce != 0) answer.tenures = keeper_.tenures().all();
    messenger_.reply(reply, in.from, std::move(answer), out);
  } else if (sync.nonce != 0 && sync.nonce == nonce_ && !confirmed_) {
    answered_.insert(in.from);
    if (sync.confirmed) confirmed_ = plan_due_ = true;
  }
}

void Peer::membership_changed(Time now, Commands& out) {
  seen_version_ = membership_.version();
  plan_due_ = true;
  storage::Commit commit;
  ring::Sync view;
  for (const ring::Member& member : membership_.member_list())
    if (member.id != id()) view.members.push_back(member);
  commit.meta.emplace_back(meta_name::members, ring::encode(messenger_.message(std::move(view), {})));
  if (!apply(now, commit, out)) return;
  for (const auto& [peer, member] : membership_.members()) {
    if (!ring::reachable(member)) {
      forwarder_.forget_peer(peer);
      seeds_differ_.erase(peer);
    }
    if (member.state == ring::MemberState::down) {
      down_since_.try_emplace(peer, now);
    } else {
      down_since_.erase(peer);
    }
  }
  access_->forget_strangers();
  std::erase_if(spoken_, [this](const auto& entry) { return membership_.find(entry.first) == nullptr; });
  if (!view_.update(membership_)) return;
  note(out, LogLevel::info, "ring", "owners changed",
       {{"peers", std::to_string(std::count_if(membership_.members().begin(), membership_.members().end(),
                                               [](const auto& m) { return ring::owns_partitions(m.second); }))},
        {"own_partitions", std::to_string(view_.empty() ? 0 : view_.ring().partitions_of(id()).size())}});
  link_cache_->clear();
  own_seeds_due_ = true;
  access_->owners_changed(now);
  forwarder_.owners_changed(view_);
  copier_.owners_changed(view_, now);
}

// --- seeds
// --------------------------------------------------------------------------------------------------------------------

// Adds to the ring's seed set; the scope follows from it. Durable at once, or with `into`, with the seeds' own records.
// False: the store failed.
bool Peer::add_seeds(Time now, const std::vector<std::string>& seeds, Commands& out, storage::Commit* into) {
  const std::size_t before = seeds_.size();
  std::vector<CanonicalUrl> fresh;
  for (const std::string& seed : seeds)
    if (Result<CanonicalUrl> url = canonicaliser_.parse(seed); url && seeds_.insert(url->text()).second)
      fresh.push_back(std::move(*url));
  if (scope_ != nullptr && fresh.empty()) return true;
  if (scope_ == nullptr) {
    for (const std::string& seed : seeds_)
      if (Result<CanonicalUrl> url = canonicaliser_.parse(seed)) fresh.push_back(std::move(*url));
    scope_ = std::make_unique<Scope>(settings_, fresh);
  } else {
    scope_->add_seeds(fresh);
  }
  std::vector<std::string> added;
  for (const CanonicalUrl& url : fresh) {
    added.push_back(url.text());
    seed_hosts_.emplace(url.host());
  }
  std::string lines;
  for (const std::string& seed : seeds_) lines += seed + "\n";
  seeds_fingerprint_ = ring::leading_bits(ring::md5(lines));
  membership_.set_seeds_fingerprint(seeds_fingerprint_);
  messenger_.set_seeds_fingerprint(seeds_fingerprint_);
  if (seeds_.size() == before) return true;
  seeds_due_.insert(seeds_due_.end(), added.begin(), added.end());
  const bool goes_on = std::exchange(ended_, std::nullopt).has_value();
  if (into != nullptr) {
    if (goes_on) into->meta.emplace_back(meta_name::ended, "");
    into->meta.emplace_back(meta_name::seeds, lines);
    return true;
  }
  storage::Commit commit;
  if (goes_on) commit.meta.emplace_back(meta_name::ended, "");
  commit.meta.emplace_back(meta_name::seeds, lines);
  return apply(now, commit, out);
}

// Every peer knows every seed: whoever owns one admits it, even if the peer that it was given to is gone with its disk.
bool Peer::admit_own_seeds(Time now, Commands& out) {
  if ((!own_seeds_due_ && seeds_due_.empty()) || view_.empty() || ended_) return true;
  std::vector<std::string> due = std::exchange(seeds_due_, {});
  if (std::exchange(own_seeds_due_, false)) due.assign(seeds_.begin(), seeds_.end());
  storage::Commit commit;
  for (const std::string& seed : due) {
    const Result<CanonicalUrl> url = canonicaliser_.parse(seed);
    if (!url) continue;
    const storage::HostKey host = partitioner_.host_key(*url);
    if (!view_.owns(host.partition)) continue;
    storage::UrlRecord record;
    record.url = url->text();
    commit.merges.push_back({{host, url->digest()}, std::move(record)});
  }
  return commit.merges.empty() || apply(now, commit, out);
}

// The other one knows other seeds: it is told ours, and will tell us its own for the same reason.
void Peer::check_seeds(Time now, const ring::PeerId& from, std::uint64_t fingerprint, Commands& out) {
  if (fingerprint == seeds_fingerprint_) {
    seeds_differ_.erase(from);
    return;
  }
  // A late word of one that is gone is not waited upon.
  if (const ring::Member* member = membership_.find(from); member != nullptr && ring::reachable(*member))
    seeds_differ_.insert(from);
  if (now < next_seed_sync_) return;
  next_seed_sync_ = now + seed_sync_every;
  send_seeds(from, {seeds_.begin(), seeds_.end()}, out);
}

void Peer::send_seeds(const ring::PeerId& to, const std::vector<std::string>& seeds, Commands& out) const {
  for (std::size_t at = 0; at < seeds.size(); at += seeds_per_message) {
    ring::Sync sync;
    sync.seeds.assign(seeds.begin() + static_cast<std::ptrdiff_t>(at),
                      seeds.begin() + static_cast<std::ptrdiff_t>(std::min(at + seeds_per_message, seeds.size())));
    messenger_.send(to, std::move(sync), out);
  }
}

// --- the end
// ------------------------------------------------------------------------------------------------------------------

bool Peer::passive() const {
  if (!jobs_.empty() || recrawl_ || wait_for_peers_ > 0 || !seeds_differ_.empty() || seeds_.empty() ||
      !unanswered_.empty())
    return false;
  const storage::Counts& held = store_->held();
  const bool only_lacks_pages = limited() && !may_start_page();
  return held.outbox == 0 && (held.queued == 0 || only_lacks_pages) && copier_.idle() && confirmed_ && !plan_due_ &&
         keeper_.settled();
}

ring::WaveReply Peer::wave_reply() {
  const storage::Counts& held = store_->held();
  const std::uint64_t used = counters_.pages_fetched + pages_in_flight_;
  // What a peer without work has been granted is free for the others.
  if (held.queued == 0) cap_ = used;
  ring::WaveReply reply;
  reply.ring_fingerprint = view_.ring().fingerprint();
  reply.tenures_fingerprint = keeper_.tenures().fingerprint();
  reply.incarnation =
      started_.time_since_epoch().count() > 0 ? static_cast<std::uint64_t>(started_.time_since_epoch().count()) : 0;
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

// Down for so long that it is taken not to come back; what it held is then the replicas'.
bool Peer::gone(const ring::PeerId& peer, Time now) const {
  const auto since = down_since_.find(peer);
  return since != down_since_.end() && now - since->second >= settings_.gone_after;
}

// A member that is down may come back with work.
bool Peer::waited_for(const ring::PeerId& peer, Time now) const {
  const ring::Member* member = membership_.find(peer);
  if (member == nullptr || member->state != ring::MemberState::down) return false;
  return settings_.replicas < 2 || !gone(peer, now);
}

void Peer::waves_tick(Time now, Commands& out) {
  if (exit_at_) return;
  bool complete = true;
  for (const auto& [peer, member] : membership_.members()) {
    if (member.state == ring::MemberState::joining) complete = false;
    if (waited_for(peer, now)) complete = false;
  }
  const std::vector<ring::PeerId> members = reachable_members();
  // The crawl had ended when this peer last ran, and nobody is there who has taken it up again.
  if (!waves_.end() && ended_ && !recrawl_ && settings_.stop_when_done && members.size() == 1 && confirmed_ &&
      jobs_.empty() && first_seeds_.empty() && wait_for_peers_ == 0)
    return finish(now, ended_->reason, ended_->totals, out);
  if (!waves_.end()) {
    std::vector<Waves::Probe> probes;
    if (!waves_wanted()) return;
    waves_.tick(now, id(), members, complete && !stopping_ && !leaving_, view_.ring().fingerprint(), wave_reply(),
                probes);
    for (Waves::Probe& probe : probes) messenger_.send(probe.to, probe.probe, out);
    if (const auto grant = waves_.own_grant()) cap_ = std::max(cap_, *grant);
  }
  const auto end = waves_.end();
  if (!end) return;
  if (!remember_end(now, {end->wave, end->reason, end->totals}, out)) return;
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
  if (waiting.empty()) return finish(now, end->reason, end->totals, out);
  if (now < next_finish_) return;
  next_finish_ = now + finish_every;
  for (const ring::PeerId& member : waiting)
    messenger_.send(member, ring::Finish{end->wave, end->reason, end->totals}, out);
}

// On disk before anyone hears that this peer knows it: started again, it does not wait for others that have ended.
bool Peer::remember_end(Time now, const ring::Finish& finish, Commands& out) {
  if (ended_) return true;
  ended_ = finish;
  storage::Commit commit;
  commit.meta.emplace_back(meta_name::ended, ring::encode(messenger_.message(finish, {})));
  return apply(now, commit, out);
}

void Peer::on_finish(Time now, const ring::Message& in, const ring::Finish& finish, const ring::ReplyPath& reply,
                     Commands& out) {
  if (!has_ring_) return;
  if (!remember_end(now, finish, out)) return;
  messenger_.reply(reply, in.from, ring::FinishAck{finish.wave}, out);
  if (waves_.end()) return;  // this peer found it, and ends when all have heard
  this->finish(now, finish.reason, finish.totals, out);
}

void Peer::leave_tick(Time now, Commands& out) {
  if (!leaving_ || exit_at_) return;
  const storage::Counts& counts = store_->counts();
  // Members that are down may only be cut off: they are waited for.
  const auto& members = membership_.members();
  const bool alone = view_.empty() && std::none_of(members.begin(), members.end(), [&](const auto& entry) {
                       if (entry.first != id() && entry.second.state == ring::MemberState::joining) return true;
                       return down_since_.contains(entry.first) && !gone(entry.first, now);
                     });
  if (alone || now >= leave_by_) {
    stopping_ = true;  // transfers under way are cancelled
    if (!jobs_.empty()) return;
    return exit(now, 0,
                (alone ? "left; nobody is there to hand over to: " : "left; leave_timeout is over: ") +
                    std::to_string(counts.discovered()) + " URLs and " + std::to_string(counts.outbox) +
                    " links to other peers remain in the data directory",
                out);
  }
  if (jobs_.empty() && counts.outbox == 0 && counts.discovered() == 0 && keeper_.held() == 0 && copier_.idle())
    exit(now, 0, "left; all partitions were handed over", out);
}

}  // namespace orbweaver
