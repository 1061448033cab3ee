// Pages that kill the crawler: when one is given up, and what is stored of it (docs/reference/formats.md, meta table).
#include "node/frontier/crash_book.h"

#include <gtest/gtest.h>

#include "node/crawl/meta_names.h"
#include "storage/memory_kv.h"
#include "tests/unit/crawl_keys.h"

namespace orbweaver {
namespace {

using test::url_key_of;

class CrashBookTest : public testing::Test {
 protected:
  CrashBookTest() : store_(*storage::Store::open(kv_)) {}
  // Starts a process whose predecessor died while it read these pages.
  CrashBook start(const std::vector<storage::UrlKey>& at_work) {
    CrashBook book;
    storage::Commit commit;
    EXPECT_TRUE(book.restore(store_, at_work, commit));
    EXPECT_TRUE(store_.commit(commit));
    return book;
  }
  void clear(CrashBook& book, const storage::UrlKey& page) {
    storage::Commit commit;
    book.clear(page, commit);
    EXPECT_TRUE(store_.commit(commit));
  }

  const storage::UrlKey page_ = url_key_of(1, 2);
  const storage::UrlKey other_ = url_key_of(3, 4);
  storage::MemoryKv kv_;
  storage::Store store_;
};

TEST_F(CrashBookTest, APageIsTriedOnceMoreAndGivenUpAfterTheSecondEnd) {
  EXPECT_FALSE(start({page_, other_}).given_up(page_));
  const CrashBook second = start({page_});
  EXPECT_TRUE(second.given_up(page_));
  EXPECT_FALSE(second.given_up(other_));
}

TEST_F(CrashBookTest, ACleanEndInBetweenForgivesNothing) {
  start({page_});
  start({});
  EXPECT_TRUE(start({page_}).given_up(page_));
}

TEST_F(CrashBookTest, APageThatEndedInAnotherWayIsCleared) {
  CrashBook book = start({page_, other_});
  clear(book, page_);
  EXPECT_FALSE(start({page_}).given_up(page_));
  EXPECT_TRUE(start({other_}).given_up(other_));
}

TEST_F(CrashBookTest, ClearingAPageThatWasNeverAtWorkWritesNothing) {
  CrashBook book = start({page_});
  storage::Commit commit;
  book.clear(other_, commit);
  EXPECT_TRUE(commit.meta.empty());
  book.clear(page_, commit);
  EXPECT_EQ(commit.meta.size(), 1u);
  book.clear(page_, commit);
  EXPECT_EQ(commit.meta.size(), 1u);
}

TEST_F(CrashBookTest, RowsThatCannotBeReadArePassedOver) {
  storage::Commit commit;
  commit.meta.emplace_back(std::string(meta_name::crashed) + "no key", "2");
  commit.meta.emplace_back(std::string(meta_name::crashed) + std::string(52, 'x'), "2");
  ASSERT_TRUE(store_.commit(commit));
  EXPECT_FALSE(start({page_}).given_up(page_));
  EXPECT_TRUE(start({page_}).given_up(page_));
}

TEST_F(CrashBookTest, OneStartCountsAPageOnce) {
  storage::Commit commit;
  CrashBook book;
  ASSERT_TRUE(book.restore(store_, {page_}, commit));
  ASSERT_EQ(commit.meta.size(), 1u);
  EXPECT_EQ(commit.meta.front().second, "1");
  // The start failed before its write: nothing is counted.
  EXPECT_FALSE(start({page_}).given_up(page_));
}

}  // namespace
}  // namespace orbweaver
