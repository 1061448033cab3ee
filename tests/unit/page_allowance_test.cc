// How many pages a peer may request under the ring's limits.
#include "node/frontier/page_allowance.h"

#include <gtest/gtest.h>

#include "node/config/settings_table.h"
#include "node/crawl/meta_names.h"

namespace orbweaver {
namespace {

class PageAllowanceTest : public testing::Test {
 protected:
  PageAllowanceTest() : settings_(default_settings()) {}
  void fetch_one() {
    allowance_.page_begins();
    allowance_.page_ends();
    allowance_.page_fetched();
  }

  Settings settings_;
  PageAllowance allowance_{settings_};
};

TEST_F(PageAllowanceTest, WithoutALimitEveryPageMayStart) {
  EXPECT_FALSE(allowance_.limited());
  for (int i = 0; i < 100; ++i) allowance_.page_begins();
  EXPECT_TRUE(allowance_.may_start());
}

TEST_F(PageAllowanceTest, UnderALimitNoneStartsBeforeTheFirstGrant) {
  settings_.max_pages = 10;
  EXPECT_TRUE(allowance_.limited());
  EXPECT_FALSE(allowance_.may_start());
  allowance_.grant(1);
  EXPECT_TRUE(allowance_.may_start());
}

TEST_F(PageAllowanceTest, PagesUnderWayCountAndThoseThatFailAreFreeAgain) {
  settings_.max_pages = 10;
  allowance_.grant(2);
  allowance_.page_begins();
  allowance_.page_begins();
  EXPECT_FALSE(allowance_.may_start());
  allowance_.page_ends();
  EXPECT_TRUE(allowance_.may_start());
  allowance_.page_fetched();
  EXPECT_FALSE(allowance_.may_start());
  EXPECT_EQ(allowance_.fetched(), 1u);
}

TEST_F(PageAllowanceTest, ALateGrantTakesNothingBack) {
  settings_.max_pages = 10;
  allowance_.grant(5);
  allowance_.grant(3);
  EXPECT_EQ(allowance_.cap(), 5u);
}

TEST_F(PageAllowanceTest, WhatAPeerWithoutWorkGivesBackIsNotSpent) {
  settings_.max_pages = 10;
  allowance_.grant(5);
  fetch_one();
  EXPECT_EQ(allowance_.unspent(), 4u);
  allowance_.page_begins();
  allowance_.give_back();
  EXPECT_EQ(allowance_.cap(), 2u) << "one fetched, one under way";
  EXPECT_EQ(allowance_.unspent(), 1u);
  EXPECT_FALSE(allowance_.may_start());
}

TEST_F(PageAllowanceTest, TheCapToldIsNeverBelowWhatIsUsed) {
  fetch_one();
  fetch_one();
  EXPECT_EQ(allowance_.cap(), 2u);
  EXPECT_EQ(allowance_.unspent(), 0u);
}

TEST_F(PageAllowanceTest, BytesAreWrittenUnderTheirLimitOnlyAndGoOnAfterARestart) {
  storage::Commit commit;
  allowance_.count_bytes(100, commit);
  EXPECT_TRUE(commit.meta.empty());
  settings_.max_bytes = 1'000'000;
  EXPECT_TRUE(allowance_.limited());
  allowance_.count_bytes(0, commit);
  EXPECT_TRUE(commit.meta.empty());
  allowance_.count_bytes(100, commit);
  allowance_.count_bytes(50, commit);
  ASSERT_EQ(commit.meta.size(), 2u);
  EXPECT_EQ(commit.meta.back(), std::pair(std::string(meta_name::bytes), std::string("150")));
  PageAllowance again(settings_);
  again.restore(commit.meta.back().second);
  EXPECT_EQ(again.bytes(), 150u);
}

}  // namespace
}  // namespace orbweaver
