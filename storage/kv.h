// The ordered key-value store under everything durable: what RocksDB offers, and no more. storage/rocks_kv.h is the
// real one; storage/memory_kv.h is the one of the tests and the simulator, with faults. Thread rule: one owner (the
// peer's loop).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "storage/types.h"

namespace orbweaver::storage {

// Numbers index the stores' tables: append only.
enum class Table : std::uint8_t { meta = 0, urls = 1, frontier = 2, hosts = 3, outbox = 4 };
inline constexpr std::size_t table_count = 5;
inline constexpr const char* table_names[table_count] = {"meta", "urls", "frontier", "hosts", "outbox"};

// Writes that become visible and durable together or not at all. Keys and values live in one buffer.
class KvBatch {
 public:
  struct Op {
    Table table;
    bool put;
    std::string_view key;
    std::string_view value;
  };
  void put(Table table, std::string_view key, std::string_view value) { add(table, true, key, value); }
  void remove(Table table, std::string_view key) { add(table, false, key, {}); }
  // It is on the disk itself when it counts, and all before it, whatever `durability` says.
  void sync() { synced_ = true; }
  bool synced() const { return synced_; }
  std::size_t size() const { return ops_.size(); }
  Op operator[](std::size_t i) const {
    const Stored& op = ops_[i];
    const std::string_view bytes(bytes_);
    return {op.table, op.put, bytes.substr(op.at, op.key_bytes), bytes.substr(op.at + op.key_bytes, op.value_bytes)};
  }

 private:
  struct Stored {
    std::size_t at;
    std::uint32_t key_bytes;
    std::uint32_t value_bytes;
    Table table;
    bool put;
  };
  void add(Table table, bool is_put, std::string_view key, std::string_view value) {
    ops_.push_back({bytes_.size(), static_cast<std::uint32_t>(key.size()), static_cast<std::uint32_t>(value.size()),
                    table, is_put});
    bytes_.append(key).append(value);
  }
  std::string bytes_;
  std::vector<Stored> ops_;
  bool synced_ = false;
};

// Reads a table in key order as it was when the cursor was made. Views are valid until the next call.
class KvCursor {
 public:
  virtual ~KvCursor() = default;
  virtual void seek(std::string_view key) = 0;  // to the first key not below
  virtual bool valid() const = 0;
  virtual std::string_view key() const = 0;
  virtual std::string_view value() const = 0;
  virtual void next() = 0;
  virtual Result<void> status() const = 0;  // an error that ended the reading early
};

class Kv {
 public:
  virtual ~Kv() = default;
  virtual Result<std::optional<std::string>> get(Table table, std::string_view key) = 0;
  // `keys` sorted ascending; `values[i]` answers `keys[i]`.
  virtual Result<void> multi_get(Table table, std::span<const std::string_view> keys,
                                 std::vector<std::optional<std::string>>& values) = 0;
  // `upper_bound`: keys at or above it are not seen; empty: none. It must outlive the cursor.
  virtual std::unique_ptr<KvCursor> cursor(Table table, std::string_view upper_bound) = 0;
  virtual Result<void> write(const KvBatch& batch) = 0;
  // Writes that succeeded so far. Any thread may call this, and sync().
  virtual std::uint64_t written() const { return 0; }
  // What was written before the call is on the disk itself when it returns. Errors: as of a write.
  virtual Result<void> sync() { return {}; }
  // The memory that it uses, by its own count; 0 where it does not count.
  virtual std::uint64_t memory_bytes() const { return 0; }
  // A copy of all tables as of one moment during the call, which a Kv of the same kind opens. `directory` must not
  // exist, its parent must. Any thread may call it, while the owner goes on.
  virtual Result<void> checkpoint(const std::string& directory) {
    return fail(ErrorKind::io, directory + ": this store makes no checkpoints");
  }
};

}  // namespace orbweaver::storage
