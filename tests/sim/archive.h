// A simulated peer's archive under durability = power: records in the order of writing. A power cut takes those that no
// sync has brought to the disk. Thread rule: one owner.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "storage/memory_kv.h"
#include "storage/synced_file.h"

namespace orbweaver::sim {

class SimArchive final : public storage::SyncedFile {
 public:
  // It is on the disk of this store, and fails with it.
  explicit SimArchive(const storage::MemoryKv& disk) : disk_(disk) {}

  // The record's number, from 1.
  std::size_t write(std::string url) {
    records_.push_back(std::move(url));
    return records_.size();
  }
  // A sync takes time: it serves what was written before it began.
  void begin_sync() { begun_ = records_.size(); }
  storage::Result<void> sync() override {
    if (disk_.failing()) return storage::fail(storage::ErrorKind::io, "this sync is made to fail");
    synced_ = std::max(synced_, std::min(begun_, records_.size()));
    return {};
  }
  // A new process finishes what an earlier one left.
  void finish() { synced_ = begun_ = records_.size(); }
  // How many records it loses.
  std::size_t cut_power() {
    const std::size_t lost = records_.size() - synced_;
    records_.resize(synced_);
    return lost;
  }
  bool on_disk(std::size_t record) const { return record <= synced_; }
  const std::vector<std::string>& records() const { return records_; }

 private:
  const storage::MemoryKv& disk_;
  std::vector<std::string> records_;  // URLs as requested
  std::size_t begun_ = 0;
  std::size_t synced_ = 0;
};

}  // namespace orbweaver::sim
