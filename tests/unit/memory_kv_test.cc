// The store in memory: what its faults remove and what they leave.
#include "storage/memory_kv.h"

#include <gtest/gtest.h>

namespace orbweaver::storage {

namespace {

class MemoryKvFaults : public testing::Test {
 protected:
  bool put(std::string_view key, std::string_view value) {
    KvBatch batch;
    batch.put(Table::urls, key, value);
    return kv_.write(batch).has_value();
  }
  std::optional<std::string> value(std::string_view key) { return *kv_.get(Table::urls, key); }
  MemoryKv kv_;
};

TEST_F(MemoryKvFaults, AFailedWriteChangesNothingAndIsCounted) {
  ASSERT_TRUE(put("a", "1"));
  kv_.fail_after(1, ErrorKind::disk_full);
  EXPECT_TRUE(put("b", "1"));
  EXPECT_FALSE(put("a", "2"));
  EXPECT_EQ(value("a"), "1");
  EXPECT_EQ(kv_.failed_writes(), 1u);
  kv_.heal();
  EXPECT_TRUE(put("a", "2"));
  EXPECT_EQ(value("a"), "2");
}

TEST_F(MemoryKvFaults, APowerCutTakesTheLastWritesWholeAndNoOthers) {
  ASSERT_TRUE(put("old", "1"));
  kv_.keep_unsynced(3);
  ASSERT_TRUE(put("old", "2"));
  KvBatch batch;
  batch.put(Table::urls, "old", "3");
  batch.put(Table::hosts, "new", "1");
  batch.put(Table::urls, "old", "4");  // the same key twice in one batch
  batch.remove(Table::urls, "none");
  ASSERT_TRUE(kv_.write(batch));
  EXPECT_EQ(kv_.drop_unsynced(1), 1u);
  EXPECT_EQ(value("old"), "2");
  EXPECT_EQ(kv_.size(Table::hosts), 0u);
  EXPECT_EQ(kv_.drop_unsynced(5), 1u) << "what was written before is on the disk";
  EXPECT_EQ(value("old"), "1");
}

TEST_F(MemoryKvFaults, OnlyAsManyWritesAsSaidCanBeTakenBack) {
  kv_.keep_unsynced(2);
  for (const char* text : {"1", "2", "3", "4"}) ASSERT_TRUE(put("a", text));
  EXPECT_EQ(kv_.drop_unsynced(10), 2u);
  EXPECT_EQ(value("a"), "2");
}

TEST_F(MemoryKvFaults, AWipedDiskIsEmptyAndStaysSo) {
  kv_.keep_unsynced(2);
  ASSERT_TRUE(put("a", "1"));
  kv_.wipe();
  EXPECT_EQ(kv_.size(Table::urls), 0u);
  EXPECT_EQ(kv_.drop_unsynced(1), 0u);
}

}  // namespace

}  // namespace orbweaver::storage
