// Who fetches which partition: the tenures that this peer knows. The ring says which peer should (hash_ring.h); a
// tenure says which peer does. It changes only when the holder hands the partition over or is gone. Merging takes the
// larger tenure, so copies of this table may merge in any order. Pure.
//
// Two tables are compared by the sums of their ranges: max_tenure_ranges ranges of partitions, each with the sum of the
// digests of its tenures. Only ranges whose sums differ are sent row by row (docs/decisions/0030-compare-by-ranges.md).
// Size: 24 bytes per partition. Cost of a change: two digests. Thread rule: one owner (the peer's loop).
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "ring/types.h"

namespace orbweaver::ring {

inline constexpr std::size_t max_tenure_ranges = 256;

class Tenures {
 public:
  explicit Tenures(std::uint32_t partitions);

  // Epoch 0: no known peer has held it.
  const Tenure& of(Partition partition) const { return tenures_[partition]; }
  bool contains(Partition partition) const { return partition < tenures_.size(); }
  // True when the tenure was new.
  bool merge(Partition partition, const Tenure& tenure);
  // Whether another peer's claim is believed: its epoch is at most max_epoch_step above the known
  // one (messages.h; max_epoch_first where none is known). The next epoch can supersede any believed
  // claim. So a false claim lasts until the partition changes hands again, which happens at once
  // when its holder is gone or unknown (PartitionManager::plan). `asked`: the claim is the answer to
  // this peer's own question. Where no tenure is known, such an answer has no bound except
  // max_epoch.
  bool believes(Partition partition, const Tenure& tenure, bool asked = false) const;
  // All that are known.
  std::vector<PartitionTenure> all() const { return first(tenures_.size()); }
  // At most `count` of them.
  std::vector<PartitionTenure> first(std::size_t count) const;
  std::size_t size() const { return tenures_.size(); }  // partitions
  std::size_t known() const { return known_; }          // of these, partitions whose tenure is known
  bool none() const { return holders_.empty(); }

  // By holder. Cost: logarithmic in the number of holders.
  std::size_t held_by(const PeerId& peer) const;
  // The sum of the digests of the tenures that the peer holds.
  std::uint64_t sum_held_by(const PeerId& peer) const;

  // Equal for two peers exactly when they know the same (but for a chance of 2^-64).
  std::uint64_t fingerprint() const { return fingerprint_; }
  // The sums of the ranges: as many as there are partitions, at most max_tenure_ranges.
  const std::vector<std::uint64_t>& sums() const { return sums_; }
  std::size_t range_of(Partition partition) const { return partition / partitions_a_range(); }
  std::size_t partitions_a_range() const { return tenures_.size() / sums_.size(); }
  // The ranges whose sums are not these; none when `others` are not as many as there are ranges.
  std::vector<std::uint16_t> differing(const std::vector<std::uint64_t>& others) const;
  // The rows of a range; epoch 0 where none is known. Empty: there is no such range.
  std::span<const Tenure> rows(std::size_t range) const;

 private:
  struct Held {
    std::size_t count = 0;
    std::uint64_t sum = 0;  // of the digests
  };
  std::vector<Tenure> tenures_;
  std::vector<std::uint64_t> sums_;  // by range
  std::map<PeerId, Held> holders_;
  std::size_t known_ = 0;
  std::uint64_t fingerprint_ = 0;  // the sum of the digests of all known tenures
};

}  // namespace orbweaver::ring
