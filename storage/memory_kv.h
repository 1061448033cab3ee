// A Kv in memory for tests and the simulator: ordered maps, and faults to switch on.
#pragma once

#include <array>
#include <map>

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
  std::uint64_t writes() const { return writes_; }
  std::size_t size(Table table) const { return tables_[static_cast<std::size_t>(table)].size(); }

 private:
  using Rows = std::map<std::string, std::string, std::less<>>;
  friend class MemoryCursor;
  std::array<Rows, table_count> tables_;
  std::uint64_t writes_ = 0;
  std::uint64_t allowed_ = 0;
  bool failing_ = false;
  ErrorKind kind_ = ErrorKind::io;
};

}  // namespace orbweaver::storage
