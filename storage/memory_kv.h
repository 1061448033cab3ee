// A Kv in memory for tests and the simulator: ordered maps, with faults to switch on.
//
// What a power cut may take, and what a kill may not: RocksDB appends each commit to its write-ahead log before it
// counts. Without fsync (durability = "process") the log is in the operating system's page cache: a process killed by
// kill -9 loses nothing. A machine that loses power loses the last commits, some or none, always from the end (the log
// is read up to the first damage). With fsync (durability = "power") nothing that counted is lost. So: destroying this
// object's owner and keeping the object simulates kill -9; drop_unsynced() makes it a power cut. Thread rule: one
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
  // The next `reads` reads succeed, all later ones fail (io). A cursor's walk is one read.
  void fail_reads_after(std::uint64_t reads) { reads_left_ = reads; }
  void heal_reads() { reads_left_.reset(); }
  std::uint64_t reads_left() const { return reads_left_.value_or(0); }  // before the first that fails
  std::uint64_t failed_reads() const { return failed_reads_; }
  bool failing() const { return failing_; }
  std::uint64_t writes() const { return writes_; }
  std::uint64_t failed_writes() const { return failed_writes_; }
  // A digest of every row written or removed so far, in order: two runs that wrote the same have the same.
  std::uint64_t digest() const { return digest_; }

  // From now on the last `writes` writes can be taken back; 0 (as made): none.
  void keep_unsynced(std::size_t writes);
  // A power cut: reverts the last `writes` writes, newest first, or all that are kept. Returns how many.
  std::size_t drop_unsynced(std::size_t writes);
  // A new disk: nothing is on it.
  void wipe();
  std::size_t size(Table table) const { return tables_[static_cast<std::size_t>(table)].size(); }

 private:
  using Rows = std::map<std::string, std::string, std::less<>>;
  friend class MemoryCursor;
  // A key's value before a write; none: the key did not exist.
  struct Before {
    Table table;
    std::string key;
    std::optional<std::string> value;
  };
  bool next_read_fails();
  void remember(const KvBatch& batch);
  void digest_of(const KvBatch::Op& op);

  std::array<Rows, table_count> tables_;
  std::deque<std::vector<Before>> unsynced_;  // one entry per write, the newest last
  std::size_t max_unsynced_ = 0;
  std::uint64_t writes_ = 0;
  std::uint64_t failed_writes_ = 0;
  std::uint64_t allowed_ = 0;
  std::uint64_t digest_ = 0xcbf29ce484222325ull;  // FNV-1a
  std::optional<std::uint64_t> reads_left_;       // none: no read fails
  std::uint64_t failed_reads_ = 0;
  bool failing_ = false;
  ErrorKind kind_ = ErrorKind::io;
};

}  // namespace orbweaver::storage
