// A Kv in memory for tests and the simulator: ordered maps, and faults to switch on.
//
// What a power cut may take, and what a kill may not: RocksDB appends each commit to its write-ahead log before it
// counts. Without fsync (durability = "process") the log is in the operating system's page cache: a process that dies
// by kill -9 loses nothing, a machine that loses power loses the last commits, some of them or none, always from the
// end (the log is read up to where it breaks off). With fsync (durability = "power") nothing that counted is lost. So:
// whoever drops this object's owner and keeps it has a kill -9; drop_unsynced() makes it a power cut. Thread rule: one
// owner.
#pragma once

#include <array>
#include <deque>
#include <map>
#include <vector>

#include "storage/kv.h"

namespace orbweaver::storage {

class MemoryKv final : public Kv {
 public:
  Result<std::optional<std::string>> get(Table table, std::string_view key) override;
  Result<void> multi_get(Table table, std::span<const std::string_view> keys,
                         std::vector<std::optional<std::string>>& values) override;
  std::unique_ptr<KvCursor> cursor(Table table, std::string_view upper_bound) override;
  Result<void> write(const KvBatch& batch) override;

  // The next `writes` writes succeed, all later ones fail with `kind` and change nothing.
  void fail_after(std::uint64_t writes, ErrorKind kind);
  void heal() { failing_ = false; }
  bool failing() const { return failing_; }
  std::uint64_t writes() const { return writes_; }
  std::uint64_t failed_writes() const { return failed_writes_; }
  // Of every row written or removed so far, in their order: two runs that wrote the same have the same.
  std::uint64_t digest() const { return digest_; }

  // From now on the last `writes` writes can be taken back; 0 (as made): none.
  void keep_unsynced(std::size_t writes);
  // A power cut: takes the last `writes` writes back, the newest first, or all that are kept. Answers how many.
  std::size_t drop_unsynced(std::size_t writes);
  // A new disk: nothing is on it.
  void wipe();
  std::size_t size(Table table) const { return tables_[static_cast<std::size_t>(table)].size(); }

 private:
  using Rows = std::map<std::string, std::string, std::less<>>;
  friend class MemoryCursor;
  // What a key held before a write; no value: it was not there.
  struct Before {
    Table table;
    std::string key;
    std::optional<std::string> value;
  };
  void remember(const KvBatch& batch);
  void digest_of(const KvBatch::Op& op);

  std::array<Rows, table_count> tables_;
  std::deque<std::vector<Before>> unsynced_;  // one entry a write, the newest last
  std::size_t unsynced_max_ = 0;
  std::uint64_t writes_ = 0;
  std::uint64_t failed_writes_ = 0;
  std::uint64_t allowed_ = 0;
  std::uint64_t digest_ = 0xcbf29ce484222325ull;  // FNV-1a
  bool failing_ = false;
  ErrorKind kind_ = ErrorKind::io;
};

}  // namespace orbweaver::storage
