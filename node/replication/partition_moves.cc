#include "node/replication/partition_moves.h"

#include <algorithm>
#include <set>

#include "node/try.h"

namespace orbweaver {

namespace {

// Tables of tenures are exchanged no more often than this; changes are told at once.
constexpr Duration compare_every = std::chrono::milliseconds{200};
// Up to this many members each hear of a change of hands at once; in a larger ring only those concerned, and the others
// by comparing fingerprints.
constexpr std::size_t tell_all_max = 64;

}  // namespace

// --- tenures

Result<void> PartitionMoves::hear(const Step& step, const std::vector<ring::PartitionTenure>& tenures, bool asked) {
  if (tenures.empty()) return {};
  storage::Commit commit;
  if (!replication_->partition_manager.hear(tenures, commit, asked)) return {};
  replication_->plan_due = true;
  ORBWEAVER_TRY(writer_->commit(step, commit));
  return {};
}

Result<void> PartitionMoves::learn(const Step& step, const std::vector<ring::PartitionTenure>& tenures) {
  storage::Commit commit;
  if (!replication_->partition_manager.learn(tenures, commit)) return {};
  replication_->plan_due = true;
  ORBWEAVER_TRY(writer_->commit(step, commit));
  return {};
}

// What this peer decides is on its disk before another hears of it.
Result<void> PartitionMoves::decide(const Step& step, const PartitionManager::Changes& changes) {
  if (changes.empty()) return {};
  ORBWEAVER_TRY(learn(step, changes));
  const std::vector<ring::PeerId> members = members_->reachable();
  std::set<ring::PeerId> told(members.begin(), members.end());
  if (members.size() > tell_all_max) {
    told.clear();
    for (const ring::PartitionTenure& change : changes) {
      told.insert(change.tenure.holder);
      for (const ring::PeerId& peer : members_->view().owners(change.partition)) told.insert(peer);
    }
  }
  for (const ring::PeerId& peer : told)
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
  next_compare_ = step.now + compare_every;
  send(step, from, tenures.all());
}

// --- batches that wait for their copies

void PartitionMoves::acknowledge(const Step& step, const ring::ReplyPath& reply, const ring::PeerId& from,
                                 std::uint64_t sequence) {
  if (replication_->all_copied()) return messenger_->reply(reply, from, ring::BatchAck{sequence}, step.out);
  unanswered_.push_back({reply, from, sequence, replication_->replicator.issued()});
}

void PartitionMoves::acknowledge_copied(const Step& step) {
  if (unanswered_.empty()) return;
  const std::uint64_t safe = replication_->replicator.safe();
  for (; !unanswered_.empty() && unanswered_.front().items <= safe; unanswered_.pop_front()) {
    const Unanswered& batch = unanswered_.front();
    messenger_->reply(batch.reply, batch.from, ring::BatchAck{batch.sequence}, step.out);
  }
}

// --- answers

Result<void> PartitionMoves::hear(const Step& step, const ring::PeerId& from, const ring::BatchAck& taken) {
  if (replication_->replicator.acknowledged(from, taken.sequence)) return {};
  if (replication_->partition_manager.acknowledged(from, taken.sequence)) return {};
  storage::Commit commit;
  commit.from_outbox = replication_->outbox.acknowledged(from, taken.sequence);
  if (!commit.from_outbox.empty()) ORBWEAVER_TRY(writer_->commit(step, commit));
  return {};
}

Result<void> PartitionMoves::hear(const Step& step, const ring::PeerId& from, const ring::BatchRefused& refused) {
  if (!replication_->replicator.refused(from, refused.sequence, step.now) &&
      !replication_->partition_manager.refused(from, refused.sequence, step.now))
    replication_->outbox.refused(from, refused.sequence, step.now);
  return hear(step, refused.tenures);
}

Result<void> PartitionMoves::hear(const Step& step, const ring::PeerId& from, const ring::Roots& roots,
                                  const ring::ReplyPath& reply) {
  ORBWEAVER_TRY(hear(step, roots.tenures));
  messenger_->reply(reply, from, replication_->partition_manager.on_roots(from, roots, members_->view()), step.out);
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

// A partition goes to another peer when nothing is being fetched from it, and when what was fetched is safe: its links
// are with their owners, or copied.
bool PartitionMoves::ready_to_move(ring::Partition partition, ring::TransferKind kind,
                                   const std::function<bool(ring::Partition)>& stays) {
  const OutboxSender& outbox = replication_->outbox;
  const Replicator& replicator = replication_->replicator;
  if (outbox.safe() == 0) return false;                   // what an earlier process found is not all with its owners
  if (kind == ring::TransferKind::backfill) return true;  // the partition stays; what changes meanwhile is copied
  if (stays(partition)) return false;
  if (bench_->partition_busy(partition) || replicator.waits_in(partition)) {
    safe_from_.erase(partition);
    return false;
  }
  const auto [at, added] =
      safe_from_.try_emplace(partition, SafeFrom{state_->store->next_outbox(), replicator.issued()});
  if (outbox.safe() < at->second.outbox || replicator.safe() < at->second.items) return false;
  safe_from_.erase(at);
  return true;
}

void PartitionMoves::note_pause(const Step& step) {
  const bool pauses = members_->paused();
  if (pauses == paused_) return;
  paused_ = pauses;
  replication_->plan_due = true;
  step.log(LogLevel::info, "ring", pauses ? "cut off from most members, pausing" : "going on", {});
}

Result<void> PartitionMoves::take_over(const Step& step, bool may_take) {
  PartitionManager& partition_manager = replication_->partition_manager;
  if (!replication_->plan_due && !partition_manager.holder_unknown()) return {};
  replication_->plan_due = false;
  const PartitionManager::Changes taken =
      partition_manager.plan(members_->view(), members_->membership(), step.now, may_take && !members_->paused());
  ORBWEAVER_TRY(decide(step, taken));
  if (taken.empty()) return {};
  partition_manager.took_over(taken, members_->view(), members_->membership(), step.now);
  step.log(LogLevel::info, "ring", "taken over", {{"partitions", std::to_string(taken.size())}});
  replication_->plan_due = true;
  return {};
}

Result<void> PartitionMoves::transfer(const Step& step, const std::function<bool(ring::Partition)>& stays) {
  PartitionManager& partition_manager = replication_->partition_manager;
  const Transfers::World world{
      partition_manager.tenures(),
      [&](ring::Partition partition, ring::TransferKind kind) { return ready_to_move(partition, kind, stays); },
      [this](const storage::UrlKey& key) { return replication_->replicator.waits(key); },
      [this] { return replication_->new_sequence(); },
      [this](ring::Partition partition) {
        return std::max(state_->restarted, replication_->partition_manager.held_since(partition));
      },
      members_->view().ring().fingerprint()};
  std::vector<Transfers::Out> sends;
  PartitionManager::Changes handed_over;
  ORBWEAVER_TRY(partition_manager.tick(step.now, members_->view(), world, sends, handed_over));
  for (Transfers::Out& next : sends) messenger_->send(next.to, std::move(next.body), step.out);
  return decide(step, handed_over);
}

Result<void> PartitionMoves::tick(const Step& step, bool may_take, const std::function<bool(ring::Partition)>& stays) {
  note_pause(step);
  ORBWEAVER_TRY(take_over(step, may_take));
  ORBWEAVER_TRY(transfer(step, stays));
  if (const std::vector<ring::Partition> changed = replication_->partition_manager.take_fetchability_changes();
      !changed.empty()) {
    for (const ring::Partition partition : changed) safe_from_.erase(partition);
    bench_->fetchability_changed(changed);
  }
  acknowledge_copied(step);
  return {};
}

}  // namespace orbweaver
