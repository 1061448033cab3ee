// How the peer lives with the others: joining, members that come and go, the end of the crawl, leaving.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "node/config/settings_table.h"
#include "node/crawl/meta_names.h"
#include "node/crawl/peer_words.h"
#include "node/peer/peer.h"
#include "node/try.h"
#include "ring/codec.h"

namespace orbweaver {

// A peer that was started with addresses of members asks to be admitted there too.
void Peer::ask_for_admission(const Step& step) {
  if (!admission_.due(step.now) || lifecycle_.stopping() || lifecycle_.ending()) return;
  const ring::Join join = admission_.ask(step.now, members_.membership().self(), state_.ring, state_.settings);
  for (const std::string& address : admission_.addresses())
    if (address != members_.membership().self().address)
      step.out.push_back(SendMessage{address, messenger_.message(join, {})});
}

namespace {

// Of what the next start needs: who is there, where, in what state, and this peer's own incarnation. A suspicion that
// is refuted changes only another's incarnation, which that peer says itself.
std::uint64_t digest_of(const ring::Membership& membership) {
  std::uint64_t digest = 0xcbf29ce484222325;  // FNV-1a
  const auto add = [&digest](std::uint64_t value) { digest = (digest ^ value) * 0x100000001b3; };
  for (const auto& [id, member] : membership.members()) {
    for (const std::uint8_t byte : id.bytes) add(byte);
    for (const char byte : member.address) add(static_cast<unsigned char>(byte));
    add(member.capacity);
    add(static_cast<std::uint64_t>(member.state));
    add(member.started);
    add(member.protocol);
  }
  add(membership.self().incarnation);
  return digest;
}

}  // namespace

Result<void> Peer::write_members(const Step& step) {
  const std::uint64_t digest = digest_of(members_.membership());
  if (members_written_ == digest) return {};
  storage::Commit commit;
  ring::Sync view;
  std::map<ring::PeerId, std::string> addresses;
  bool moved = false;
  for (const ring::Member& member : members_.membership().member_list()) {
    if (member.id == id()) continue;
    view.members.push_back(member);
    if (member.state == ring::MemberState::joining) continue;
    const auto before = addresses_written_.find(member.id);
    moved = moved || (before != addresses_written_.end() && before->second != member.address);
    addresses.emplace(member.id, member.address);
  }
  // With all that was written before: who forgets in a power cut that there are others, or where they are now, asks
  // none of them what it missed.
  commit.synced = moved || (addresses_written_.empty() && !addresses.empty());
  commit.meta.emplace_back(meta_name::members, ring::encode(messenger_.message(std::move(view), {})));
  ORBWEAVER_TRY(records_.writer.commit(step, commit));
  members_written_ = digest;
  addresses_written_ = std::move(addresses);
  return {};
}

// Of many at a time, as a joiner of a large ring sees them, only how many.
void Peer::say_who_came_or_went(const Step& step) const {
  constexpr std::size_t most_named = 16;
  if (members_.come_or_gone().size() > most_named)
    return step.log(LogLevel::info, "ring", "many peers have come or gone",
                    {{"peers", std::to_string(members_.come_or_gone().size())}});
  for (const ring::PeerId& peer : members_.come_or_gone()) {
    const ring::Member* const member = members_.membership().find(peer);
    if (peer == id()) continue;
    step.log(LogLevel::info, "ring", member == nullptr ? "a peer is forgotten" : "a peer has come or gone",
             {{"peer", peer.hex()},
              {"address", member == nullptr ? std::string() : member->address},
              {"state", member == nullptr ? "forgotten" : std::string(member_state_name(*member))}});
  }
}

Result<void> Peer::membership_changed(const Step& step) {
  ORBWEAVER_TRY(write_members(step));
  // Before what this step sends: on the connection from before it may be lost.
  for (const auto& [peer, member] : members_.membership().members())
    if (members_.is_back(peer)) step.out.insert(step.out.begin(), ConnectAnew{member.address});
  const bool owners_changed = members_.accept_changes(step.now);
  records_.replication.partition_manager.members_changed(members_.come_or_gone());
  for (const auto& [peer, member] : members_.membership().members()) {
    if (ring::reachable(member)) continue;
    records_.replication.outbox.forget_peer(peer);
    directives_.forget_peer(peer);
  }
  fetches_.access.forget_strangers();
  say_who_came_or_went(step);
  if (!owners_changed) return {};
  records_.replication.partition_manager.owners_changed(members_.view().changed());
  step.log(LogLevel::info, "ring", "owners changed",
           {{"peers", std::to_string(std::count_if(members_.membership().members().begin(),
                                                   members_.membership().members().end(),
                                                   [](const auto& m) { return ring::owns_partitions(m.second); }))},
            {"own_partitions",
             std::to_string(members_.view().empty() ? 0 : members_.view().ring().partitions_of(id()).size())}});
  links_.router.forget();
  directives_.seeds().owners_changed();
  fetches_.access.owners_changed(step.now);
  records_.replication.outbox.owners_changed(members_.view());
  // What waited for copies waits no longer, and has none. Likewise where no peer owns anything: this peer leaves,
  // and all others seem to be gone.
  if (state_.settings.replicas > 1 && members_.view().copies(0).empty() && state_.store->counts().discovered() > 0)
    records_.replication.copied_until.note_alone(step.now);
  records_.replication.replicator.owners_changed(members_.view(), step.now);
  return {};
}

// Outcomes that were given up, and peers that keep copies.
bool Peer::outcomes_to_fill() const {
  const View& view = members_.view();
  return records_.replication.copied_until.any_unsent() && !view.empty() && !view.copies(0).empty();
}

bool Peer::passive() const {
  if (!fetches_.jobs.empty() || verdicts_.walk.under_way() || intake_.waits() || !directives_.differing().empty() ||
      directives_.seeds().size() == 0 || moves_.acknowledges_later())
    return false;
  const storage::Counts& held = state_.store->held();
  const bool only_lacks_pages = !fetches_.allowance.may_start();
  return held.outbox == 0 && (held.queued == 0 || only_lacks_pages) && records_.replication.replicator.idle() &&
         fence_.confirmed() && records_.replication.planned() && records_.replication.partition_manager.at_rest() &&
         !records_.replication.partition_manager.fills() && !outcomes_to_fill();
}

ring::WaveReply Peer::wave_reply() {
  const storage::Counts& held = state_.store->held();
  // Others may have room.
  if (held.queued == 0 || state_.disk_low) fetches_.allowance.give_back();
  ring::WaveReply reply;
  reply.ring_fingerprint = members_.view().ring().fingerprint();
  reply.tenures_fingerprint = records_.replication.partition_manager.tenures().fingerprint();
  reply.directives_fingerprint = directives_.fingerprint();
  reply.life = state_.life;
  reply.passive = passive();
  reply.sent = records_.replication.outbox.batches_acknowledged();
  reply.received = batches_.counters().batches;
  reply.counts = {{"fetched", held.fetched},
                  {"failed", held.failed},
                  {"excluded", held.excluded},
                  {"queued", held.queued},
                  {"outbox", held.outbox},
                  {"forwarded", records_.replication.outbox.records_sent()},
                  {"partitions", records_.replication.partition_manager.held()},
                  {"cap", fetches_.allowance.cap()},
                  {"unspent", fetches_.allowance.unspent()},
                  {"wants", held.queued > 0 && !state_.disk_low && !fetches_.allowance.may_start() ? 1u : 0u}};
  if (state_.settings.max_bytes > 0) reply.counts["bytes"] = fetches_.allowance.bytes();
  return reply;
}

// Only a passive peer can find that the others are passive; under a page limit waves also carry the allowances.
bool Peer::sends_waves() const { return passive() || fetches_.allowance.limited(); }

Ending::Own Peer::own_end() {
  const storage::Counts& held = state_.store->held();
  Ending::Own own;
  own.sends_waves = sends_waves();
  own.starting = !fence_.confirmed() || !intake_.idle();
  own.rests = !own.starting && !verdicts_.walk.under_way() && fetches_.jobs.empty() && held.outbox == 0 &&
              (held.queued == 0 || !fetches_.allowance.may_start());
  own.holds_nothing = intake_.idle() && held.outbox == 0 && state_.store->counts().discovered() == 0 &&
                      records_.replication.partition_manager.held() == 0;
  own.queued = [this] {
    std::uint64_t queued = 0;
    const ring::Tenures& tenures = records_.replication.partition_manager.tenures();
    for (const std::uint16_t partition : state_.store->partitions())
      if (const ring::PeerId& holder = tenures.of(partition).holder; holder == id() || !members_.is_reachable(holder))
        queued += state_.store->counts(partition).queued;
    return queued;
  };
  own.reply = [this] { return wave_reply(); };
  return own;
}

Result<void> Peer::end_tick(const Step& step) {
  const auto granted = ends_.search.tick(step, own_end());
  if (!granted) return tl::make_unexpected(granted.error());
  if (*granted) fetches_.allowance.grant(**granted);
  return {};
}

Result<void> Peer::leave_tick(const Step& step) {
  if (!lifecycle_.leaving() || lifecycle_.ending()) return {};
  const storage::Counts& counts = state_.store->counts();
  // Members that are down may only be cut off, so they are waited for.
  const auto& members = members_.membership().members();
  const bool alone = members_.view().empty() && std::none_of(members.begin(), members.end(), [&](const auto& entry) {
                       if (entry.first != id() && entry.second.state == ring::MemberState::joining) return true;
                       return members_.away(entry.first, step.now);
                     });
  if (fetches_.jobs.empty() && counts.outbox == 0 && counts.discovered() == 0 &&
      records_.replication.partition_manager.held() == 0 && records_.replication.replicator.idle())
    return ends_.process.exit(step, 0, "left; all partitions were handed over");
  if (!alone && step.now < lifecycle_.leave_by() && !lifecycle_.stopping()) return {};
  lifecycle_.leave_now();  // transfers in flight are cancelled, and it cannot go on
  if (!fetches_.jobs.empty()) return {};
  const std::string remains = std::to_string(counts.discovered()) + " URLs and " + std::to_string(counts.outbox) +
                              " links to other peers remain in the data directory";
  if (alone) return ends_.process.exit(step, 0, "left; no peer is there to hand over to: " + remains);
  // It has not left: the others count it as down, and wait for what it has.
  const bool late = step.now >= lifecycle_.leave_by();
  if (!late && !drained(step.now)) return {};
  lifecycle_.stop();
  return ends_.process.exit(
      step, ErrorCode::unreachable,
      "stopped, not left: " + std::string(late ? "leave_timeout is over" : "no peer was there until a moment ago") +
          ", and " + remains + "; the ring waits for them: start this peer again, and let it leave" +
          (late ? " with a longer leave_timeout" : ""));
}

}  // namespace orbweaver
