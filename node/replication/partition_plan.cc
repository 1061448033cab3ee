// What is to be done, partition by partition, after a change of the view, of tenures, or of what has its copies.
#include <algorithm>

#include "node/replication/partition_manager.h"

namespace orbweaver {

namespace {

// How often members that do not answer are looked at.
constexpr Duration look_every = std::chrono::milliseconds{500};
// A peer that has promised what it has, and may have started again since, is asked again.
constexpr Duration promise_time = std::chrono::seconds{30};

}  // namespace

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
  transfers_.note_unsent(partition);
  if (!holds(partition)) {
    returned_in_part_.insert(partition);
    return;
  }
  for (const ring::PeerId& peer : view.copies(partition)) in_part_.insert({partition, peer});
}

void PartitionManager::note_whole(ring::Partition partition, const View& view) {
  if (holds(partition) && (view.copies(partition).empty() || !copies_whole(partition, view))) {
    unfilled_.insert(partition);
  } else {
    unfilled_.erase(partition);
  }
}

// All others are asked together; its copies also give what differs in answer to their fill.
void PartitionManager::await_others(ring::Partition partition, Holding& holding, RecordAsks::Round round,
                                    const View& view, const Reachable& reachable, Time now) {
  holding.restored = false;
  if (holding.since == Time{}) holding.since = now;
  holding.round = round;
  asks_.add(round, partition);
  holding.asked = now;
  for (const ring::PeerId& peer : view.copies(partition))
    if (reachable(peer)) holding.keepers.insert(peer);
  holding.awaited.insert(holding.keepers.begin(), holding.keepers.end());
  if (!holding.awaited.empty()) awaiting_.insert(partition);
  fetchability_changed(partition);
}

namespace {

std::vector<ring::PeerId> who_may_know(const ring::PeerId& self, const ring::Membership& membership) {
  std::vector<ring::PeerId> peers;
  for (const auto& [peer, member] : membership.members())
    if (peer != self && ring::reachable(member) && member.state != ring::MemberState::joining) peers.push_back(peer);
  return peers;
}

bool reaches(const ring::Membership& membership, const ring::PeerId& peer) {
  const ring::Member* member = membership.find(peer);
  return member != nullptr && ring::reachable(*member);
}

}  // namespace

void PartitionManager::took_over(const Changes& changes, const View& view, const ring::Membership& membership,
                                 Time now) {
  const RecordAsks::Round round = asks_.begin(who_may_know(self_, membership), now, changes);
  for (const auto& [partition, tenure] : changes) {
    const auto held = held_.find(partition);
    if (held == held_.end()) continue;
    held->second.since = now;
    await_others(
        partition, held->second, round, view, [&](const auto& peer) { return reaches(membership, peer); }, now);
    if (waits(held->second)) gaining_.insert(partition);
  }
}

void PartitionManager::forget_copies(ring::Partition partition,
                                     const std::function<bool(const ring::PeerId&)>& except) {
  for (auto* const copies : {&backfilled_, &in_part_})
    for (auto at = copies->lower_bound({partition, {}}); at != copies->end() && at->first == partition;)
      at = except(at->second) ? std::next(at) : copies->erase(at);
}

void PartitionManager::cancel_unneeded(ring::Partition partition, const View& view) {
  const std::vector<ring::PeerId> copies = view.copies(partition);
  const auto keeps = [&copies](const ring::PeerId& peer) {
    return std::find(copies.begin(), copies.end(), peer) != copies.end();
  };
  const auto held = held_.find(partition);
  forget_copies(partition, [&](const ring::PeerId& peer) { return held != held_.end() && keeps(peer); });
  transfers_.cancel_unless(partition, [&](const ring::PeerId& to, ring::TransferKind kind) {
    switch (kind) {
      case ring::TransferKind::hand_off:
        return held != held_.end() && view.owner(partition) == to;
      case ring::TransferKind::return_:
        return held == held_.end() && tenures_.of(partition).holder == to;
      case ring::TransferKind::release:
        return settled_ && held == held_.end() && tenures_.of(partition).holder == to && !view.keeps(partition);
      case ring::TransferKind::ask:
        return held != held_.end() && held->second.awaited.contains(to);
      case ring::TransferKind::backfill:
        break;
    }
    return held != held_.end() && keeps(to);
  });
}

// Its copies get what they lack, and whoever may have something gives it; or it goes to the owner.
void PartitionManager::plan_held(ring::Partition partition, Holding& holding, const Planning& planning) {
  const View& view = planning.view;
  if (holding.restored && planning.may_take && restored_round_)
    await_others(partition, holding, *restored_round_, view, planning.reachable, planning.now);
  const bool awaited = !holding.awaited.empty();
  std::erase_if(holding.awaited, [&](const ring::PeerId& peer) { return !planning.reachable(peer); });
  if (holding.awaited.empty()) awaiting_.erase(partition);
  if (waits(holding)) {
    gaining_.insert(partition);
  } else {
    gaining_.erase(partition);
    if (awaited) fetchability_changed(partition);
  }
  if (view.owner(partition) != self_ && settled_ && !holding.restored && !waits(holding))
    return transfers_.want({view.owner(partition), partition}, ring::TransferKind::hand_off);
  const std::vector<ring::PeerId> copies = view.copies(partition);
  for (const ring::PeerId& peer : copies) {
    const bool give = holding.awaited.contains(peer) && !holding.giving.contains(peer);
    const bool fill = !backfilled_.contains({partition, peer});
    if (give || fill)
      transfers_.want({peer, partition}, ring::TransferKind::backfill, {.give = give, .hosts = true, .fill = fill});
  }
  for (const ring::PeerId& peer : holding.awaited)
    if (!holding.giving.contains(peer) && std::find(copies.begin(), copies.end(), peer) == copies.end())
      transfers_.want({peer, partition}, ring::TransferKind::ask, {.give = true});
}

// What this peer has of a partition that another one holds goes to that one.
void PartitionManager::plan_kept(ring::Partition partition, const Planning& planning) {
  const View& view = planning.view;
  const ring::Tenure& tenure = tenures_.of(partition);
  const bool patient = patient_.erase(partition) > 0 && !asked_.contains(partition);
  const bool owner = view.owner(partition) == self_;
  // What an owner admits may be news to the next owner.
  if (owner && settled_) returned_.erase(partition);
  if (view.keeps(partition)) releasing_.erase(partition);
  if (releasing_.contains(partition)) return;
  const bool has_some = store_->counts(partition).discovered() > 0;
  const bool replica = view.keeps(partition) && !owner;
  if (tenure.epoch == 0 || !planning.reachable(tenure.holder)) {
    if (has_some && !returned_.contains(partition)) stranded_.insert(partition);
    return;
  }
  if (!replica && !owner && has_some && settled_)
    return transfers_.want({tenure.holder, partition}, ring::TransferKind::release, {.patient = patient});
  const bool not_yet = !returned_.contains(partition) && (replica || (has_some && !settled_));
  // Not asked: this peer may have lost what it had acknowledged. Who asked sends what differs anyway.
  if (not_yet || asked_.contains(partition))
    transfers_.want({tenure.holder, partition}, ring::TransferKind::return_, {.give = not_yet, .patient = patient});
}

// A holder that is not a known member is a newcomer whose name travels more slowly than its messages, or a peer that
// was forgotten long ago.
bool PartitionManager::gone(const ring::PeerId& holder, ring::Partition partition, const Planning& planning) {
  if (planning.membership.find(holder) != nullptr) return !planning.reachable(holder);
  const Time since = unknown_since_.try_emplace(holder, planning.now).first->second;
  if (planning.now - since >= config_.unknown_wait) return true;
  unknown_due_ =
      of_unknown_.empty() ? since + config_.unknown_wait : std::min(unknown_due_, since + config_.unknown_wait);
  of_unknown_.insert(partition);
  return false;
}

void PartitionManager::plan_one(ring::Partition partition, const Planning& planning) {
  of_unknown_.erase(partition);
  stranded_.erase(partition);
  if (planning.view.owner(partition) != self_ || holds(partition)) {
    last_access_unknown_.erase(partition);
    offered_.erase(partition);
  }
  cancel_unneeded(partition, planning.view);
  if (const auto held = held_.find(partition); held != held_.end()) {
    plan_held(partition, held->second, planning);
    return note_whole(partition, planning.view);
  }
  unfilled_.erase(partition);
  gaining_.erase(partition);
  if (planning.view.owner(partition) == self_) {
    const ring::Tenure& tenure = tenures_.of(partition);
    if (planning.may_take && (tenure.epoch == 0 || gone(tenure.holder, partition, planning)))
      return planning.changes.push_back({partition, {tenure.epoch + 1, self_}});
    gaining_.insert(partition);
  }
  plan_kept(partition, planning);
}

void PartitionManager::owners_changed(const std::vector<ring::Partition>& partitions) {
  members_changed_ = true;
  if (partitions.size() == tenures_.size()) return plan_all();
  dirty_.insert(partitions.begin(), partitions.end());
}

void PartitionManager::members_changed(const std::set<ring::PeerId>& peers) {
  if (peers.empty()) return;
  members_changed_ = true;
  dirty_.insert(awaiting_.begin(), awaiting_.end());
  dirty_.insert(of_unknown_.begin(), of_unknown_.end());
  std::size_t left = 0;
  for (const ring::PeerId& peer : peers) left += tenures_.held_by(peer);
  for (std::size_t i = 0; left > 0 && i < tenures_.size(); ++i) {
    const auto partition = static_cast<ring::Partition>(i);
    if (!peers.contains(tenures_.of(partition).holder)) continue;
    dirty_.insert(partition);
    --left;
  }
}

// What concerns no single partition.
void PartitionManager::begin_planning(const Planning& planning) {
  settled_ = copied_until_->settled();
  if (settled_) {
    // Pages that went as they were before their fetch may go as they are.
    for (const auto& copy : std::exchange(in_part_, {}))
      if (backfilled_.erase(copy) > 0) dirty_.insert(copy.first);
    for (const ring::Partition partition : std::exchange(returned_in_part_, {})) return_again(partition);
  }
  if (!of_unknown_.empty() && planning.now >= unknown_due_) {
    dirty_.insert(of_unknown_.begin(), of_unknown_.end());
    of_unknown_.clear();
  }
  if (std::exchange(members_changed_, false)) {
    std::erase_if(unknown_since_, [&](const auto& entry) {
      return planning.membership.find(entry.first) != nullptr || tenures_.held_by(entry.first) == 0;
    });
    asks_.forget_unless(planning.reachable);
    note_ended_asks();
    // At once: who stops being a replica, and is one again before its partition is planned, has missed what was written
    // meanwhile.
    const auto keeps = [&planning](ring::Partition partition, const ring::PeerId& peer) {
      const std::vector<ring::PeerId> copies = planning.view.copies(partition);
      return std::find(copies.begin(), copies.end(), peer) != copies.end();
    };
    for (auto* const copies : {&backfilled_, &in_part_})
      std::erase_if(*copies, [&](const auto& copy) { return !keeps(copy.first, copy.second); });
    if (to_backfill() > 0)
      for (const auto& held : held_)
        transfers_.cancel_unless(held.first, [&](const ring::PeerId& to, ring::TransferKind kind) {
          return kind != ring::TransferKind::backfill || keeps(held.first, to);
        });
  }
  if (planning.may_take && !restored_round_)
    restored_round_ =
        held_.empty() ? RecordAsks::Round{} : asks_.begin(who_may_know(self_, planning.membership), planning.now, {});
}

// One that kept no copy when it was asked may be busy for long, and has something only after an unusual time.
void PartitionManager::stop_awaiting_the_silent(Time now, const View& view) {
  if ((awaiting_.empty() && !asks_.any_open()) || now < next_look_) return;
  next_look_ = now + look_every;
  const auto keeps = [&view](ring::Partition partition, const ring::PeerId& peer) {
    const std::vector<ring::PeerId> copies = view.copies(partition);
    return std::find(copies.begin(), copies.end(), peer) != copies.end();
  };
  for (const auto& [peer, partitions] : asks_.give_up(now, config_.unknown_wait)) {
    for (const ring::Partition partition : partitions) {
      const auto held = held_.find(partition);
      if (held != held_.end() && keeps(partition, peer)) await(partition, held->second, peer, now);
    }
  }
  note_ended_asks();
  for (const ring::Partition partition : std::vector(awaiting_.begin(), awaiting_.end())) {
    Holding& holding = held_.at(partition);
    if (now - holding.asked < config_.unknown_wait) continue;
    const std::vector<ring::PeerId> awaited(holding.awaited.begin(), holding.awaited.end());
    for (const ring::PeerId& peer : awaited) {
      if (holding.giving.contains(peer) || holding.keepers.contains(peer) || keeps(partition, peer)) continue;
      transfers_.cancel({peer, partition});
      returned_all(peer, partition);
    }
    if (holding.awaited.empty() || now - holding.asked < promise_time) continue;
    holding.giving.clear();
    holding.asked = now;
    dirty_.insert(partition);
  }
}

// The peer has something of it, or keeps a copy.
void PartitionManager::await(ring::Partition partition, Holding& holding, const ring::PeerId& peer, Time now) {
  if (!holding.awaited.insert(peer).second) return;
  holding.giving.erase(peer);
  holding.asked = now;
  awaiting_.insert(partition);
  gaining_.insert(partition);
  dirty_.insert(partition);
}

void PartitionManager::waits_no_more(ring::Partition partition, Holding& holding) {
  holding.giving.clear();
  gaining_.erase(partition);
  dirty_.insert(partition);  // it may be handed over now
  fetchability_changed(partition);
}

PartitionManager::Changes PartitionManager::plan(const View& view, const ring::Membership& membership, Time now,
                                                 bool may_take) {
  Changes changes;
  if (view.empty()) {
    settled_ = copied_until_->settled();
    dirty_.clear();
    sweep_left_ = 0;
    gaining_.clear();
    transfers_.cancel_all();
    // As in begin_planning(): whoever comes back has missed what is written now, and what was on its way.
    backfilled_.clear();
    in_part_.clear();
    return changes;
  }
  const Planning planning{
      view,   membership, now, may_take, [&membership](const ring::PeerId& peer) { return reaches(membership, peer); },
      changes};
  begin_planning(planning);
  std::size_t left = config_.plan_slice;
  for (; left > 0 && !dirty_.empty(); --left) plan_one(dirty_.extract(dirty_.begin()).value(), planning);
  for (; left > 0 && sweep_left_ > 0; --left, --sweep_left_) {
    plan_one(sweep_at_, planning);
    sweep_at_ = static_cast<ring::Partition>((sweep_at_ + 1u) % tenures_.size());
  }
  return changes;
}

}  // namespace orbweaver
