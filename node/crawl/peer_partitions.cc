// Batches, tenures, copies and transfers: how records come in from other peers, get their second copy, and move.
#include <algorithm>
#include <set>

#include "node/crawl/peer.h"

namespace orbweaver {

namespace {

// Tables of tenures are exchanged no more often than this; changes are told at once.
constexpr Duration tenures_every = std::chrono::milliseconds{200};
// Between two questions of a peer that does not know whether its tenures are outdated.
constexpr Duration question_every = std::chrono::milliseconds{300};
// Whom it asks at a time, all in turn: each question holds the whole table of tenures.
constexpr std::size_t asked_at_a_time = 64;
// Up to so many members each hear of a change of hands at once; in a larger ring only those concerned, and the others
// by comparing fingerprints.
constexpr std::size_t tell_all_max = 64;

}  // namespace

// --- batches
// ------------------------------------------------------------------------------------------------------------------

bool Peer::accepts(ring::Partition partition, ring::BatchKind kind) const {
  if (partition >= view_.partitions()) return false;
  if (kind == ring::BatchKind::forward) return view_.owns(partition);
  return view_.keeps(partition) || keeper_.holds(partition);
}

// A peer's bytes are outside input: each record enters where a parsed link does, at "canonicalise". False: it is for
// another peer.
bool Peer::take_record(Time now, const ring::PeerId& from, const ring::BatchRecord& entry, ring::BatchKind kind,
                       Intake& intake, Commands& out) {
  const auto bad = [&](const std::string& cause) {
    ++intake.malformed;
    note(out, LogLevel::warning, "ring", "malformed record", {{"peer", from.brief()}, {"cause", cause}}, true);
    return true;
  };
  switch (storage::wire_kind(entry.record)) {
    case storage::WireKind::wait: {
      auto clock = storage::decode_wait(entry.record, now);
      if (!clock) return bad(clock.error().message);
      const storage::HostKey host = partitioner_.host_key(clock->host, entry.partition);
      if (!accepts(host.partition, kind)) return false;
      if (const auto own = store_->clock(host); own && *own) *clock = storage::merge(**own, *clock);
      const auto [at, added] = intake.clocks.try_emplace(host, *clock);
      if (!added) at->second = storage::merge(at->second, *clock);
      return true;
    }
    case storage::WireKind::robots: {
      auto robots = storage::decode_robots(entry.record, now);
      if (!robots) return bad(robots.error().message);
      auto& [origin, fetched] = *robots;
      // A detour asks another host by name (join_www), whose robots.txt is kept with the one it stands for.
      const Result<CanonicalUrl> url = canonicaliser_.parse(origin + "/");
      if (!url) return bad(url.error().message);
      const storage::HostKey host = partitioner_.host_key(url->host(), entry.partition);
      if (!accepts(host.partition, kind)) return false;
      const auto own = store_->robots(host, origin);
      if (own && *own && storage::merge(**own, fetched) == **own) return true;
      const auto [at, added] = intake.robots.try_emplace({host, origin}, fetched);
      if (!added) at->second = storage::merge(at->second, fetched);
      return true;
    }
    case storage::WireKind::unsure: {
      const auto since = storage::decode_unsure(entry.record, now);
      if (!since) return bad(since.error().message);
      if (!accepts(entry.partition, kind)) return false;
      keeper_.unsure(entry.partition, *since);
      return true;
    }
    case storage::WireKind::record:
    case storage::WireKind::unknown:
      break;
  }
  auto record = storage::decode_record(entry.record);
  if (!record) return bad(record.error().message);
  Result<CanonicalUrl> url = canonicaliser_.parse(record->url);
  if (!url) return bad(url.error().message);
  const storage::HostKey host = partitioner_.host_key(*url);
  if (!accepts(host.partition, kind)) return false;
  record->url = url->text();
  // Depth 0 is a seed's: its owner must know it as one before it reads its page, whatever became of the other word of
  // it. Only a link as it was found tells: a joined record may have its depth from one way and its redirects from
  // another.
  if (kind == ring::BatchKind::forward && record->state == storage::UrlState::queued && record->depth == 0 &&
      record->redirects == 0 && record->off_site == 0)
    intake.seeds.push_back(record->url);
  // No peer's clock or mistake puts a try off for ever.
  if (record->state == storage::UrlState::queued) record->changed = std::min(record->changed, now + wait_max);
  admission_limits(*record, now);
  const bool link = kind == ring::BatchKind::forward && is_link(*record);
  intake.records.push_back({{host, url->digest()}, std::move(*record), link});
  intake.urls.push_back(std::move(*url));
  return true;
}

void Peer::on_batch(Time now, const ring::Message& in, const ring::Batch& batch, const ring::ReplyPath& reply,
                    Commands& out) {
  if (exit_at_) return;
  // Full: the sender tries again. Copies are taken all the same: two peers that wait for each other's would wait for
  // ever.
  if (batch.kind != ring::BatchKind::copy && copier_.items_full()) return;
  if (!hear(now, batch.tenures, out)) return;
  if (batch.seeds_fingerprint != 0) check_seeds(now, in.from, batch.seeds_fingerprint, out);
  const auto refuse = [&](std::vector<ring::PartitionTenure> tenures) {
    messenger_.reply(reply, in.from, ring::BatchRefused{batch.sequence, membership_.member_list(), std::move(tenures)},
                     out);
  };
  if (std::vector<ring::PartitionTenure> newer = keeper_.newer(batch.tenures, in.from); !newer.empty())
    return refuse(std::move(newer));
  Intake intake;
  for (const ring::BatchRecord& entry : batch.records)
    if (!take_record(now, in.from, entry, batch.kind, intake, out)) return refuse({});
  // Links only: copies and moved records are as their holder judged them. Once, and not before all of the batch is
  // taken: what is judged uses up a budget.
  if (batch.kind == ring::BatchKind::forward)
    for (storage::Merge& link : intake.records) visit_if_newer(link.key, link.record);
  std::set<storage::UrlKey> judged;
  if (batch.kind == ring::BatchKind::forward && trap_rules_.any())
    for (std::size_t i = 0; i < intake.records.size(); ++i)
      if (storage::Merge& link = intake.records[i]; judged.insert(link.key).second)
        judge_trap(link.key, intake.urls[i], link.record);
  storage::Commit commit;
  commit.merges = std::move(intake.records);
  commit.clocks.assign(intake.clocks.begin(), intake.clocks.end());
  for (auto& [at, robots] : intake.robots) commit.robots.emplace_back(at.first, at.second, std::move(robots));
  if (!intake.seeds.empty()) add_seeds(now, intake.seeds, out, &commit);
  if (!apply(now, commit, out)) return;
  for (const auto& [host, clock] : intake.clocks) bench_.delay(host, clock);
  keeper_.completed(in.from, batch.complete);
  if (batch.kind == ring::BatchKind::forward) ++counters_.batches_received;
  counters_.records_received += batch.records.size();
  counters_.records_malformed += intake.malformed;
  // A copy's writer waits for this word only; other senders forget what they sent, so it must be in two places first.
  if (batch.kind == ring::BatchKind::copy || copier_.safe() >= copier_.issued())
    return messenger_.reply(reply, in.from, ring::BatchAck{batch.sequence}, out);
  unanswered_.push_back({reply, in.from, batch.sequence, copier_.issued()});
}

void Peer::acknowledge_copied(Commands& out) {
  if (unanswered_.empty()) return;
  const std::uint64_t safe = copier_.safe();
  for (; !unanswered_.empty() && unanswered_.front().items <= safe; unanswered_.pop_front()) {
    const Unanswered& batch = unanswered_.front();
    messenger_.reply(batch.reply, batch.from, ring::BatchAck{batch.sequence}, out);
  }
}

void Peer::on_batch_ack(Time now, const ring::PeerId& from, std::uint64_t sequence, Commands& out) {
  if (copier_.acknowledged(from, sequence) || keeper_.acknowledged(from, sequence)) return;
  storage::Commit commit;
  commit.from_outbox = forwarder_.acknowledged(from, sequence);
  if (!commit.from_outbox.empty()) apply(now, commit, out);
}

void Peer::on_batch_refused(Time now, const ring::PeerId& from, const ring::BatchRefused& refused, Commands& out) {
  membership_.merge(refused.members, now);
  if (!copier_.refused(from, refused.sequence, now) && !keeper_.refused(from, refused.sequence, now))
    forwarder_.refused(from, refused.sequence, now);
  hear(now, refused.tenures, out);
}

void Peer::on_leaves(const ring::Message& in, const ring::Leaves& leaves, const ring::ReplyPath& reply, Commands& out) {
  auto differ = keeper_.on_leaves(leaves, view_);
  if (!differ) return fail_for_good(differ.error(), out);
  if (*differ) messenger_.reply(reply, in.from, std::move(**differ), out);
}

// --- copies
// -------------------------------------------------------------------------------------------------------------------

// What a host has used of its budget; and a long wait: whoever takes over does so after suspicion_time, and waits the
// usual delay without being told.
void Peer::copy_long_waits(Time now, const storage::Commit& commit) {
  for (const auto& [host, clock] : commit.clocks) {
    const Duration usual = sites_.manners(clock.host).delay + settings_.suspicion_time;
    if (clock.next_allowed - now <= usual && !clock.used()) continue;
    if (!keeper_.holds(host.partition) || view_.copies(host.partition).empty()) continue;
    std::string record;
    storage::encode_wait(clock, now, record);
    copier_.write(view_, host.partition, std::move(record), now);
  }
}

// What a commit changed in partitions that this peer owns or holds goes to their other copies: the outcome last, for it
// waits for all that was written before it.
void Peer::copy_changes(Time now, const storage::CommitResult& result, const storage::UrlKey* outcome) {
  const storage::Merge* fetched = nullptr;
  for (const storage::Merge& merge : result.changed) {
    const ring::Partition partition = merge.key.host.partition;
    const bool fetched_here = outcome != nullptr && merge.key == *outcome;
    if (!view_.owns(partition) && !keeper_.holds(partition)) {
      if (!fetched_here) continue;
      // It was fetched for a partition that was lost meanwhile.
      keeper_.late_write(partition);
      plan_due_ = true;
    }
    if (view_.copies(partition).empty()) continue;
    if (fetched_here && merge.record.state == storage::UrlState::fetched) {
      fetched = &merge;
      continue;
    }
    std::string record;
    storage::encode_record(merge.record, record);
    copier_.write(view_, partition, std::move(record), now);
  }
  if (fetched == nullptr) return;
  std::string record;
  storage::encode_record(fetched->record, record);
  copier_.write_after(fetched->key.host.partition, fetched->key, std::move(record), store_->next_outbox());
}

// --- tenures
// ------------------------------------------------------------------------------------------------------------------

// What another peer says. False: the store failed.
bool Peer::hear(Time now, const std::vector<ring::PartitionTenure>& tenures, Commands& out, bool asked) {
  if (tenures.empty()) return true;
  storage::Commit commit;
  if (!keeper_.hear(tenures, commit, asked)) return true;
  plan_due_ = true;
  return apply(now, commit, out);
}

// False: the store failed.
bool Peer::learn(Time now, const std::vector<ring::PartitionTenure>& tenures, Commands& out) {
  if (tenures.empty()) return true;
  storage::Commit commit;
  if (!keeper_.learn(tenures, commit)) return true;
  plan_due_ = true;
  return apply(now, commit, out);
}

// What this peer decides is on its disk before anyone hears of it.
bool Peer::decide(Time now, const Keeper::Changes& changes, Commands& out) {
  if (changes.empty()) return true;
  if (!learn(now, changes, out)) return false;
  const std::vector<ring::PeerId> members = reachable_members();
  std::set<ring::PeerId> told(members.begin(), members.end());
  if (members.size() > tell_all_max) {
    told.clear();
    for (const ring::PartitionTenure& change : changes) {
      told.insert(change.tenure.holder);
      for (const ring::PeerId& peer : view_.owners(change.partition)) told.insert(peer);
    }
  }
  for (const ring::PeerId& peer : told)
    if (peer != id()) send_tenures(peer, changes, out);
  return true;
}

void Peer::send_tenures(const ring::PeerId& to, const std::vector<ring::PartitionTenure>& tenures,
                        Commands& out) const {
  ring::Sync sync;
  sync.tenures = tenures;
  messenger_.send(to, std::move(sync), out);
}

// The other one knows other tenures: it is told ours, and will tell us its own for the same reason.
void Peer::check_tenures(Time now, const ring::PeerId& from, std::uint64_t fingerprint, Commands& out) {
  if (fingerprint == keeper_.tenures().fingerprint() || now < next_tenures_) return;
  next_tenures_ = now + tenures_every;
  send_tenures(from, keeper_.tenures().all(), out);
}

// --- partitions
// ---------------------------------------------------------------------------------------------------------------

// With on_cut = pause-minority: whether fewer than half of the members answer (of two halves, the one without the
// lowest id). Suspicion counts: the majority takes over when it is sure, and by then this side must have stopped.
bool Peer::paused() const {
  if (settings_.on_cut != OnCut::pause_minority) return false;
  std::size_t here = 0;
  std::size_t away = 0;
  bool lowest_here = true;
  bool first = true;
  for (const auto& [peer, member] : membership_.members()) {
    if (member.state == ring::MemberState::left || member.state == ring::MemberState::joining) continue;
    if (gone(peer, stepped_)) continue;
    const bool answers = ring::reachable(member) && !member.suspect;
    if (std::exchange(first, false)) lowest_here = answers;
    ++(answers ? here : away);
  }
  return here < away || (here == away && !lowest_here);
}

// A partition goes to another peer when nothing is being fetched from it, and when what was fetched is safe: its links
// are with their owners, or copied.
bool Peer::ready_to_move(ring::Partition partition, ring::TransferKind kind) {
  if (forwarder_.safe() == 0) return false;           // what an earlier process found is not all with its owners
  if (kind == ring::TransferKind::fill) return true;  // the partition stays; what changes meanwhile is copied
  if (walk_awaits(partition)) return false;
  if (bench_.partition_busy(partition) || copier_.waits_in(partition)) {
    safe_from_.erase(partition);
    return false;
  }
  const auto [at, added] = safe_from_.try_emplace(partition, std::pair(store_->next_outbox(), copier_.issued()));
  if (forwarder_.safe() < at->second.first || copier_.safe() < at->second.second) return false;
  safe_from_.erase(at);
  return true;
}

void Peer::doubt() {
  confirmed_ = false;
  answered_.clear();
  nonce_ = 0;
}

// Asks the others until one that knows has answered, or everyone has.
void Peer::confirm_tick(Time now, Commands& out) {
  if (confirmed_) return;
  bool all = true;
  for (const auto& [peer, member] : membership_.members())
    if (peer != id() && ring::reachable(member) && member.state != ring::MemberState::joining)
      all = all && answered_.contains(peer);
  // One that was let in and never heard of again by those who let it in holds nothing: it must not begin the crawl
  // anew.
  const bool at_home = !answered_.empty() || (!view_lost_ && (keeper_.held() > 0 || keeper_.tenures().all().empty()));
  if (all && at_home) {
    confirmed_ = plan_due_ = true;
    return;
  }
  if (now < next_question_) return;
  next_question_ = now + question_every;
  if (all && now - started_ > join_wait_max)
    return exit(now, static_cast<int>(ErrorCode::unreachable),
                view_lost_
                    ? "not all members of the last run could be read from the data directory, and nobody answered; "
                      "start it with --join and the address of a member"
                    : "the members of the ring are gone, and this peer holds nothing of theirs; join another",
                out);
  if (nonce_ == 0) nonce_ = forwarder_.new_sequence();
  ring::Sync question;
  question.reply_wanted = true;
  question.members = {membership_.self()};
  question.tenures = keeper_.tenures().all();
  question.nonce = nonce_;
  std::vector<ring::PeerId> whom = reachable_members();
  std::erase(whom, id());
  std::rotate(whom.begin(), std::upper_bound(whom.begin(), whom.end(), last_asked_), whom.end());
  whom.resize(std::min(whom.size(), asked_at_a_time));
  for (const ring::PeerId& peer : whom) messenger_.send(peer, question, out);
  if (!whom.empty()) last_asked_ = whom.back();
}

// False: the peer is on its way out.
bool Peer::partitions_tick(Time now, Commands& out) {
  confirm_tick(now, out);
  if (const bool pauses = paused(); pauses != was_paused_) {
    was_paused_ = pauses;
    plan_due_ = true;
    note(out, LogLevel::info, "ring", pauses ? "cut off from most members, pausing" : "going on", {});
  }
  if (plan_due_ || keeper_.holder_unknown()) {
    plan_due_ = false;
    const Keeper::Changes taken =
        keeper_.plan(view_, membership_, now, confirmed_ && !paused() && !exit_at_ && !ended_);
    if (!decide(now, taken, out)) return false;
    if (!taken.empty()) {
      keeper_.took_over(taken, view_, membership_, now);
      note(out, LogLevel::info, "ring", "taken over", {{"partitions", std::to_string(taken.size())}});
      plan_due_ = true;
    }
  }
  const Transfers::World world{
      keeper_.tenures(),
      [this](ring::Partition partition, ring::TransferKind kind) { return ready_to_move(partition, kind); },
      [this](const storage::UrlKey& key) { return copier_.waits(key); },
      [this] { return forwarder_.new_sequence(); },
      [this](ring::Partition partition) { return std::max(restarted_, keeper_.held_since(partition)); },
      view_.ring().fingerprint()};
  std::vector<Transfers::Out> sends;
  Keeper::Changes handed_over;
  if (Result<void> ticked = keeper_.tick(now, view_, world, sends, handed_over); !ticked) {
    fail_for_good(ticked.error(), out);
    return false;
  }
  for (Transfers::Out& next : sends) messenger_.send(next.to, std::move(next.body), out);
  if (!decide(now, handed_over, out)) return false;
  if (const std::vector<ring::Partition> turned = keeper_.take_turned(); !turned.empty()) {
    for (const ring::Partition partition : turned) safe_from_.erase(partition);
    bench_.turned(turned);
  }
  acknowledge_copied(out);
  return true;
}

}  // namespace orbweaver
