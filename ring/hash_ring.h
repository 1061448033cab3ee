// Which peer owns a partition: consistent hashing with weighted points (Karger et al. 1997) and bounded loads
// (Mirrokni, Thorup, Zadimoghaddam 2018; docs/decisions/0032-bounded-shares.md). Pure and integer-only, so that every
// peer with the same view computes the same owners; pinned by test vectors in tests/unit/hash_ring_test.cc.
//
// Points: peer p has capacity*2 points (100 -> 200). Points 2i and 2i+1 are at the leading and the trailing 64 bits of
// MD5(p.id bytes, i as 4 bytes big-endian). Partition k is at the leading 64 bits of MD5("partition", k as 4 bytes
// big-endian). Partitions are given away in the order of their numbers. Each goes to the peer of the first point at or
// after it (around the circle) whose share has room. The fair share is the part of all partitions that the peer's
// capacity is of all capacities. A peer has room for 5/4 of it, rounded down, or for all of it, rounded up, if more.
// A partition's replicas are the next distinct peers from it on, whatever their shares. Equal points: the lower peer id
// first. Capacity 0 owns nothing; beyond max_capacity counts as max_capacity. A ring has at most max_points points,
// whatever its members claim: beyond that, every peer has half as many points, or a quarter, and so on (its first
// points, at least one). 10,000 ordinary peers stay below. Immutable once made. Cost of making: 0.1 us for each point
// that the ring before did not have, and 10 ns for each that it had and for each partition. owner(): a table. owners():
// the points from there on, until enough peers are found.
#pragma once

#include <cstdint>
#include <vector>

#include "ring/md5.h"
#include "ring/types.h"

namespace orbweaver::ring {

// The partition of a host: the leading bits of its digest. `partitions` is a power of two.
Partition partition_of(const Md5& host_digest, std::uint32_t partitions);

class HashRing {
 public:
  HashRing() = default;  // owns nothing
  // Takes the members that own partitions (owns_partitions), in any order. `before`: the ring until now, whose points
  // are reused; the result does not depend on it.
  HashRing(const std::vector<Member>& members, std::uint32_t partitions, const HashRing& before);
  HashRing(const std::vector<Member>& members, std::uint32_t partitions) : HashRing(members, partitions, HashRing()) {}
  // fingerprint() of the ring that these members would make.
  static std::uint64_t fingerprint_of(const std::vector<Member>& members, std::uint32_t partitions);

  static constexpr std::uint64_t max_points = 1u << 21;  // 32 MiB

  bool empty() const { return peers_.empty(); }
  std::size_t points() const { return points_.size(); }
  std::uint32_t partitions() const { return partitions_; }
  // The owner; the ring must not be empty.
  const PeerId& owner(Partition partition) const;
  // The owner, then up to count-1 replicas, all distinct; fewer when the ring has fewer peers.
  std::vector<PeerId> owners(Partition partition, std::size_t count) const;
  // The same, in place of what `found` had.
  void find_owners(Partition partition, std::size_t count, std::vector<PeerId>& found) const;
  std::vector<Partition> partitions_of(const PeerId& peer) const;
  // Equal for two peers exactly when they compute the same owners: covers (id, capacity) of the owners and the
  // partition count. Suspicion, addresses and incarnations do not change it.
  std::uint64_t fingerprint() const { return fingerprint_; }

 private:
  struct Point {
    std::uint64_t at;
    std::uint32_t peer;  // index into peers_
  };
  struct Place {
    std::uint64_t at;
    Partition partition;
    auto operator<=>(const Place&) const = default;
  };
  void take_points(const HashRing& before, const std::vector<std::uint32_t>& counts);
  void find_first_points();
  void share_out(const std::vector<std::uint64_t>& capacities);

  std::vector<PeerId> peers_;          // sorted by id
  std::vector<std::uint32_t> counts_;  // number of points of each peer
  std::vector<Point> points_;
  std::vector<Place> places_;               // in the order of the circle
  std::vector<std::uint32_t> first_point_;  // by partition: index into points_
  std::vector<std::uint32_t> owner_of_;     // by partition: index into peers_
  std::uint32_t partitions_ = 0;
  std::uint64_t fingerprint_ = 0;
};

}  // namespace orbweaver::ring
