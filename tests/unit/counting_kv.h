// A Kv that passes every call to another Kv and counts the reads.
#pragma once

#include <memory>

#include "storage/kv.h"

namespace orbweaver::test {

class CountingKv final : public storage::Kv {
 public:
  explicit CountingKv(storage::Kv& kv) : kv_(&kv) {}
  storage::Result<std::optional<std::string>> get(storage::Table table, std::string_view key) override {
    ++point_reads[static_cast<std::size_t>(table)];
    return kv_->get(table, key);
  }
  storage::Result<void> multi_get(storage::Table table, std::span<const std::string_view> keys,
                                  std::vector<std::optional<std::string>>& values) override {
    point_reads[static_cast<std::size_t>(table)] += keys.size();
    return kv_->multi_get(table, keys, values);
  }
  std::unique_ptr<storage::KvCursor> cursor(storage::Table table, std::string_view upper_bound) override {
    return std::make_unique<Cursor>(*this, table, kv_->cursor(table, upper_bound));
  }
  storage::Result<void> write(const storage::KvBatch& batch) override { return kv_->write(batch); }

  std::size_t of_urls() const { return point_reads[static_cast<std::size_t>(storage::Table::urls)]; }
  std::size_t rows_of_urls() const { return rows[static_cast<std::size_t>(storage::Table::urls)]; }
  std::array<std::size_t, storage::table_count> point_reads{};
  std::array<std::size_t, storage::table_count> rows{};  // number of rows that cursors reached

 private:
  class Cursor final : public storage::KvCursor {
   public:
    Cursor(CountingKv& owner, storage::Table table, std::unique_ptr<storage::KvCursor> cursor)
        : rows_(&owner.rows[static_cast<std::size_t>(table)]), cursor_(std::move(cursor)) {}
    void seek(std::string_view key) override {
      cursor_->seek(key);
      *rows_ += cursor_->valid() ? 1 : 0;
    }
    bool valid() const override { return cursor_->valid(); }
    std::string_view key() const override { return cursor_->key(); }
    std::string_view value() const override { return cursor_->value(); }
    void next() override {
      cursor_->next();
      *rows_ += cursor_->valid() ? 1 : 0;
    }
    storage::Result<void> status() const override { return cursor_->status(); }

   private:
    std::size_t* rows_;
    std::unique_ptr<storage::KvCursor> cursor_;
  };
  storage::Kv* kv_;
};

}  // namespace orbweaver::test
