// A Store on each kind of Kv: in memory, and RocksDB in a directory that belongs to the test.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "storage/memory_kv.h"
#include "storage/rocks_kv.h"
#include "storage/store.h"
#include "tests/unit/temp_dir.h"

namespace orbweaver::test {

enum class Backend { memory, rocks };

inline std::string backend_name(const testing::TestParamInfo<Backend>& info) {
  return info.param == Backend::memory ? "Memory" : "RocksDb";
}

inline std::vector<std::pair<std::string, std::string>> rows_of(storage::Kv& kv, storage::Table table) {
  std::vector<std::pair<std::string, std::string>> rows;
  const auto cursor = kv.cursor(table, {});
  for (cursor->seek({}); cursor->valid(); cursor->next()) rows.emplace_back(cursor->key(), cursor->value());
  EXPECT_TRUE(cursor->status());
  return rows;
}

class StoreOnEachBackend : public testing::TestWithParam<Backend> {
 protected:
  void SetUp() override { reopen(); }
  storage::Kv& kv() { return *kv_; }
  storage::Store& store() { return *store_; }
  storage::MemoryKv* memory() { return dynamic_cast<storage::MemoryKv*>(kv_.get()); }

  // A new, empty store in memory.
  void replace() {
    store_.reset();
    kv_.reset();
    reopen();
  }

  // As after a restart of the process: RocksDB is closed and opened; the memory store keeps its rows.
  void reopen() {
    store_.reset();
    if (GetParam() == Backend::rocks) {
      kv_.reset();
      auto opened = storage::open_rocks({directory_.file("db"), 8u << 20, false});
      ASSERT_TRUE(opened) << opened.error().message;
      kv_ = std::move(*opened);
    } else if (kv_ == nullptr) {
      kv_ = std::make_unique<storage::MemoryKv>();
    }
    auto store = storage::Store::open(*kv_);
    ASSERT_TRUE(store) << store.error().message;
    store_.emplace(std::move(*store));
  }

 private:
  TempDir directory_;
  std::unique_ptr<storage::Kv> kv_;
  std::optional<storage::Store> store_;
};

}  // namespace orbweaver::test
