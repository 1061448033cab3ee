#include "storage/memory_kv.h"

namespace orbweaver::storage {

// Walks the live map; the crawl's rules never write while a cursor is open.
class MemoryCursor final : public KvCursor {
 public:
  MemoryCursor(const MemoryKv::Rows& rows, std::string_view upper_bound)
      : rows_(rows), at_(rows.end()), upper_bound_(upper_bound) {}
  void seek(std::string_view key) override { at_ = rows_.lower_bound(key); }
  bool valid() const override { return at_ != rows_.end() && (upper_bound_.empty() || at_->first < upper_bound_); }
  std::string_view key() const override { return at_->first; }
  std::string_view value() const override { return at_->second; }
  void next() override { ++at_; }
  Result<void> status() const override { return {}; }

 private:
  const MemoryKv::Rows& rows_;
  MemoryKv::Rows::const_iterator at_;
  std::string upper_bound_;
};

Result<std::optional<std::string>> MemoryKv::get(Table table, std::string_view key) {
  const Rows& rows = tables_[static_cast<std::size_t>(table)];
  const auto found = rows.find(key);
  if (found == rows.end()) return std::optional<std::string>();
  return std::optional<std::string>(found->second);
}

Result<void> MemoryKv::multi_get(Table table, std::span<const std::string_view> keys,
                                 std::vector<std::optional<std::string>>& values) {
  values.clear();
  for (const std::string_view key : keys) values.push_back(*get(table, key));
  return {};
}

std::unique_ptr<KvCursor> MemoryKv::cursor(Table table, std::string_view upper_bound) {
  return std::make_unique<MemoryCursor>(tables_[static_cast<std::size_t>(table)], upper_bound);
}

Result<void> MemoryKv::write(const KvBatch& batch) {
  if (failing_) {
    if (allowed_ == 0) return fail(kind_, "memory store: this write was told to fail");
    --allowed_;
  }
  ++writes_;
  for (std::size_t i = 0; i < batch.size(); ++i) {
    const KvBatch::Op op = batch[i];
    Rows& rows = tables_[static_cast<std::size_t>(op.table)];
    if (op.put) {
      rows.insert_or_assign(std::string(op.key), std::string(op.value));
    } else if (const auto found = rows.find(op.key); found != rows.end()) {
      rows.erase(found);
    }
  }
  return {};
}

void MemoryKv::fail_after(std::uint64_t writes, ErrorKind kind) {
  failing_ = true;
  allowed_ = writes;
  kind_ = kind;
}

}  // namespace orbweaver::storage
