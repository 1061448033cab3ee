#include "storage/memory_kv.h"

namespace orbweaver::storage {

namespace {

constexpr const char* read_failed = "memory store: this read is made to fail";

}  // namespace

// Walks the live map; the crawl's rules never write while a cursor is open.
class MemoryCursor final : public KvCursor {
 public:
  MemoryCursor(const MemoryKv::Rows& rows, std::string_view upper_bound, bool fails)
      : rows_(rows), at_(rows.end()), upper_bound_(upper_bound), fails_(fails) {}
  void seek(std::string_view key) override { at_ = fails_ ? rows_.end() : rows_.lower_bound(key); }
  bool valid() const override { return at_ != rows_.end() && (upper_bound_.empty() || at_->first < upper_bound_); }
  std::string_view key() const override { return at_->first; }
  std::string_view value() const override { return at_->second; }
  void next() override { ++at_; }
  Result<void> status() const override {
    if (fails_) return fail(ErrorKind::io, read_failed);
    return {};
  }

 private:
  const MemoryKv::Rows& rows_;
  MemoryKv::Rows::const_iterator at_;
  std::string upper_bound_;
  bool fails_;
};

bool MemoryKv::next_read_fails() {
  if (!reads_left_) return false;
  if (*reads_left_ == 0) {
    ++failed_reads_;
    return true;
  }
  --*reads_left_;
  return false;
}

Result<std::optional<std::string>> MemoryKv::get(Table table, std::string_view key) {
  if (next_read_fails()) return fail(ErrorKind::io, read_failed);
  const Rows& rows = tables_[static_cast<std::size_t>(table)];
  const auto found = rows.find(key);
  if (found == rows.end()) return std::optional<std::string>();
  return std::optional<std::string>(found->second);
}

Result<void> MemoryKv::multi_get(Table table, std::span<const std::string_view> keys,
                                 std::vector<std::optional<std::string>>& values) {
  values.clear();
  for (const std::string_view key : keys) {
    Result<std::optional<std::string>> value = get(table, key);
    if (!value) return tl::make_unexpected(value.error());
    values.push_back(std::move(*value));
  }
  return {};
}

std::unique_ptr<KvCursor> MemoryKv::cursor(Table table, std::string_view upper_bound) {
  return std::make_unique<MemoryCursor>(tables_[static_cast<std::size_t>(table)], upper_bound, next_read_fails());
}

Result<void> MemoryKv::write(const KvBatch& batch) {
  if (failing_) {
    if (allowed_ == 0) {
      ++failed_writes_;
      return fail(kind_, "memory store: this write is made to fail");
    }
    --allowed_;
  }
  ++writes_;
  if (batch.synced()) {
    unsynced_.clear();
  } else if (max_unsynced_ > 0) {
    remember(batch);
  }
  for (std::size_t i = 0; i < batch.size(); ++i) {
    const KvBatch::Op op = batch[i];
    digest_of(op);
    Rows& rows = tables_[static_cast<std::size_t>(op.table)];
    if (op.put) {
      rows.insert_or_assign(std::string(op.key), std::string(op.value));
    } else if (const auto found = rows.find(op.key); found != rows.end()) {
      rows.erase(found);
    }
  }
  return {};
}

void MemoryKv::digest_of(const KvBatch::Op& op) {
  const auto mix = [this](std::uint8_t byte) { digest_ = (digest_ ^ byte) * 0x100000001b3ull; };
  mix(static_cast<std::uint8_t>(op.table));
  mix(op.put ? 1 : 0);
  for (const std::string_view text : {op.key, op.value}) {
    for (const char c : text) mix(static_cast<std::uint8_t>(c));
    mix(static_cast<std::uint8_t>(text.size()));
  }
}

void MemoryKv::fail_after(std::uint64_t writes, ErrorKind kind) {
  failing_ = true;
  allowed_ = writes;
  kind_ = kind;
}

void MemoryKv::remember(const KvBatch& batch) {
  std::vector<Before> before;
  before.reserve(batch.size());
  for (std::size_t i = 0; i < batch.size(); ++i) {
    const Rows& rows = tables_[static_cast<std::size_t>(batch[i].table)];
    const auto found = rows.find(batch[i].key);
    before.push_back({batch[i].table, std::string(batch[i].key),
                      found == rows.end() ? std::nullopt : std::optional<std::string>(found->second)});
  }
  unsynced_.push_back(std::move(before));
  if (unsynced_.size() > max_unsynced_) unsynced_.pop_front();
}

void MemoryKv::keep_unsynced(std::size_t writes) {
  max_unsynced_ = writes;
  while (unsynced_.size() > max_unsynced_) unsynced_.pop_front();
}

std::size_t MemoryKv::drop_unsynced(std::size_t writes) {
  std::size_t dropped = 0;
  for (; dropped < writes && !unsynced_.empty(); ++dropped) {
    const std::vector<Before> before = std::move(unsynced_.back());
    unsynced_.pop_back();
    // A batch may write a key twice: its first value is restored last.
    for (auto entry = before.rbegin(); entry != before.rend(); ++entry) {
      Rows& rows = tables_[static_cast<std::size_t>(entry->table)];
      if (entry->value) {
        rows.insert_or_assign(entry->key, *entry->value);
      } else {
        rows.erase(entry->key);
      }
    }
  }
  return dropped;
}

void MemoryKv::wipe() {
  for (Rows& rows : tables_) rows.clear();
  unsynced_.clear();
}

}  // namespace orbweaver::storage
