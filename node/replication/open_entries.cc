#include "node/replication/open_entries.h"

#include <bit>

namespace orbweaver {

namespace {

constexpr std::size_t max_blocks = 16'384;
constexpr std::uint64_t block_entries = 64;

std::uint64_t bit_of(std::uint64_t number) { return std::uint64_t{1} << (number % block_entries); }

}  // namespace

void OpenEntries::add(std::uint64_t number, Dependents::Id id) {
  Block& block = blocks_[number / block_entries];
  block.open |= bit_of(number);
  if (id != 0) wait_for(block, bit_of(number), id);
  if (blocks_.size() > max_blocks) count_oldest();
}

void OpenEntries::wait_for(Block& block, std::uint64_t bit, Dependents::Id id) {
  if (!block.waiting.empty() && block.waiting.entries().back().id == id) {
    block.waiting.entries().back().entries |= bit;
    return;
  }
  block.waiting.add(*dependents_, {bit, id});
  dependents_->wait(id);
}

void OpenEntries::wait_for(std::uint64_t number, Dependents::Id id) {
  if (number < boundary_) {
    if (earlier_ == 0) return;
    if (!waiting_for_earlier_.empty() && waiting_for_earlier_.entries().back().id == id) return;
    waiting_for_earlier_.add(*dependents_, {0, id});
    dependents_->wait(id);
    return;
  }
  const auto block = blocks_.find(number / block_entries);
  if (block != blocks_.end() && (block->second.open & bit_of(number)) != 0) wait_for(block->second, bit_of(number), id);
}

std::vector<Dependents::Id> OpenEntries::waiting_for(const std::vector<storage::OutboxKey>& keys) const {
  std::map<std::uint64_t, std::uint64_t> entries;  // bits by block
  bool earlier = false;
  for (const storage::OutboxKey& key : keys) {
    earlier = earlier || key.sequence < boundary_;
    if (key.sequence >= boundary_) entries[key.sequence / block_entries] |= bit_of(key.sequence);
  }
  std::vector<Dependents::Id> ids;
  if (earlier)
    for (const Waiting& one : waiting_for_earlier_.entries()) ids.push_back(one.id);
  for (const auto& [number, bits] : entries) {
    const auto block = blocks_.find(number);
    if (block == blocks_.end()) continue;
    for (const Waiting& one : block->second.waiting.entries())
      if ((one.entries & bits) != 0) ids.push_back(one.id);
  }
  return ids;
}

// Ends the waits that have nothing open any more.
void OpenEntries::release(Block& block) {
  std::erase_if(block.waiting.entries(), [&](const Waiting& one) {
    if ((one.entries & block.open) != 0) return false;
    dependents_->done(one.id);
    return true;
  });
}

void OpenEntries::take_out(const std::vector<storage::OutboxKey>& keys) {
  auto at = blocks_.end();  // a batch has several entries of a block, one after the other
  const auto leave = [&] {
    if (at == blocks_.end()) return;
    release(at->second);
    if (at->second.open == 0) blocks_.erase(at);
  };
  for (const storage::OutboxKey& key : keys) {
    if (key.sequence < boundary_) {
      if (--earlier_ > 0) continue;
      for (const Waiting& one : waiting_for_earlier_.entries()) dependents_->done(one.id);
      waiting_for_earlier_.entries().clear();
      continue;
    }
    if (at == blocks_.end() || at->first != key.sequence / block_entries) {
      leave();
      at = blocks_.find(key.sequence / block_entries);
    }
    if (at != blocks_.end()) at->second.open &= ~bit_of(key.sequence);
  }
  leave();
}

// The older half of the blocks.
void OpenEntries::count_oldest() {
  if (earlier_ == 0) earlier_first_ = safe();
  for (std::size_t left = blocks_.size() / 2; left > 0; --left) {
    const auto oldest = blocks_.begin();
    earlier_ += static_cast<std::uint64_t>(std::popcount(oldest->second.open));
    boundary_ = (oldest->first + 1) * block_entries;
    for (const Waiting& one : oldest->second.waiting.entries())
      if (dependents_->waits(one.id)) waiting_for_earlier_.add(*dependents_, one);
    blocks_.erase(oldest);
  }
}

std::uint64_t OpenEntries::safe() const {
  if (earlier_ > 0) return earlier_first_;
  if (blocks_.empty()) return UINT64_MAX;
  const auto& [number, block] = *blocks_.begin();
  return number * block_entries + static_cast<std::uint64_t>(std::countr_zero(block.open));
}

}  // namespace orbweaver
