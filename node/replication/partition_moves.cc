#include "node/replication/partition_moves.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

#include "node/crawl/link_limits.h"
#include "node/crawl/meta_names.h"
#include "node/errors/storage_error.h"
#include "node/try.h"

namespace orbweaver {

namespace {

// Tables of tenures are compared no more often than this; changes are sent at once.
constexpr Duration compare_every = std::chrono::milliseconds{200};
// Rows of a table in one answer: 110 kB, and a few milliseconds for who learns them.
constexpr std::size_t max_rows = 4096;
// Up to this many members, each of them receives a change of tenures at once: 100 bytes each, where comparing costs a
// table of sums. In a larger ring only the peers concerned do, and the others learn it by comparing.
constexpr std::size_t max_tell_all = 1024;
// Acknowledgements that are kept while a snapshot is made; what was sent for one more is sent again.
constexpr std::size_t max_kept = 65'536;

}  // namespace

// --- tenures

Result<void> PartitionMoves::hear(const Step& step, const std::vector<ring::PartitionTenure>& tenures, bool asked) {
  if (tenures.empty()) return {};
  storage::Commit commit;
  if (!replication_->partition_manager.hear(tenures, commit, asked)) return {};
  ORBWEAVER_TRY(writer_->commit(step, commit));
  return {};
}

Result<void> PartitionMoves::learn(const Step& step, const std::vector<ring::PartitionTenure>& tenures) {
  storage::Commit commit;
  if (!replication_->partition_manager.learn(tenures, commit)) return {};
  ORBWEAVER_TRY(writer_->commit(step, commit));
  return {};
}

// What this peer decides is on its disk before another peer learns it.
Result<void> PartitionMoves::decide(const Step& step, const PartitionManager::Changes& changes) {
  if (changes.empty()) return {};
  ORBWEAVER_TRY(learn(step, changes));
  const std::vector<ring::PeerId> members = members_->reachable();
  std::set<ring::PeerId> recipients(members.begin(), members.end());
  if (members.size() > max_tell_all) {
    recipients.clear();
    for (const ring::PartitionTenure& change : changes) {
      recipients.insert(change.tenure.holder);
      for (const ring::PeerId& peer : members_->view().owners(change.partition)) recipients.insert(peer);
    }
  }
  for (const ring::PeerId& peer : recipients)
    if (peer != state_->id) send(step, peer, changes);
  return {};
}

void PartitionMoves::send(const Step& step, const ring::PeerId& to,
                          const std::vector<ring::PartitionTenure>& tenures) const {
  ring::Sync sync;
  sync.tenures = tenures;
  messenger_->send(to, std::move(sync), step.out);
}

void PartitionMoves::compare(const Step& step, const ring::PeerId& from, std::uint64_t fingerprint) {
  const ring::Tenures& tenures = replication_->partition_manager.tenures();
  if (fingerprint == tenures.fingerprint() || step.now < next_compare_) return;
  compare_now(step, from);
}

void PartitionMoves::compare_now(const Step& step, const ring::PeerId& with) {
  if (step.now < next_compare_) return;
  next_compare_ = step.now + compare_every;
  messenger_->send(with, question(0), step.out);
}

ring::CompareTenures PartitionMoves::question(std::uint64_t nonce) const {
  const ring::Tenures& tenures = replication_->partition_manager.tenures();
  return {.nonce = nonce,
          .fingerprint = tenures.fingerprint(),
          .members_fingerprint = members_->membership().states_fingerprint(),
          .sums = tenures.sums()};
}

void PartitionMoves::hear(const Step& step, const ring::PeerId& from, const ring::CompareTenures& question,
                          const ring::ReplyPath& reply, bool confirmed) {
  const ring::Tenures& tenures = replication_->partition_manager.tenures();
  ring::TenuresCompared answer{.nonce = question.nonce, .confirmed = confirmed};
  if (question.members_fingerprint != members_->membership().states_fingerprint())
    answer.members = members_->membership().member_list();
  // Perhaps from another process with its identity.
  else if (const ring::Member* known = members_->membership().find(from);
           known != nullptr && !question.members.empty() && ring::supersedes(*known, question.members.front()))
    answer.members = {*known};
  if (question.fingerprint != tenures.fingerprint()) {
    std::vector<std::uint16_t> differing = tenures.differing(question.sums);
    const std::size_t most = std::max<std::size_t>(1, max_rows / tenures.partitions_a_range());
    answer.more = question.sums.empty() || differing.size() > most;
    if (differing.size() > most) differing.resize(most);
    for (const std::uint16_t range : differing) {
      const std::span<const ring::Tenure> rows = tenures.rows(range);
      for (std::size_t i = 0; i < rows.size(); ++i)
        if (rows[i].epoch > 0)
          answer.tenures.push_back({static_cast<ring::Partition>(range * tenures.partitions_a_range() + i), rows[i]});
    }
    answer.ranges = std::move(differing);
  }
  messenger_->reply(reply, from, std::move(answer), step.out);
}

// The other peer gets the rows that are newer here, and is asked for the ranges that its answer left out.
Result<void> PartitionMoves::hear(const Step& step, const ring::PeerId& from, const ring::TenuresCompared& answer,
                                  bool asked) {
  const ring::Tenures& tenures = replication_->partition_manager.tenures();
  const std::uint64_t before = tenures.fingerprint();
  ORBWEAVER_TRY(hear(step, answer.tenures, asked));
  std::map<ring::Partition, ring::Tenure> theirs;
  for (const ring::PartitionTenure& row : answer.tenures) theirs[row.partition] = row.tenure;
  std::vector<ring::PartitionTenure> newer;
  for (const std::uint16_t range : std::set(answer.ranges.begin(), answer.ranges.end())) {
    const std::span<const ring::Tenure> rows = tenures.rows(range);
    for (std::size_t i = 0; i < rows.size() && newer.size() < max_rows; ++i) {
      const auto partition = static_cast<ring::Partition>(range * tenures.partitions_a_range() + i);
      const auto known = theirs.find(partition);
      if (rows[i].epoch > 0 && (known == theirs.end() || known->second < rows[i]))
        newer.push_back({partition, rows[i]});
    }
  }
  if (!newer.empty()) send(step, from, newer);
  // Without news it would be the same question again; it is asked later.
  if (answer.more && (answer.ranges.empty() || tenures.fingerprint() != before))
    messenger_->send(from, question(answer.nonce), step.out);
  return {};
}

Result<void> PartitionMoves::hear(const Step& step, const ring::PeerId& from, const ring::AskRecords& ask,
                                  const ring::ReplyPath& reply) {
  ORBWEAVER_TRY(hear(step, ask.tenures));
  ring::RecordsKnown answer = replication_->partition_manager.on_ask(from, ask, members_->view());
  if (answer.later) compare_now(step, from);
  messenger_->reply(reply, from, std::move(answer), step.out);
  return {};
}

void PartitionMoves::hear(const Step& step, const ring::PeerId& from, const ring::RecordsKnown& known) {
  replication_->partition_manager.on_known(from, known, step.now);
}

// --- batches that wait for their copies

void PartitionMoves::acknowledge(const Step& step, const ring::ReplyPath& reply, const ring::PeerId& from,
                                 const ring::Batch& batch, Dependents::Id dependent) {
  const auto [waiting, first] = of_batch_.try_emplace({from, batch.sequence}, dependent);
  if (!first) {
    // Its sender repeats it until it is answered. What it brought waits already.
    replication_->dependents.forget(dependent);
    Unanswered& repeated = unanswered_.at(waiting->second);
    repeated.reply = reply;
    repeated.ring = batch.ring_fingerprint;
    return;
  }
  unanswered_[dependent] = {reply, from, batch.sequence, batch.ring_fingerprint};
  forget_oldest(from);
  replication_->dependents.close(dependent);
  acknowledge_copied(step);
}

// A sender that sorts its batches again, or has started again, waits for the older ones no more. One that it waits for
// comes again, and is answered then.
void PartitionMoves::forget_oldest(const ring::PeerId& from) {
  const auto first = of_batch_.lower_bound({from, 0});
  const auto count = std::distance(first, of_batch_.upper_bound({from, UINT64_MAX}));
  if (static_cast<std::size_t>(count) <= max_unanswered()) return;
  replication_->dependents.forget(first->second);
  unanswered_.erase(first->second);
  of_batch_.erase(first);
}

// A sender that knows another ring counts on copies that a peer without any other does not make: it gets no answer, and
// sends the batch again. One that knows of this, because it leaves, keeps the links (keep_links()).
void PartitionMoves::acknowledge_copied(const Step& step) {
  const View& view = members_->view();
  const bool alone = state_->settings.replicas > 1 && !view.empty() && view.copies(0).empty();
  for (const Dependents::Id id : replication_->dependents.take_met(Dependents::Kind::batch)) {
    const auto batch = unanswered_.extract(id);
    if (batch.empty()) continue;
    of_batch_.erase({batch.mapped().from, batch.mapped().sequence});
    if (alone && batch.mapped().ring != view.ring().fingerprint()) continue;
    messenger_->reply(batch.mapped().reply, batch.mapped().from, ring::BatchAck{batch.mapped().sequence}, step.out);
  }
}

// --- answers

Result<void> PartitionMoves::hear(const Step& step, const ring::PeerId& from, const ring::BatchAck& taken) {
  if (replication_->replicator.acknowledged(from, taken.sequence)) return {};
  if (replication_->partition_manager.acknowledged(from, taken.sequence)) return {};
  // Until it is taken, this is as an acknowledgement that is late: the links stay in the outbox.
  if (replication_->partition_manager.keeps_all()) {
    if (kept_.size() < max_kept) kept_.emplace(from, taken.sequence);
    return {};
  }
  storage::Commit commit;
  commit.from_outbox = replication_->outbox.acknowledged(from, taken.sequence);
  if (members_->view().one_other()) ORBWEAVER_TRY(keep_links(step, commit));
  if (!commit.from_outbox.empty()) ORBWEAVER_TRY(writer_->commit(step, commit));
  return {};
}

// The links are on the other peer's disk alone, and a page here counts as fetched because of them. Until this peer has
// left they stay here too, as records that it returns.
Result<void> PartitionMoves::keep_links(const Step& step, storage::Commit& commit) {
  for (const storage::OutboxKey& key : commit.from_outbox) {
    const auto entry = state_->store->outbox_of(key.partition, key.sequence - 1, 1);
    if (!entry) return tl::make_unexpected(error_of(entry.error()));
    if (entry->empty() || entry->front().key.sequence != key.sequence) continue;
    auto record = storage::decode_record(entry->front().record);
    const auto url = record ? CanonicalUrl::of_stored(record->url) : fail(ErrorCode::io, "unreadable outbox entry");
    if (!url) continue;
    limit_link(*record, state_->settings, step.now);
    commit.merges.push_back({{state_->partitioner.host_key(*url), url->digest()}, std::move(*record)});
    replication_->partition_manager.late_write(key.partition);
  }
  return {};
}

Result<void> PartitionMoves::take_kept(const Step& step) {
  if (kept_.empty() || replication_->partition_manager.keeps_all()) return {};
  for (const auto& [from, sequence] : std::exchange(kept_, {}))
    ORBWEAVER_TRY(hear(step, from, ring::BatchAck{sequence}));
  return {};
}

Result<void> PartitionMoves::hear(const Step& step, const ring::PeerId& from, const ring::BatchRefused& refused) {
  if (refused.no_room()) {
    if (!replication_->partition_manager.pushed_back(from, refused.sequence, step.now))
      replication_->outbox.pushed_back(from, refused.sequence, step.now);
    return {};
  }
  if (!replication_->replicator.refused(from, refused.sequence, step.now) &&
      !replication_->partition_manager.refused(from, refused.sequence, step.now))
    replication_->outbox.refused(from, refused.sequence, step.now);
  return hear(step, refused.tenures);
}

Result<void> PartitionMoves::hear(const Step& step, const ring::PeerId& from, const ring::Roots& roots,
                                  const ring::ReplyPath& reply) {
  ORBWEAVER_TRY(hear(step, roots.tenures));
  ring::RootsCompared answer = replication_->partition_manager.on_roots(from, roots, members_->view());
  if (roots.kind == ring::TransferKind::release) {
    std::set<ring::Partition> not_now(answer.later.begin(), answer.later.end());
    not_now.insert(answer.differ.begin(), answer.differ.end());
    for (const ring::PartitionDigest& asked : roots.roots) {
      if (not_now.contains(asked.partition)) {
        may_drop_.erase({from, asked.partition});
      } else if (!copies_have(from, asked)) {
        answer.later.push_back(asked.partition);
      }
    }
  }
  messenger_->reply(reply, from, std::move(answer), step.out);
  return {};
}

Result<void> PartitionMoves::hear(const Step& step, const ring::PeerId& from, const ring::RootsCompared& compared) {
  replication_->partition_manager.on_compared(from, compared, step.now);
  return hear(step, compared.tenures);
}

Result<void> PartitionMoves::hear(const Step& step, const ring::PeerId& from, const ring::Leaves& leaves,
                                  const ring::ReplyPath& reply) {
  auto differ = replication_->partition_manager.on_leaves(leaves, members_->view());
  if (!differ) return tl::make_unexpected(differ.error());
  if (*differ) messenger_->reply(reply, from, std::move(**differ), step.out);
  return {};
}

// --- moves

bool PartitionMoves::copies_have(const ring::PeerId& from, const ring::PartitionDigest& asked) {
  const Replicator& replicator = replication_->replicator;
  const auto [at, added] = may_drop_.try_emplace({from, asked.partition});
  MayDrop& drop = at->second;
  if (added || drop.root != asked.root) drop = {asked.root, replication_->dependents.last(), std::nullopt};
  if (!drop.items && !replicator.waits_in(asked.partition, drop.outcomes)) drop.items = replicator.issued();
  if (!drop.items || replicator.safe() < *drop.items) return false;
  may_drop_.erase(at);
  return true;
}

// A partition goes to another peer when nothing is being fetched from it, and when what was fetched is safe: its links,
// and the sitemaps that a robots.txt named, are with their owners, or copied. What other partitions' pages link to does
// not matter. Without copies the links are as safe in this peer's outbox as anywhere.
bool PartitionMoves::ready_to_move(ring::Partition partition, ring::TransferKind kind,
                                   const std::function<bool(ring::Partition)>& stays) {
  const Replicator& replicator = replication_->replicator;
  // The partition stays, here or in both places; what must not leave yet goes as it was before.
  // What returns has been walked: its receiver may have made the visits already, and this peer's copy makes none.
  if (kind == ring::TransferKind::return_) return !stays(partition);
  if (kind != ring::TransferKind::hand_off && kind != ring::TransferKind::release) return true;
  const bool copied = state_->settings.replicas > 1;
  if (copied && (!replication_->copied_until.settled() || replication_->outbox.safe() == 0)) return false;
  if (stays(partition)) return false;
  if (bench_->partition_busy(partition) || replicator.waits_in(partition)) {
    safe_from_.erase(partition);
    return false;
  }
  if (!copied) return true;
  if (replication_->sitemaps_wait(partition)) return false;
  const auto [at, added] = safe_from_.try_emplace(partition, replicator.issued());
  if (replicator.safe() < at->second) return false;
  safe_from_.erase(at);
  return true;
}

// It is handed over, or released.
bool PartitionMoves::may_move(ring::Partition partition) const {
  const View& view = members_->view();
  if (view.empty()) return false;
  if (replication_->partition_manager.holds(partition)) return !view.owns(partition);
  return !view.keeps(partition) && state_->store->counts(partition).discovered() > 0;
}

void PartitionMoves::note_pause(const Step& step) {
  const bool pauses = members_->paused();
  if (pauses == paused_) return;
  paused_ = pauses;
  replication_->plan_due = true;
  step.log(LogLevel::info, "ring", pauses ? "cut off from most members, pausing" : "continuing", {});
}

Result<void> PartitionMoves::take_over(const Step& step, bool may_take) {
  PartitionManager& partition_manager = replication_->partition_manager;
  if (std::exchange(replication_->plan_due, false)) partition_manager.plan_all();
  if (!partition_manager.plan_wanted(step.now)) return {};
  std::erase_if(may_drop_, [&](const auto& drop) {
    const auto& [peer, partition] = drop.first;
    if (!members_->is_reachable(peer) || !partition_manager.holds(partition) || members_->view().empty()) return true;
    const std::vector<ring::PeerId>& keepers = members_->view().owners(partition);
    return std::find(keepers.begin(), keepers.end(), peer) != keepers.end();
  });
  std::erase_if(safe_from_, [this](const auto& entry) { return !may_move(entry.first); });
  std::erase_if(replication_->named_sitemaps,
                [this](const auto& entry) { return !replication_->dependents.waits(entry.second); });
  const PartitionManager::Changes taken =
      partition_manager.plan(members_->view(), members_->membership(), step.now, may_take && !members_->paused());
  ORBWEAVER_TRY(decide(step, taken));
  if (taken.empty()) return {};
  partition_manager.took_over(taken, members_->view(), members_->membership(), step.now);
  step.log(LogLevel::info, "ring", "taken over", {{"partitions", std::to_string(taken.size())}});
  return {};
}

Result<void> PartitionMoves::transfer(const Step& step, const std::function<bool(ring::Partition)>& stays) {
  PartitionManager& partition_manager = replication_->partition_manager;
  const Transfers::World world{
      partition_manager.tenures(),
      [&](ring::Partition partition, ring::TransferKind kind) { return ready_to_move(partition, kind, stays); },
      [this](const storage::Merge& page) { return replication_->outcome(page); },
      [this] { return replication_->new_sequence(); },
      [this](ring::Partition partition) {
        return std::max(state_->restarted, replication_->partition_manager.held_since(partition));
      },
      members_->view().ring().fingerprint()};
  std::vector<Transfers::Out> sends;
  PartitionManager::Changes handed_over;
  ORBWEAVER_TRY(partition_manager.tick(step.now, members_->view(), world, sends, handed_over));
  for (Transfers::Out& next : sends) {
    if (auto* const ask = std::get_if<ring::AskRecords>(&next.body)) ask->members = {members_->membership().self()};
    messenger_->send(next.to, std::move(next.body), step.out);
  }
  return decide(step, handed_over);
}

// Up to when everything has its copies; written about once a second.
Result<void> PartitionMoves::note_copied(const Step& step, bool confirmed) {
  CopiedUntil& copied_until = replication_->copied_until;
  if (state_->settings.replicas < 2 || !copied_until.due(step.now)) return {};
  const Replicator& replicator = replication_->replicator;
  const bool whole = confirmed && replication_->planned() && replication_->outbox.safe() > 0 &&
                     replication_->partition_manager.all_whole(members_->view());
  if (whole) {
    const Time open = replicator.earliest_outcome().value_or(Time::max());
    copied_until.move(step.now, open, replication_->outbox.safe(), replicator.safe());
  } else {
    copied_until.wait(step.now);
  }
  const auto row = copied_until.take_row();
  if (!row) return {};
  storage::Commit commit;
  commit.meta.emplace_back(meta_name::copied_until, *row);
  ORBWEAVER_TRY(writer_->commit(step, commit));
  return {};
}

Result<void> PartitionMoves::tick(const Step& step, bool may_take, const std::function<bool(ring::Partition)>& stays) {
  ORBWEAVER_TRY(take_kept(step));
  if (replication_->partition_manager.take_plan_wanted()) replication_->plan_due = true;
  note_pause(step);
  ORBWEAVER_TRY(take_over(step, may_take));
  ORBWEAVER_TRY(transfer(step, stays));
  if (const std::vector<ring::Partition> changed = replication_->partition_manager.take_fetchability_changes();
      !changed.empty()) {
    for (const ring::Partition partition : changed) safe_from_.erase(partition);
    bench_->fetchability_changed(changed);
    changed_.insert(changed_.end(), changed.begin(), changed.end());
  }
  acknowledge_copied(step);
  return {};
}

}  // namespace orbweaver
