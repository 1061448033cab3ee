#include "ring/tenures.h"

#include <algorithm>

#include "ring/md5.h"
#include "ring/messages.h"

namespace orbweaver::ring {

namespace {

std::uint64_t digest(Partition partition, const Tenure& tenure) {
  if (tenure.epoch == 0) return 0;
  std::string bytes(reinterpret_cast<const char*>(tenure.holder.bytes.data()), tenure.holder.bytes.size());
  for (int shift = 56; shift >= 0; shift -= 8) bytes.push_back(static_cast<char>((tenure.epoch >> shift) & 0xff));
  bytes.push_back(static_cast<char>(partition >> 8));
  bytes.push_back(static_cast<char>(partition & 0xff));
  return leading_bits(md5(bytes));
}

}  // namespace

bool Tenures::merge(Partition partition, const Tenure& tenure) {
  if (!contains(partition) || tenure <= tenures_[partition]) return false;
  fingerprint_ += digest(partition, tenure) - digest(partition, tenures_[partition]);
  tenures_[partition] = tenure;
  return true;
}

bool Tenures::believes(Partition partition, const Tenure& tenure, bool asked) const {
  if (!contains(partition)) return false;
  const std::uint64_t known = tenures_[partition].epoch;
  if (known == 0 && asked) return tenure.epoch <= max_epoch;
  return tenure.epoch <= std::min(max_epoch, known == 0 ? max_epoch_first : known + max_epoch_step);
}

std::vector<PartitionTenure> Tenures::all() const {
  std::vector<PartitionTenure> known;
  for (std::size_t i = 0; i < tenures_.size(); ++i)
    if (tenures_[i].epoch > 0) known.push_back({static_cast<Partition>(i), tenures_[i]});
  return known;
}

std::size_t Tenures::held_by(const PeerId& peer) const {
  return static_cast<std::size_t>(std::count_if(tenures_.begin(), tenures_.end(), [&](const Tenure& tenure) {
    return tenure.epoch > 0 && tenure.holder == peer;
  }));
}

}  // namespace orbweaver::ring
