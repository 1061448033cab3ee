#include "node/replication/partition_manager.h"

#include <algorithm>

#include "node/errors/storage_error.h"
#include "storage/bytes.h"

namespace orbweaver {

namespace {

// Records dropped in one step.
constexpr std::size_t drop_step = 512;
// A partition that nothing was written to for this long is compared; one in use never looks the same on both sides.
constexpr Duration quiet_time = std::chrono::milliseconds{500};

}  // namespace

PartitionManager::PartitionManager(Config config, const ring::PeerId& self, std::uint32_t partitions,
                                   storage::Store& store)
    : config_(config), self_(self), store_(&store), tenures_(partitions), transfers_(config.transfers, store) {}

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
    if (!tenures_.contains(partition) || tenure.epoch > ring::epoch_max) {
      dropped.push_back("the tenure of partition " + std::to_string(partition) + " has epoch " +
                        std::to_string(tenure.epoch));
      continue;
    }
    tenures_.merge(partition, tenure);
    if (tenure.holder != self_) continue;
    held_[partition] = {now, {}};
    store_->hold(partition, true);
    fetchability_changed(partition);
  }
  return dropped;
}

PartitionManager::Changes PartitionManager::make_ring() const {
  Changes changes;
  for (std::uint32_t i = 0; tenures_.contains(static_cast<ring::Partition>(i)) && i < ring::partitions_max; ++i)
    changes.push_back({static_cast<ring::Partition>(i), {1, self_}});
  return changes;
}

bool PartitionManager::hear(const std::vector<ring::PartitionTenure>& tenures, storage::Commit& commit, bool asked) {
  std::vector<ring::PartitionTenure> believed;
  std::set<ring::Partition> told;  // so that many steps in one message are one
  for (const ring::PartitionTenure& entry : tenures) {
    const bool news = tenures_.contains(entry.partition) && entry.tenure > tenures_.of(entry.partition);
    if (!news) continue;
    if (tenures_.believes(entry.partition, entry.tenure, asked) && told.insert(entry.partition).second) {
      believed.push_back(entry);
    } else {
      ++tenures_refused_;
    }
  }
  return learn(believed, commit);
}

bool PartitionManager::learn(const std::vector<ring::PartitionTenure>& tenures, storage::Commit& commit) {
  bool news = false;
  for (const auto& [partition, tenure] : tenures) {
    const ring::Tenure before = tenures_.contains(partition) ? tenures_.of(partition) : ring::Tenure{};
    if (!tenures_.merge(partition, tenure)) continue;
    news = true;
    std::string name(tenure_prefix);
    storage::put_be(name, partition);
    std::string row;
    storage::put_be(row, tenure.epoch);
    row.append(reinterpret_cast<const char*>(tenure.holder.bytes.data()), tenure.holder.bytes.size());
    commit.meta.emplace_back(std::move(name), std::move(row));
    returned_.erase(partition);
    transfers_.begin_anew(partition);
    if (tenure.holder == before.holder) continue;
    if (tenure.holder == self_) {
      // Handed over to this peer: with its hosts' waits, so that nothing more is to be waited for.
      const auto last_access_unknown = last_access_unknown_.extract(partition);
      held_[partition] = {last_access_unknown.empty() ? Time{} : last_access_unknown.mapped(), {}};
      store_->hold(partition, true);
      releasing_.erase(partition);
      fetchability_changed(partition);
    } else if (held_.erase(partition) > 0) {
      store_->hold(partition, false);
      fetchability_changed(partition);
    }
  }
  return news;
}

void PartitionManager::took_over(const Changes& changes, const View& view, const ring::Membership& membership,
                                 Time now) {
  for (const auto& [partition, tenure] : changes) {
    const auto held = held_.find(partition);
    if (held == held_.end()) continue;
    held->second.since = now;
    for (const ring::PeerId& peer : view.owners(partition)) {
      const ring::Member* member = membership.find(peer);
      if (peer != self_ && member != nullptr && ring::reachable(*member)) held->second.awaited.insert(peer);
    }
    if (!held->second.awaited.empty()) ++to_gain_;
  }
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
  return found != held_.end() && found->second.awaited.empty() && !transfers_.frozen(partition);
}

Time PartitionManager::held_since(ring::Partition partition) const {
  const auto found = held_.find(partition);
  return found == held_.end() ? Time{} : found->second.since;
}

std::vector<ring::Partition> PartitionManager::take_fetchability_changes() {
  for (const ring::Partition partition : transfers_.take_thawed()) fetchability_changed(partition);
  const std::vector<ring::Partition> partitions(fetchability_changed_.begin(), fetchability_changed_.end());
  fetchability_changed_.clear();
  return partitions;
}

bool PartitionManager::copies_whole(ring::Partition partition, const View& view) const {
  const std::vector<ring::PeerId>& owners = view.owners(partition);
  return std::all_of(owners.begin(), owners.end(), [&](const ring::PeerId& peer) {
    return peer == self_ || backfilled_.contains({partition, peer});
  });
}

// The partition is this peer's to hold, and it does: its replicas get what they lack.
void PartitionManager::plan_own(ring::Partition partition, const View& view) {
  for (const ring::PeerId& peer : view.owners(partition))
    if (peer != self_ && !backfilled_.contains({partition, peer}))
      transfers_.want({peer, partition}, ring::TransferKind::backfill);
}

PartitionManager::Changes PartitionManager::plan(const View& view, const ring::Membership& membership, Time now,
                                                 bool may_take) {
  Changes changes;
  to_gain_ = 0;
  if (view.empty()) {
    transfers_.cancel_unless([](const auto&, auto) { return false; });
    return changes;
  }
  const auto reachable = [&](const ring::PeerId& peer) {
    const ring::Member* member = membership.find(peer);
    return member != nullptr && ring::reachable(*member);
  };
  // A holder that is not known as a member is a newcomer whose name travels more slowly than its messages, or one that
  // was forgotten long ago.
  std::map<ring::PeerId, Time> unknown;
  const auto gone = [&](const ring::PeerId& holder) {
    if (membership.find(holder) != nullptr) return !reachable(holder);
    const auto before = unknown_since_.find(holder);
    const Time since = unknown.emplace(holder, before == unknown_since_.end() ? now : before->second).first->second;
    return now - since >= config_.unknown_wait;
  };
  std::erase_if(backfilled_, [&](const auto& copy) {
    const std::vector<ring::PeerId>& owners = view.owners(copy.first);
    return owners.front() != self_ || std::find(owners.begin(), owners.end(), copy.second) == owners.end();
  });
  transfers_.cancel_unless([&](const Transfers::Task& task, ring::TransferKind kind) {
    const bool owner = view.owner(task.partition) == task.to;
    const bool held = holds(task.partition);
    switch (kind) {
      case ring::TransferKind::hand_off:
        return held && owner;
      case ring::TransferKind::return_:
        return !held && owner && view.keeps(task.partition);
      case ring::TransferKind::release:
        return !held && owner && !view.keeps(task.partition);
      case ring::TransferKind::backfill:
        break;
    }
    const std::vector<ring::PeerId>& owners = view.owners(task.partition);
    return held && owners.front() == self_ && std::find(owners.begin(), owners.end(), task.to) != owners.end();
  });
  for (std::uint32_t i = 0; i < view.partitions(); ++i) {
    const auto partition = static_cast<ring::Partition>(i);
    const ring::PeerId& owner = view.owner(partition);
    const ring::Tenure& tenure = tenures_.of(partition);
    // What an owner admits may be news to the next one.
    if (owner == self_) returned_.erase(partition);
    if (const auto held = held_.find(partition); held != held_.end()) {
      std::set<ring::PeerId>& awaited = held->second.awaited;
      const bool waited = !awaited.empty();
      const std::vector<ring::PeerId>& owners = view.owners(partition);
      std::erase_if(awaited, [&](const ring::PeerId& peer) {
        return !reachable(peer) || std::find(owners.begin(), owners.end(), peer) == owners.end();
      });
      if (waited && awaited.empty()) fetchability_changed(partition);
      if (owner != self_) {
        transfers_.want({owner, partition}, ring::TransferKind::hand_off);
      } else {
        plan_own(partition, view);
        if (!awaited.empty()) ++to_gain_;
      }
      continue;
    }
    if (owner == self_) {
      if (may_take && (tenure.epoch == 0 || gone(tenure.holder))) {
        changes.push_back({partition, {tenure.epoch + 1, self_}});
      } else {
        ++to_gain_;
      }
      continue;
    }
    const bool replica = view.keeps(partition);
    if (replica) releasing_.erase(partition);
    if (releasing_.contains(partition)) continue;
    const bool has_some = store_->counts(partition).discovered() > 0;
    if (replica && !returned_.contains(partition)) {
      transfers_.want({owner, partition}, ring::TransferKind::return_);
    } else if (!replica && has_some) {
      transfers_.want({owner, partition}, ring::TransferKind::release);
    }
  }
  unknown_since_ = std::move(unknown);
  return changes;
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

// Anti-entropy: the roots of some partitions are compared with their replicas', all in turn.
void PartitionManager::compare_slice(Time now, const View& view) {
  if (now < next_compare_) return;
  if (!candidates_.empty()) {
    for (const auto& [partition, root] : candidates_) {
      if (!holds(partition) || !view.owns(partition) || store_->root(partition) != root) continue;
      for (const ring::PeerId& peer : view.owners(partition))
        if (peer != self_) transfers_.want({peer, partition}, ring::TransferKind::backfill);
    }
    candidates_.clear();
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
  if (Result<void> dropped = release_some(view); !dropped) return dropped;
  if (Result<void> ticked = transfers_.tick(now, world, out); !ticked) return ticked;
  for (const Transfers::Done& done : transfers_.take_done()) {
    const ring::Partition partition = done.task.partition;
    switch (done.kind) {
      case ring::TransferKind::backfill:
        // Not one that stopped being a replica meanwhile: should it become one again, it is filled again.
        if (const std::vector<ring::PeerId>& owners = view.owners(partition);
            owners.front() == self_ && std::find(owners.begin(), owners.end(), done.task.to) != owners.end())
          backfilled_.insert({partition, done.task.to});
        break;
      case ring::TransferKind::hand_off:
        if (holds(partition)) changes.push_back({partition, {tenures_.of(partition).epoch + 1, done.task.to}});
        break;
      case ring::TransferKind::return_:
        returned_.insert(partition);
        break;
      case ring::TransferKind::release:
        if (done.agreed) {
          releasing_.insert(partition);
        } else {
          transfers_.want(done.task, ring::TransferKind::release, true);
        }
        break;
    }
  }
  return {};
}

// ---- messages ----

ring::RootsCompared PartitionManager::on_roots(const ring::PeerId& from, const ring::Roots& roots, const View& view) {
  ring::RootsCompared answer;
  answer.sequence = roots.sequence;
  answer.tenures = newer(roots.tenures, from);
  std::set<ring::Partition> outdated;
  for (const ring::PartitionTenure& entry : answer.tenures) outdated.insert(entry.partition);
  for (const auto& [partition, root] : roots.roots) {
    if (!tenures_.contains(partition)) continue;
    const bool owner = view.owns(partition);
    bool later = outdated.contains(partition);
    bool equal = root == store_->root(partition);
    switch (roots.kind) {
      case ring::TransferKind::backfill:
        later = later || !view.keeps(partition);
        break;
      case ring::TransferKind::hand_off:
        later = later || !owner;
        break;
      case ring::TransferKind::return_:
      case ring::TransferKind::release: {
        later = later || !owner || !holds(partition);
        equal = equal || root == 0;
        if (later || !equal) break;
        completed(from, {partition});
        const std::vector<ring::PeerId>& owners = view.owners(partition);
        const bool replica = std::find(owners.begin(), owners.end(), from) != owners.end();
        later = roots.kind == ring::TransferKind::release && (replica || !copies_whole(partition, view));
        break;
      }
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
  if (!tenures_.contains(leaves.partition) || leaves.leaves.size() != ring::leaves_max || !view.keeps(leaves.partition))
    return std::optional<ring::LeavesDiffer>();
  const auto own = store_->leaves(leaves.partition);
  if (!own) return tl::make_unexpected(error_of(own.error()));
  ring::LeavesDiffer answer{leaves.partition, std::string(ring::leaves_max, '\0')};
  for (std::size_t i = 0; i < ring::leaves_max; ++i) answer.differ[i] = (*own)[i] == leaves.leaves[i] ? '\0' : '\1';
  return std::optional<ring::LeavesDiffer>(std::move(answer));
}

void PartitionManager::completed(const ring::PeerId& from, const std::vector<ring::Partition>& partitions) {
  for (const ring::Partition partition : partitions) {
    const auto held = held_.find(partition);
    if (held == held_.end() || held->second.awaited.erase(from) == 0 || !held->second.awaited.empty()) continue;
    if (to_gain_ > 0) --to_gain_;
    fetchability_changed(partition);
  }
}

std::map<ring::PeerId, std::vector<ring::Partition>> PartitionManager::awaited() const {
  std::map<ring::PeerId, std::vector<ring::Partition>> waits;
  for (const auto& [partition, holding] : held_)
    for (const ring::PeerId& peer : holding.awaited) waits[peer].push_back(partition);
  return waits;
}

bool PartitionManager::at_rest() const {
  return to_gain_ == 0 && to_hand_over() == 0 && to_return() == 0 && releasing_.empty();
}

std::optional<Time> PartitionManager::next_deadline() const {
  if (!releasing_.empty()) return Time{};
  std::optional<Time> at = transfers_.next_deadline();
  if (!held_.empty()) at = at ? std::min(*at, next_compare_) : next_compare_;
  return at;
}

}  // namespace orbweaver
