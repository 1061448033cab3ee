// The ring as this peer sees it now: which peer owns each partition, and which peers keep copies. Pure; made again when
// the owners change. Thread rule: one owner (the peer's loop).
#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "ring/hash_ring.h"
#include "ring/membership.h"
#include "storage/store.h"

namespace orbweaver {

class View {
 public:
  View(ring::PeerId self, std::uint32_t partitions, std::uint32_t replicas = 1)
      : self_(self), partitions_(partitions), replicas_(replicas) {}

  // True when owners changed (the ring's fingerprint differs from before): changed() names the partitions.
  bool update(const ring::Membership& membership) {
    if (made_ && !differs(membership)) return false;
    const std::vector<ring::Member> members = membership.member_list();
    made_ = true;
    shares_.clear();
    for (const ring::Member& member : members)
      if (ring::owns_partitions(member)) shares_.emplace_back(member.id, member.capacity);
    if (ring::HashRing::fingerprint_of(members, partitions_) == ring_.fingerprint()) return false;
    ring_ = ring::HashRing(members, partitions_, ring_);
    changed_.clear();
    owners_.resize(partitions_);
    std::vector<ring::PeerId> owners;
    for (std::uint32_t i = 0; i < partitions_; ++i) {
      const auto partition = static_cast<ring::Partition>(i);
      ring_.find_owners(partition, replicas_, owners);
      if (owners == owners_[i]) continue;
      owners_[i] = owners;
      changed_.push_back(partition);
    }
    return true;
  }
  // Partitions whose owner or replicas the last update() that was true changed.
  const std::vector<ring::Partition>& changed() const { return changed_; }

  bool empty() const { return ring_.empty(); }
  bool owns(ring::Partition partition) const { return !ring_.empty() && ring_.owner(partition) == self_; }
  const ring::PeerId& owner(ring::Partition partition) const { return ring_.owner(partition); }
  // The owner, then the replicas; the ring must not be empty.
  const std::vector<ring::PeerId>& owners(ring::Partition partition) const { return owners_[partition]; }
  // This peer is the owner or a replica.
  bool keeps(ring::Partition partition) const {
    if (ring_.empty()) return false;
    const std::vector<ring::PeerId>& owners = owners_[partition];
    return std::find(owners.begin(), owners.end(), self_) != owners.end();
  }
  // The peers that must also have what this peer writes in a partition: replicas - 1 peers, the owner first.
  std::vector<ring::PeerId> copies(ring::Partition partition) const {
    std::vector<ring::PeerId> others;
    if (ring_.empty()) return others;
    for (const ring::PeerId& peer : owners_[partition])
      if (peer != self_ && others.size() + 1 < replicas_) others.push_back(peer);
    return others;
  }
  // Another peer is the whole ring, though there are to be copies: this peer leaves, and what that one takes is on one
  // disk only.
  bool one_other() const {
    return !ring_.empty() && replicas_ > 1 && owners_[0].size() == 1 && owners_[0].front() != self_;
  }
  const ring::HashRing& ring() const { return ring_; }
  const ring::PeerId& self() const { return self_; }
  std::uint32_t partitions() const { return partitions_; }

 private:
  // Who owns partitions, or how much, may be other than at the last update(). Most changes of members are neither.
  bool differs(const ring::Membership& membership) const {
    std::size_t same = 0;
    for (const auto& [id, member] : membership.members()) {
      if (!ring::owns_partitions(member)) continue;
      if (same == shares_.size() || shares_[same].first != id || shares_[same].second != member.capacity) return true;
      ++same;
    }
    return same != shares_.size();
  }

  ring::PeerId self_;
  std::uint32_t partitions_;
  std::uint32_t replicas_;
  ring::HashRing ring_;
  std::vector<std::vector<ring::PeerId>> owners_;  // by partition
  std::vector<ring::Partition> changed_;
  bool made_ = false;
  std::vector<std::pair<ring::PeerId, std::uint32_t>> shares_;  // who owned partitions, by id, and their capacities
};

}  // namespace orbweaver
