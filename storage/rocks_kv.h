// The Kv on RocksDB: one instance a peer, a column family a table. RocksDB's only home.
#pragma once

#include <memory>
#include <string>

#include "storage/kv.h"
#include "storage/open_waiter.h"

namespace orbweaver::storage {

struct RocksConfig {
  std::string directory;
  std::uint64_t cache_bytes = 64u << 20;  // block cache, shared by all tables
  // False: a write survives the death of the process (it is in the operating system's hands).
  // True: it survives a power cut (fsync at each write; some ten times slower).
  bool sync_writes = false;
  // For commands that look at what a process that has ended left behind: the directory is read and never changed, not
  // even to recover its journal. Writes succeed and are forgotten.
  bool look_only = false;
  std::uint64_t write_buffer_bytes = 0;  // of all tables together; 0: each table's own bound alone
  int open_files_max = 512;              // tables kept open; at least 20
  OpenWaiter* waiter = nullptr;          // outlives the store; null: a lack of descriptors leaves it read-only
};

// Opens or makes it. Errors: ErrorKind::in_use when another process has it, version when it was written by a later
// build, corrupt, disk_full, io; each message names the directory and the fix.
Result<std::unique_ptr<Kv>> open_rocks(const RocksConfig& config);

}  // namespace orbweaver::storage
