// Who fetches which partition: the tenures that this peer knows. The ring says who should (hash_ring.h); a tenure says
// who does, and changes only when the holder hands the partition over or is gone. Merging takes the larger tenure, so
// copies of this table may meet in any order. Pure. Size: 24 bytes a partition. Thread rule: one owner (the peer's
// loop).
#pragma once

#include <cstdint>
#include <vector>

#include "ring/types.h"

namespace orbweaver::ring {

class Tenures {
 public:
  explicit Tenures(std::uint32_t partitions) : tenures_(partitions) {}

  // Epoch 0: nobody is known to have held it.
  const Tenure& of(Partition partition) const { return tenures_[partition]; }
  bool contains(Partition partition) const { return partition < tenures_.size(); }
  // True when it was news.
  bool merge(Partition partition, const Tenure& tenure);
  // Whether another peer's word is believed: its epoch is no farther above the known one than epoch_step_max
  // (messages.h; epoch_first_max where none is known). Whatever is believed can be superseded by the next epoch, so a
  // false word holds until the partition changes hands again: at once when its holder is gone or unknown
  // (PartitionManager::plan).
  // `asked`: it is the answer to a question of this peer's own, which where nothing is known has no bound but
  // epoch_max.
  bool believes(Partition partition, const Tenure& tenure, bool asked = false) const;
  // All that are known.
  std::vector<PartitionTenure> all() const;
  std::size_t held_by(const PeerId& peer) const;
  // Equal for two peers exactly when they know the same (but for a chance of 2^-64).
  std::uint64_t fingerprint() const { return fingerprint_; }

 private:
  std::vector<Tenure> tenures_;
  std::uint64_t fingerprint_ = 0;  // the sum of the digests of all known tenures
};

}  // namespace orbweaver::ring
