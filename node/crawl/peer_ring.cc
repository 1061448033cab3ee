// Members, batches, waves and seeds: how the peer lives with the others.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "node/config/settings_table.h"
#include "node/crawl/peer.h"
#include "node/try.h"
#include "ring/codec.h"

namespace orbweaver {

// --- joining

// A peer that was started with addresses of members asks to be known there too.
void Peer::ask_for_admission(const Step& step) {
  if (!admission_.due(step.now) || lifecycle_.stopping() || lifecycle_.ending()) return;
  const ring::Join join = admission_.ask(step.now, membership_.self(), state_.ring, settings_);
  for (const std::string& address : admission_.addresses())
    if (address != membership_.self().address) step.out.push_back(SendMessage{address, messenger_.message(join, {})});
}

Result<void> Peer::on_welcome(Time now, const ring::Welcome& welcome, Commands& out) {
  const Step step{now, out};
  if (welcome.ring != state_.ring || admission_.welcomed()) return {};
  membership_.welcome(welcome.members, now);
  ORBWEAVER_TRY(moves_.hear(step, welcome.tenures, true));
  ORBWEAVER_TRY(seeds_.add(step, welcome.seeds));
  // Not before it knows the whole scope: links that it judged by a part of it would be lost.
  if (seeds_.fingerprint() != welcome.seeds_fingerprint && membership_.self().state == ring::MemberState::joining)
    return {};
  admission_.note_welcome();
  if (membership_.self().state == ring::MemberState::joining) membership_.set_state(ring::MemberState::active, now);
  // The others hear of this peer's state at once, not with the next probes; with its own record only, for in a large
  // ring the whole view from everyone to everyone would be much.
  ring::Sync news;
  news.members = {membership_.self()};
  for (const ring::PeerId& member : members_.others()) messenger_.send(member, news, out);
  return {};
}

// --- view

Result<void> Peer::on_sync(Time now, const ring::Message& in, const ring::Sync& sync, const ring::ReplyPath& reply,
                           Commands& out) {
  const Step step{now, out};
  membership_.merge(sync.members, now);
  // A newcomer that was let in while the end was being told.
  ending_.tell_newcomer(step, in.from, reply);
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
  access_.forget_strangers();
  if (!owners_changed) return {};
  step.log(LogLevel::info, "ring", "owners changed",
           {{"peers", std::to_string(std::count_if(membership_.members().begin(), membership_.members().end(),
                                                   [](const auto& m) { return ring::owns_partitions(m.second); }))},
            {"own_partitions", std::to_string(view_.empty() ? 0 : view_.ring().partitions_of(id()).size())}});
  router_.forget();
  seeds_.owners_changed();
  access_.owners_changed(step.now);
  forwarder_.owners_changed(view_);
  copier_.owners_changed(view_, step.now);
  return {};
}

// --- the end

bool Peer::passive() const {
  if (!jobs_.empty() || walk_.under_way() || wait_for_peers_ > 0 || !seeds_.differing().empty() || seeds_.size() == 0 ||
      moves_.acknowledges_later())
    return false;
  const storage::Counts& held = store_->held();
  const bool only_lacks_pages = !allowance_.may_start();
  return held.outbox == 0 && (held.queued == 0 || only_lacks_pages) && copier_.idle() && fence_.confirmed() &&
         !replication_.plan_due && keeper_.settled();
}

ring::WaveReply Peer::wave_reply() {
  const storage::Counts& held = store_->held();
  if (held.queued == 0) allowance_.give_back();
  ring::WaveReply reply;
  reply.ring_fingerprint = view_.ring().fingerprint();
  reply.tenures_fingerprint = keeper_.tenures().fingerprint();
  reply.incarnation = static_cast<std::uint64_t>(std::max<std::int64_t>(state_.started.time_since_epoch().count(), 0));
  reply.passive = passive();
  reply.sent = forwarder_.batches_acknowledged();
  reply.received = batches_.counters().batches;
  reply.grant_sequence = ending_.grant_heard();
  reply.counts = {{"fetched", held.fetched},         {"failed", held.failed},
                  {"excluded", held.excluded},       {"queued", held.queued},
                  {"outbox", held.outbox},           {"forwarded", forwarder_.records_sent()},
                  {"partitions", keeper_.held()},    {"cap", allowance_.cap()},
                  {"unspent", allowance_.unspent()}, {"wants", held.queued > 0 && !allowance_.may_start() ? 1u : 0u}};
  if (settings_.max_bytes > 0) reply.counts["bytes"] = allowance_.bytes();
  return reply;
}

void Peer::on_wave_probe(Time now, const ring::Message& in, const ring::WaveProbe& probe, const ring::ReplyPath& reply,
                         Commands& out) {
  if (const auto fault = ending_.fault(now, probe)) return refuse_message(in, *fault, out);
  std::optional<std::uint64_t> granted;
  if (!ending_.hear(now, in.from, probe, granted)) return;
  if (granted) allowance_.grant(*granted);
  ring::WaveReply answer = wave_reply();
  answer.wave = probe.wave;
  messenger_.reply(reply, in.from, std::move(answer), out);
}

// Only a peer that is passive itself can find the others so; under a page limit waves carry the allowances too.
bool Peer::waves_wanted() const { return passive() || allowance_.limited(); }

Result<void> Peer::end_tick(const Step& step) {
  Ending::Own own;
  own.sends_waves = waves_wanted();
  own.rests = !walk_.under_way() && fence_.confirmed() && jobs_.empty() && first_seeds_.empty() && wait_for_peers_ == 0;
  own.reply = [this] { return wave_reply(); };
  const auto granted = ending_.tick(step, own);
  if (!granted) return tl::make_unexpected(granted.error());
  if (*granted) allowance_.grant(**granted);
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
    lifecycle_.leave_now();  // transfers in flight are cancelled
    if (!jobs_.empty()) return {};
    return farewell_.exit(step, 0,
                          (alone ? "left; no peer is there to hand over to: " : "left; leave_timeout is over: ") +
                              std::to_string(counts.discovered()) + " URLs and " + std::to_string(counts.outbox) +
                              " links to other peers remain in the data directory");
  }
  if (jobs_.empty() && counts.outbox == 0 && counts.discovered() == 0 && keeper_.held() == 0 && copier_.idle())
    return farewell_.exit(step, 0, "left; all partitions were handed over");
  return {};
}

}  // namespace orbweaver
