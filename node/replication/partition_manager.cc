#include "node/replication/partition_manager.h"

#include <algorithm>

#include "node/errors/storage_error.h"
#include "storage/bytes.h"

namespace orbweaver {

namespace {

// Records dropped in one step.
constexpr std::size_t drop_step = 512;
// A partition is compared when nothing was written to it for this long; one in use never looks the same on both sides.
constexpr Duration quiet_time = std::chrono::milliseconds{500};

}  // namespace

std::pair<std::string, std::string> tenure_row(const ring::PartitionTenure& held) {
  std::pair<std::string, std::string> row{std::string(tenure_prefix), std::string()};
  storage::put_be(row.first, held.partition);
  storage::put_be(row.second, held.tenure.epoch);
  const auto& holder = held.tenure.holder.bytes;
  row.second.append(reinterpret_cast<const char*>(holder.data()), holder.size());
  return row;
}

PartitionManager::PartitionManager(Config config, const ring::PeerId& self, std::uint32_t partitions,
                                   storage::Store& store, const CopiedUntil& copied_until)
    : config_(config),
      self_(self),
      store_(&store),
      copied_until_(&copied_until),
      tenures_(partitions),
      transfers_(config.transfers, store),
      asks_(config.transfers.batch.timeout) {}

// ---- tenures ----

Result<std::vector<std::string>> PartitionManager::restore(Time now) {
  std::vector<std::string> dropped;
  const auto rows = store_->meta_rows(std::string(tenure_prefix));
  if (!rows) return tl::make_unexpected(error_of(rows.error()));
  for (const auto& [name, row] : *rows) {
    ring::Tenure tenure;
    if (name.size() != 2 || row.size() != 8 + tenure.holder.bytes.size()) {
      dropped.push_back("a partition's tenure has " + std::to_string(row.size()) + " bytes");
      continue;
    }
    tenure.epoch = storage::get_be<std::uint64_t>(row, 0);
    std::copy_n(row.data() + 8, tenure.holder.bytes.size(), reinterpret_cast<char*>(tenure.holder.bytes.data()));
    const auto partition = storage::get_be<std::uint16_t>(name, 0);
    if (!tenures_.contains(partition) || tenure.epoch > ring::max_epoch) {
      dropped.push_back("the tenure of partition " + std::to_string(partition) + " has epoch " +
                        std::to_string(tenure.epoch));
      continue;
    }
    tenures_.merge(partition, tenure);
    if (tenure.holder != self_) continue;
    held_[partition] = {.since = now, .restored = true};
    store_->hold(partition, true);
    dirty_.insert(partition);
    fetchability_changed(partition);
  }
  return dropped;
}

PartitionManager::Changes PartitionManager::make_ring() const {
  Changes changes;
  for (std::uint32_t i = 0; tenures_.contains(static_cast<ring::Partition>(i)) && i < ring::max_partitions; ++i)
    changes.push_back({static_cast<ring::Partition>(i), {1, self_}});
  return changes;
}

bool PartitionManager::hear(const std::vector<ring::PartitionTenure>& tenures, storage::Commit& commit, bool asked) {
  std::vector<ring::PartitionTenure> believed;
  std::set<ring::Partition> stepped;  // a partition takes one step per message, no more
  for (const ring::PartitionTenure& entry : tenures) {
    const bool news = tenures_.contains(entry.partition) && entry.tenure > tenures_.of(entry.partition);
    if (!news) continue;
    if (tenures_.believes(entry.partition, entry.tenure, asked) && stepped.insert(entry.partition).second) {
      believed.push_back(entry);
    } else {
      ++tenures_refused_;
    }
  }
  return learn(believed, commit, true);
}

bool PartitionManager::learn(const std::vector<ring::PartitionTenure>& tenures, storage::Commit& commit, bool heard) {
  bool news = false;
  for (const auto& [partition, tenure] : tenures) {
    const ring::Tenure before = tenures_.contains(partition) ? tenures_.of(partition) : ring::Tenure{};
    if (!tenures_.merge(partition, tenure)) continue;
    news = true;
    commit.meta.push_back(tenure_row({partition, tenure}));
    returned_.erase(partition);
    written_late_.erase(partition);
    patient_.erase(partition);
    returned_in_part_.erase(partition);
    asked_.erase(partition);
    asked_again_.erase(partition);
    transfers_.begin_anew(partition);
    dirty_.insert(partition);
    if (tenure.holder == before.holder) continue;
    releasing_.erase(partition);  // the next holder may lack what the last one had
    if (tenure.holder == self_) {
      // What this process was handed is here, together with its hosts' waits. Of what was handed to an earlier one a
      // power cut may have taken some: then the others are asked, as after a restart.
      const bool to_an_earlier_one = offered_.erase(partition) == 0 && heard;
      const auto last_access_unknown = last_access_unknown_.extract(partition);
      held_[partition] = {.since = last_access_unknown.empty() ? Time{} : last_access_unknown.mapped(),
                          .restored = to_an_earlier_one};
      if (to_an_earlier_one) restored_round_.reset();
      store_->hold(partition, true);
      awaiting_.erase(partition);
      fetchability_changed(partition);
    } else if (held_.erase(partition) > 0) {
      awaiting_.erase(partition);
      // At once: it may hold the partition again before that is planned.
      forget_copies(partition, [](const ring::PeerId&) { return false; });
      store_->hold(partition, false);
      fetchability_changed(partition);
    }
  }
  return news;
}

std::vector<ring::PartitionTenure> PartitionManager::newer(const std::vector<ring::PartitionTenure>& asked,
                                                           const ring::PeerId& from) const {
  std::vector<ring::PartitionTenure> known;
  for (const auto& [partition, tenure] : asked) {
    if (!tenures_.contains(partition) || tenure.holder != from) continue;
    if (tenure < tenures_.of(partition)) known.push_back({partition, tenures_.of(partition)});
  }
  return known;
}

// ---- roles ----

bool PartitionManager::fetches(ring::Partition partition) const {
  const auto found = held_.find(partition);
  return found != held_.end() && !found->second.restored && !waits(found->second) && !transfers_.frozen(partition);
}

Time PartitionManager::held_since(ring::Partition partition) const {
  const auto found = held_.find(partition);
  return found == held_.end() ? Time{} : found->second.since;
}

std::vector<ring::Partition> PartitionManager::take_fetchability_changes() {
  for (const ring::Partition partition : transfers_.take_thawed()) fetchability_changed(partition);
  std::vector<ring::Partition> partitions(fetchability_changed_.begin(), fetchability_changed_.end());
  fetchability_changed_.clear();
  return partitions;
}

// ---- work ----

Result<void> PartitionManager::release_some(const View& view) {
  for (std::size_t left = drop_step; left > 0 && !releasing_.empty();) {
    const ring::Partition partition = *releasing_.begin();
    if (holds(partition) || view.keeps(partition)) {
      releasing_.erase(partition);
      continue;
    }
    const std::uint64_t before = store_->counts(partition).discovered();
    const auto gone = store_->drop(partition, left);
    if (!gone) return tl::make_unexpected(error_of(gone.error()));
    if (*gone) releasing_.erase(partition);
    left -= std::min<std::size_t>(left, static_cast<std::size_t>(before - store_->counts(partition).discovered()) + 1);
  }
  return {};
}

// Anti-entropy: compares the roots of some partitions with those of their replicas, one slice after another. Not with a
// copy that has pages as they were before their fetch: it differs until all is settled. What it would return meanwhile
// keeps its own peer from settling. Where many peers have such copies, none ever would.
void PartitionManager::compare_slice(Time now, const View& view) {
  if (now < next_compare_) return;
  if (!candidates_.empty()) {
    for (const auto& [partition, root] : candidates_) {
      if (!holds(partition) || !view.owns(partition) || store_->root(partition) != root) continue;
      for (const ring::PeerId& peer : view.copies(partition))
        if (!transfers_.wanted({peer, partition}) && !in_part_.contains({partition, peer}))
          transfers_.want({peer, partition}, ring::TransferKind::backfill, {.give = true});
    }
    candidates_.clear();
    next_compare_ = now + config_.compare_every;
    return;
  }
  // Peers that are late with their answers are not asked for more.
  if (transfers_.tasks(ring::TransferKind::backfill) - transfers_.fills() >= config_.compare_partitions) {
    next_compare_ = now + config_.compare_every;
    return;
  }
  next_compare_ = now + quiet_time;
  auto at = held_.lower_bound(compare_at_);
  for (std::size_t i = 0; i < config_.compare_partitions && i < held_.size(); ++i, ++at) {
    if (at == held_.end()) at = held_.begin();
    if (view.owns(at->first) && view.owners(at->first).size() > 1)
      candidates_.emplace_back(at->first, store_->root(at->first));
  }
  if (!candidates_.empty()) compare_at_ = static_cast<ring::Partition>(candidates_.back().first + 1);
}

Result<void> PartitionManager::tick(Time now, const View& view, const Transfers::World& world,
                                    std::vector<Transfers::Out>& out, Changes& changes) {
  if (view.empty()) return {};
  compare_slice(now, view);
  one_other_ = view.one_other();
  if (!keep_all_ && !drops_at_the_end())
    if (Result<void> dropped = release_some(view); !dropped) return dropped;
  if (Result<void> ticked = transfers_.tick(now, world, out); !ticked) return ticked;
  for (RecordAsks::Out& ask : asks_.tick(now, tenures_.sum_held_by(self_), world.new_sequence))
    out.push_back({ask.to, std::move(ask.question)});
  for (const Transfers::Task& task : transfers_.take_equal()) returned_all(task.to, task.partition);
  for (const Transfers::Done& done : transfers_.take_done()) finish_task(done, view, changes);
  stop_awaiting_the_silent(now, view);
  return {};
}

void PartitionManager::finish_task(const Transfers::Done& done, const View& view, Changes& changes) {
  const ring::Partition partition = done.task.partition;
  const auto held = held_.find(partition);
  switch (done.kind) {
    case ring::TransferKind::backfill: {
      // A peer that stopped being a replica meanwhile does not count: if it becomes one again, it is filled again.
      const std::vector<ring::PeerId> copies = view.copies(partition);
      if (held == held_.end() || std::find(copies.begin(), copies.end(), done.task.to) == copies.end()) break;
      backfilled_.insert({partition, done.task.to});
      if (done.in_part) in_part_.insert({partition, done.task.to});
      if (done.in_part && settled_) dirty_.insert(partition);
      note_whole(partition, view);
      break;
    }
    case ring::TransferKind::hand_off:
      if (held != held_.end()) changes.push_back({partition, {tenures_.of(partition).epoch + 1, done.task.to}});
      break;
    case ring::TransferKind::return_:
      returned_.insert(partition);
      if (done.in_part) returned_in_part_.insert(partition);
      if (written_late_.erase(partition) > 0) {
        patient_.insert(partition);
        return_again(partition);
      }
      if (done.in_part && settled_) return_again(partition);
      asked_.erase(partition);
      // What is complete was so before the holder asked, and it may not have waited for it then.
      if (asked_again_.erase(partition) > 0) {
        asked_.insert(partition);
        dirty_.insert(partition);
      }
      break;
    case ring::TransferKind::release:
      if (done.agreed && asked_.erase(partition) + asked_again_.erase(partition) > 0) {
        dirty_.insert(partition);  // the holder has asked meanwhile, and waits for a word that follows its question
      } else if (done.agreed && written_late_.erase(partition) > 0) {
        patient_.insert(partition);
        dirty_.insert(partition);  // what was sent was not all
      } else if (done.agreed) {
        releasing_.insert(partition);
      } else {
        // All is sent, unless more came, or a holder has asked that may lack what was sent.
        const bool again = asked_.erase(partition) + asked_again_.erase(partition) + written_late_.erase(partition) > 0;
        transfers_.want(done.task, ring::TransferKind::release, {.already_sent = !again});
        dirty_.insert(partition);  // it may be planned already that another peer holds it
      }
      break;
    case ring::TransferKind::ask:
      if (held != held_.end() && !done.agreed) held->second.giving.insert(done.task.to);
      break;
  }
}

// ---- messages ----

void PartitionManager::fill_anew(ring::Partition partition, const ring::PeerId& copy) {
  const bool filled = backfilled_.erase({partition, copy}) > 0;
  if (transfers_.cancel_of(ring::TransferKind::backfill, {copy, partition}) || filled) dirty_.insert(partition);
}

ring::RootsCompared PartitionManager::on_roots(const ring::PeerId& from, const ring::Roots& roots, const View& view) {
  ring::RootsCompared answer;
  answer.sequence = roots.sequence;
  answer.tenures = newer(roots.tenures, from);
  std::set<ring::Partition> outdated;
  for (const ring::PartitionTenure& entry : answer.tenures) outdated.insert(entry.partition);
  for (const auto& [partition, root] : roots.roots) {
    if (!tenures_.contains(partition)) continue;
    bool later = view.empty() || outdated.contains(partition);
    bool equal = root == store_->root(partition);
    switch (roots.kind) {
      case ring::TransferKind::backfill:
        later = later || !view.keeps(partition);
        break;
      case ring::TransferKind::ask:
        // The holder had all of what this peer drops.
        equal = equal || store_->counts(partition).discovered() == 0 || releasing_.contains(partition);
        break;
      case ring::TransferKind::hand_off:
        later = later || !view.owns(partition);
        if (!later && !holds(partition)) offered_.insert(partition);
        break;
      case ring::TransferKind::return_:
      case ring::TransferKind::release: {
        later = later || !holds(partition);
        // It may have lost what it had acknowledged, of a fill that is under way too. An answer to this peer's own
        // question does not say so: a copy of a busy partition hardly ever looks the same.
        if (roots.give && !later && !equal) fill_anew(partition, from);
        // It has nothing to return; or, before it drops its copy, it has returned all, maybe to an earlier process.
        const bool returned = root == 0 ? roots.kind == ring::TransferKind::return_ : equal;
        equal = equal || root == 0;
        if (!later && !equal) held_.at(partition).returning[from] = roots.sequence;
        if (later || !equal) break;
        if (returned) returned_all(from, partition);
        const std::vector<ring::PeerId>& owners = view.owners(partition);
        const bool replica = std::find(owners.begin(), owners.end(), from) != owners.end();
        later = roots.kind == ring::TransferKind::release && (replica || !copies_complete(partition, view));
        break;
      }
    }
    const bool by_holder = roots.kind == ring::TransferKind::backfill || roots.kind == ring::TransferKind::ask;
    // Its next owner asks the holder too, and gets it with the hand-off.
    if (roots.give && by_holder && !later && !equal && !held_.contains(partition)) {
      if (transfers_.wanted({from, partition})) asked_again_.insert(partition);
      transfers_.send_anew({from, partition});
      asked_.insert(partition);
      dirty_.insert(partition);
    }
    if (later) {
      answer.later.push_back(partition);
    } else if (!equal) {
      answer.differ.push_back(partition);
    }
  }
  return answer;
}

Result<std::optional<ring::LeavesDiffer>> PartitionManager::on_leaves(const ring::Leaves& leaves, const View& view) {
  if (!tenures_.contains(leaves.partition) || leaves.leaves.size() != ring::max_leaves)
    return std::optional<ring::LeavesDiffer>();
  if (!view.keeps(leaves.partition) && !holds(leaves.partition)) return std::optional<ring::LeavesDiffer>();
  const auto own = store_->leaves(leaves.partition);
  if (!own) return tl::make_unexpected(error_of(own.error()));
  ring::LeavesDiffer answer{leaves.partition, std::string(ring::max_leaves, '\0'), leaves.sequence};
  for (std::size_t i = 0; i < ring::max_leaves; ++i) answer.differ[i] = (*own)[i] == leaves.leaves[i] ? '\0' : '\1';
  return std::optional<ring::LeavesDiffer>(std::move(answer));
}

void PartitionManager::completed(const ring::PeerId& from, const ring::Batch& batch) {
  const std::set<ring::Partition> whole(batch.complete.begin(), batch.complete.end());
  for (const auto& [partition, tenure] : batch.tenures) {
    const auto held = held_.find(partition);
    if (!whole.contains(partition) || held == held_.end() || tenures_.of(partition) != tenure) continue;
    const auto asked = held->second.returning.find(from);
    if (asked == held->second.returning.end() || batch.sequence < asked->second) continue;
    held->second.returning.erase(asked);
    returned_all(from, partition);
  }
}

void PartitionManager::returned_all(const ring::PeerId& from, ring::Partition partition) {
  const auto held = held_.find(partition);
  if (held == held_.end() || held->second.awaited.erase(from) == 0 || !held->second.awaited.empty()) return;
  awaiting_.erase(partition);
  if (!waits(held->second)) waits_no_more(partition, held->second);
}

ring::RecordsKnown PartitionManager::on_ask(const ring::PeerId& from, const ring::AskRecords& ask,
                                            const View& view) const {
  ring::RecordsKnown answer{.sequence = ask.sequence};
  answer.later = view.empty() || tenures_.sum_held_by(from) != ask.sum;
  if (answer.later) return answer;
  for (const ring::Partition partition : store_->partitions())
    if (tenures_.contains(partition) && tenures_.of(partition).epoch > 0 && tenures_.of(partition).holder == from)
      answer.roots.push_back({partition, store_->root(partition)});
  return answer;
}

void PartitionManager::on_known(const ring::PeerId& from, const ring::RecordsKnown& answer, Time now) {
  if (!asks_.hear(from, answer, now)) return;
  for (const auto& [partition, root] : answer.roots) {
    const auto held = held_.find(partition);
    if (held == held_.end() || root == store_->root(partition)) continue;
    if (held->second.restored || asks_.awaits(held->second.round, from)) await(partition, held->second, from, now);
  }
  asks_.done(from);
  note_ended_asks();
}

void PartitionManager::note_ended_asks() {
  for (const ring::Partition partition : asks_.take_ended()) {
    const auto held = held_.find(partition);
    if (held != held_.end() && !waits(held->second)) waits_no_more(partition, held->second);
  }
}

std::map<ring::PeerId, std::vector<ring::Partition>> PartitionManager::awaited() const {
  std::map<ring::PeerId, std::vector<ring::Partition>> waits = asks_.awaited();
  for (const ring::Partition partition : awaiting_)
    for (const ring::PeerId& peer : held_.at(partition).awaited) waits[peer].push_back(partition);
  for (auto& [peer, partitions] : waits) {
    std::sort(partitions.begin(), partitions.end());
    partitions.erase(std::unique(partitions.begin(), partitions.end()), partitions.end());
  }
  return waits;
}

bool PartitionManager::at_rest() const {
  return gaining_.empty() && to_hand_over() == 0 && !returns_any() && releasing_.empty();
}

// The last but one to leave drops nothing before everything is with the other: if that one's disk is lost, and this
// peer stays after all, it has each page together with its links.
bool PartitionManager::drops_at_the_end() const {
  return one_other_ && (plan_open() || !held_.empty() || returns_any());
}

std::optional<Time> PartitionManager::next_deadline() const {
  if ((!releasing_.empty() && !keep_all_ && !drops_at_the_end()) || plan_open()) return Time{};
  std::optional<Time> at = transfers_.next_deadline();
  const auto consider = [&at](Time other) { at = at ? std::min(*at, other) : other; };
  if (asks_.next_deadline()) consider(*asks_.next_deadline());
  if (!awaiting_.empty() || asks_.any_open()) consider(next_look_);
  if (!of_unknown_.empty()) consider(unknown_due_);
  if (!held_.empty()) consider(next_compare_);
  return at;
}

}  // namespace orbweaver
