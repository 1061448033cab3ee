// The Kv on RocksDB: one instance per peer, one column family per table. The only code that uses RocksDB. A write
// survives the death of the process (the operating system has it), and a power cut after the next sync().
#pragma once

#include <memory>
#include <string>

#include "storage/kv.h"
#include "storage/open_waiter.h"

namespace orbweaver::storage {

struct RocksConfig {
  std::string directory;
  std::uint64_t cache_bytes = 64u << 20;  // block cache, shared by all tables
  // For commands that inspect the directory of a process that has ended: it is read and never changed, not even to
  // recover its journal. Writes succeed and are discarded.
  bool look_only = false;
  std::uint64_t write_buffer_bytes = 0;  // of all tables together; 0: each table's own bound alone
  int max_open_files = 512;              // tables kept open; at least 20
  OpenWaiter* waiter = nullptr;          // outlives the store; null: a lack of descriptors leaves it read-only
};

// Opens or creates it. Errors: ErrorKind::in_use when another process has it, version when a later build wrote it,
// corrupt, disk_full, io; each message names the directory and the fix.
Result<std::unique_ptr<Kv>> open_rocks(const RocksConfig& config);

}  // namespace orbweaver::storage
