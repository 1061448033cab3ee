// Who fetches which partition: the tenures that this peer knows. The ring says which peer should (hash_ring.h); a
// tenure says which peer does. It changes only when the holder hands the partition over or is gone. Merging takes the
// larger tenure, so copies of this table may merge in any order. Pure.
// Size: 24 bytes per partition. Thread rule: one owner (the peer's loop).
#pragma once

#include <cstdint>
#include <vector>

#include "ring/types.h"

namespace orbweaver::ring {

class Tenures {
 public:
  explicit Tenures(std::uint32_t partitions) : tenures_(partitions) {}

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
  std::vector<PartitionTenure> all() const;
  std::size_t held_by(const PeerId& peer) const;
  // Equal for two peers exactly when they know the same (but for a chance of 2^-64).
  std::uint64_t fingerprint() const { return fingerprint_; }

 private:
  std::vector<Tenure> tenures_;
  std::uint64_t fingerprint_ = 0;  // the sum of the digests of all known tenures
};

}  // namespace orbweaver::ring
