// The ring as this peer sees it now: who owns what, and at which address. Pure; rebuilt when the membership changes.
#pragma once

#include <map>
#include <string>

#include "ring/hash_ring.h"
#include "ring/membership.h"
#include "storage/store.h"

namespace orbweaver {

// The key of a URL in the store, and of its host.
inline storage::HostKey host_key(const ring::Md5& host_digest, std::uint32_t partitions) {
  storage::HostKey key;
  key.partition = ring::partition_of(host_digest, partitions);
  std::copy_n(host_digest.begin(), key.host.size(), key.host.begin());
  return key;
}

class View {
 public:
  View(ring::PeerId self, std::uint32_t partitions) : self_(self), partitions_(partitions) {}

  // True when owners changed (the ring's fingerprint differs from before).
  bool update(const ring::Membership& membership) {
    const std::uint64_t before = ring_.fingerprint();
    ring_ = ring::HashRing(membership.member_list(), partitions_);
    return ring_.fingerprint() != before;
  }

  bool empty() const { return ring_.empty(); }
  bool owns(ring::Partition partition) const { return !ring_.empty() && ring_.owner(partition) == self_; }
  const ring::PeerId& owner(ring::Partition partition) const { return ring_.owner(partition); }
  const ring::HashRing& ring() const { return ring_; }
  const ring::PeerId& self() const { return self_; }
  std::uint32_t partitions() const { return partitions_; }

 private:
  ring::PeerId self_;
  std::uint32_t partitions_;
  ring::HashRing ring_;
};

}  // namespace orbweaver
