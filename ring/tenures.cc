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

Tenures::Tenures(std::uint32_t partitions)
    : tenures_(partitions), sums_(std::clamp<std::size_t>(partitions, 1, max_tenure_ranges)) {}

bool Tenures::merge(Partition partition, const Tenure& tenure) {
  if (!contains(partition) || tenure <= tenures_[partition]) return false;
  Tenure& known = tenures_[partition];
  const std::uint64_t before = digest(partition, known);
  const std::uint64_t after = digest(partition, tenure);
  fingerprint_ += after - before;
  sums_[range_of(partition)] += after - before;
  if (known.epoch == 0) {
    ++known_;
  } else {
    const auto held = holders_.find(known.holder);
    held->second.sum -= before;
    if (--held->second.count == 0) holders_.erase(held);
  }
  Held& held = holders_[tenure.holder];
  ++held.count;
  held.sum += after;
  known = tenure;
  return true;
}

bool Tenures::believes(Partition partition, const Tenure& tenure, bool asked) const {
  if (!contains(partition)) return false;
  const std::uint64_t known = tenures_[partition].epoch;
  if (known == 0 && asked) return tenure.epoch <= max_epoch;
  return tenure.epoch <= std::min(max_epoch, known == 0 ? max_epoch_first : known + max_epoch_step);
}

std::vector<PartitionTenure> Tenures::first(std::size_t count) const {
  std::vector<PartitionTenure> known;
  for (std::size_t i = 0; i < tenures_.size() && known.size() < count; ++i)
    if (tenures_[i].epoch > 0) known.push_back({static_cast<Partition>(i), tenures_[i]});
  return known;
}

std::size_t Tenures::held_by(const PeerId& peer) const {
  const auto held = holders_.find(peer);
  return held == holders_.end() ? 0 : held->second.count;
}

std::uint64_t Tenures::sum_held_by(const PeerId& peer) const {
  const auto held = holders_.find(peer);
  return held == holders_.end() ? 0 : held->second.sum;
}

std::vector<std::uint16_t> Tenures::differing(const std::vector<std::uint64_t>& others) const {
  std::vector<std::uint16_t> ranges;
  if (others.size() != sums_.size()) return ranges;
  for (std::size_t i = 0; i < sums_.size(); ++i)
    if (others[i] != sums_[i]) ranges.push_back(static_cast<std::uint16_t>(i));
  return ranges;
}

std::span<const Tenure> Tenures::rows(std::size_t range) const {
  if (range >= sums_.size()) return {};
  return std::span(tenures_).subspan(range * partitions_a_range(), partitions_a_range());
}

}  // namespace orbweaver::ring
