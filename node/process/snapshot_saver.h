// Carries out MakeCheckpoint: a checkpoint of the store below the peer's directory, and the list of its files. Both are
// done on a thread of its own, one snapshot at a time, while the loop goes on.
//
//   <directory>/snapshots/ID/store/…   the checkpoint: hard links, and a copy of the journal (64 MiB at most)
//   <directory>/snapshots/ID.part      one that is being made; what a process that died left there is removed
//
// Snapshots stay until they are removed by hand; max_snapshots bounds them, since each keeps old tables on the disk.
// Thread rule: one owner (the loop).
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <thread>

#include "node/crawl/events.h"
#include "storage/kv.h"

namespace orbweaver {

class SnapshotSaver {
 public:
  static constexpr std::size_t max_snapshots = 8;
  // So much must be free: the journal, and a reserve.
  static constexpr std::uint64_t room_bytes = 128u << 20;

  explicit SnapshotSaver(std::string directory) : directory_(std::move(directory)) {}
  ~SnapshotSaver() { stop(); }
  SnapshotSaver(const SnapshotSaver&) = delete;

  // `tell` gets CheckpointMade, and after a success CheckpointListed: here, or on the other thread. `kv` stays until
  // stop().
  void begin(storage::Kv& kv, const std::string& snapshot, const std::function<void(Event)>& tell);
  // Waits for a checkpoint that is being made; a list of files is cut short.
  void stop();

 private:
  Result<std::string> make(storage::Kv& kv, const std::string& snapshot) const;
  CheckpointListed list(const std::string& snapshot, const std::string& path) const;

  std::string directory_;
  std::thread thread_;
  std::atomic<bool> busy_{false};
  std::atomic<bool> stop_{false};
};

}  // namespace orbweaver
