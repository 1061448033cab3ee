// What is to be done, partition by partition, after a change of the view, of tenures, or of what has its copies.
#include <algorithm>

#include "node/replication/partition_manager.h"

namespace orbweaver {

bool PartitionManager::copies_whole(ring::Partition partition, const View& view) const {
  const std::vector<ring::PeerId> copies = view.copies(partition);
  return std::all_of(copies.begin(), copies.end(), [&](const ring::PeerId& peer) {
    return backfilled_.contains({partition, peer});
  });
}

bool PartitionManager::copies_complete(ring::Partition partition, const View& view) const {
  const auto first = in_part_.lower_bound({partition, ring::PeerId{}});
  return copies_whole(partition, view) && (first == in_part_.end() || first->first != partition);
}

void PartitionManager::note_unsent(ring::Partition partition, const View& view) {
  for (const ring::PeerId& peer : view.copies(partition)) in_part_.insert({partition, peer});
}

bool PartitionManager::all_whole(const View& view) const {
  return !view.empty() && to_return() == 0 && std::all_of(held_.begin(), held_.end(), [&](const auto& entry) {
    return !view.copies(entry.first).empty() && copies_whole(entry.first, view);
  });
}

void PartitionManager::await_others(ring::Partition partition, Holding& holding, const ring::Membership& membership,
                                    Time now) {
  holding.restored = false;
  holding.asked = now;
  holding.awaited.clear();
  for (const auto& [peer, member] : membership.members())
    if (peer != self_ && ring::reachable(member) && member.state != ring::MemberState::joining)
      holding.awaited.insert(peer);
  fetchability_changed(partition);
}

void PartitionManager::took_over(const Changes& changes, const ring::Membership& membership, Time now) {
  for (const auto& [partition, tenure] : changes) {
    const auto held = held_.find(partition);
    if (held == held_.end()) continue;
    held->second.since = now;
    await_others(partition, held->second, membership, now);
    if (!held->second.awaited.empty()) ++to_gain_;
  }
}

void PartitionManager::cancel_unneeded(const View& view) {
  for (auto* const all : {&backfilled_, &in_part_}) {
    std::erase_if(*all, [&](const auto& copy) {
      const std::vector<ring::PeerId> copies = view.copies(copy.first);
      return !holds(copy.first) || std::find(copies.begin(), copies.end(), copy.second) == copies.end();
    });
  }
  transfers_.cancel_unless([&](const Transfers::Task& task, ring::TransferKind kind) {
    const auto held = held_.find(task.partition);
    switch (kind) {
      case ring::TransferKind::hand_off:
        return held != held_.end() && view.owner(task.partition) == task.to;
      case ring::TransferKind::return_:
        return held == held_.end() && tenures_.of(task.partition).holder == task.to;
      case ring::TransferKind::release:
        return settled_ && held == held_.end() && tenures_.of(task.partition).holder == task.to &&
               !view.keeps(task.partition);
      case ring::TransferKind::ask:
        return held != held_.end() && held->second.awaited.contains(task.to);
      case ring::TransferKind::backfill:
        break;
    }
    const std::vector<ring::PeerId> copies = view.copies(task.partition);
    return held != held_.end() && std::find(copies.begin(), copies.end(), task.to) != copies.end();
  });
}

// Its copies get what they lack, and whoever may have something gives it; or it goes to the owner.
void PartitionManager::plan_held(ring::Partition partition, Holding& holding, const View& view,
                                 const Reachable& reachable) {
  const bool waited = !holding.awaited.empty();
  std::erase_if(holding.awaited, [&](const ring::PeerId& peer) { return !reachable(peer); });
  if (waited && holding.awaited.empty()) fetchability_changed(partition);
  if (!holding.awaited.empty()) ++to_gain_;
  if (view.owner(partition) != self_ && settled_ && !holding.restored && holding.awaited.empty())
    return transfers_.want({view.owner(partition), partition}, ring::TransferKind::hand_off);
  const std::vector<ring::PeerId> copies = view.copies(partition);
  for (const ring::PeerId& peer : copies) {
    const bool give = holding.awaited.contains(peer) && !holding.giving.contains(peer);
    if (give || !backfilled_.contains({partition, peer}))
      transfers_.want({peer, partition}, ring::TransferKind::backfill, {.give = give, .hosts = true});
  }
  for (const ring::PeerId& peer : holding.awaited)
    if (!holding.giving.contains(peer) && std::find(copies.begin(), copies.end(), peer) == copies.end())
      transfers_.want({peer, partition}, ring::TransferKind::ask, {.give = true});
}

// What this peer has of a partition that another one holds goes to that one.
void PartitionManager::plan_kept(ring::Partition partition, const View& view, const Reachable& reachable) {
  const ring::Tenure& tenure = tenures_.of(partition);
  const bool owner = view.owner(partition) == self_;
  // What an owner admits may be news to the next owner.
  if (owner && settled_) returned_.erase(partition);
  if (view.keeps(partition)) releasing_.erase(partition);
  if (releasing_.contains(partition) || tenure.epoch == 0 || !reachable(tenure.holder)) return;
  const bool has_some = store_->counts(partition).discovered() > 0;
  const bool replica = view.keeps(partition) && !owner;
  if (!replica && !owner && has_some && settled_)
    return transfers_.want({tenure.holder, partition}, ring::TransferKind::release);
  const bool not_yet = !returned_.contains(partition) && (replica || (has_some && !settled_));
  if (not_yet || asked_.contains(partition)) transfers_.want({tenure.holder, partition}, ring::TransferKind::return_);
}

PartitionManager::Changes PartitionManager::plan(const View& view, const ring::Membership& membership, Time now,
                                                 bool may_take) {
  Changes changes;
  to_gain_ = 0;
  settled_ = copied_until_->settled();
  if (view.empty()) {
    transfers_.cancel_unless([](const auto&, auto) { return false; });
    return changes;
  }
  if (settled_) {
    // Pages that went as they were before their fetch may go as they are.
    for (const auto& copy : std::exchange(in_part_, {})) backfilled_.erase(copy);
  }
  const Reachable reachable = [&](const ring::PeerId& peer) {
    const ring::Member* member = membership.find(peer);
    return member != nullptr && ring::reachable(*member);
  };
  // A holder that is not a known member is a newcomer whose name travels more slowly than its messages, or a peer that
  // was forgotten long ago.
  std::map<ring::PeerId, Time> unknown;
  const auto gone = [&](const ring::PeerId& holder) {
    if (membership.find(holder) != nullptr) return !reachable(holder);
    const auto before = unknown_since_.find(holder);
    const Time since = unknown.emplace(holder, before == unknown_since_.end() ? now : before->second).first->second;
    return now - since >= config_.unknown_wait;
  };
  if (may_take)
    for (auto& [partition, holding] : held_)
      if (holding.restored) await_others(partition, holding, membership, now);
  cancel_unneeded(view);
  for (std::uint32_t i = 0; i < view.partitions(); ++i) {
    const auto partition = static_cast<ring::Partition>(i);
    if (const auto held = held_.find(partition); held != held_.end()) {
      plan_held(partition, held->second, view, reachable);
      continue;
    }
    if (view.owner(partition) == self_) {
      const ring::Tenure& tenure = tenures_.of(partition);
      if (may_take && (tenure.epoch == 0 || gone(tenure.holder))) {
        changes.push_back({partition, {tenure.epoch + 1, self_}});
        continue;
      }
      ++to_gain_;
    }
    plan_kept(partition, view, reachable);
  }
  unknown_since_ = std::move(unknown);
  return changes;
}

}  // namespace orbweaver
