// Budgets of hosts and domains: what counts, when no further page is requested, what survives a restart.
#include "node/frontier/budgets.h"

#include <gtest/gtest.h>

#include "node/config/settings_table.h"
#include "storage/memory_kv.h"

namespace orbweaver {
namespace {

class BudgetsTest : public testing::Test {
 protected:
  BudgetsTest() : settings_(default_settings()), store_(*storage::Store::open(kv_)) { start(); }
  void start(std::size_t max_domains = 100) { budgets_.emplace(settings_, store_, max_domains); }
  static CanonicalUrl url(const std::string& text) { return *CanonicalUrl::parse(text); }
  bool count(const std::string& text, std::uint64_t bytes, BenchHost* host) {
    storage::Commit commit;
    const bool changed = budgets_->count(url(text), bytes, host, commit);
    EXPECT_TRUE(store_.commit(commit));
    rows_ += commit.meta.size();
    return changed;
  }
  bool spent(const std::string& text) { return budgets_->spent(host_, url(text)); }

  Settings settings_;
  storage::MemoryKv kv_;
  storage::Store store_;
  std::optional<Budgets> budgets_;
  BenchHost host_;
  std::size_t rows_ = 0;
};

TEST_F(BudgetsTest, WithoutABudgetNothingIsCountedOrWritten) {
  EXPECT_FALSE(count("http://a.test/", 1000, &host_));
  EXPECT_EQ(host_.pages, 0u);
  EXPECT_EQ(rows_, 0u);
  EXPECT_FALSE(spent("http://a.test/"));
}

TEST_F(BudgetsTest, PagesOfAHostThatAreNotCommittedYetCount) {
  settings_.max_pages_per_host = 3;
  EXPECT_TRUE(count("http://a.test/1", 10, &host_));
  host_.pending = 1;
  EXPECT_FALSE(spent("http://a.test/2"));
  host_.pending = 2;
  EXPECT_TRUE(spent("http://a.test/2"));
  host_.pending = 0;
  EXPECT_FALSE(spent("http://a.test/2")) << "they were not answered";
  EXPECT_TRUE(count("http://a.test/2", 10, &host_));
  EXPECT_TRUE(count("http://a.test/3", 10, &host_));
  EXPECT_TRUE(spent("http://a.test/4"));
  EXPECT_EQ(host_.bytes, 30u);
}

TEST_F(BudgetsTest, BytesOfAHost) {
  settings_.max_bytes_per_host = 100;
  count("http://a.test/1", 99, &host_);
  EXPECT_FALSE(spent("http://a.test/2"));
  count("http://a.test/2", 1, &host_);
  EXPECT_TRUE(spent("http://a.test/3"));
}

TEST_F(BudgetsTest, AHostThatLeftTheWorkbenchIsNotCounted) {
  settings_.max_pages_per_host = 1;
  EXPECT_FALSE(count("http://a.test/1", 10, nullptr));
}

TEST_F(BudgetsTest, HostsOfADomainShareItsBudget) {
  settings_.max_pages_per_domain = 2;
  EXPECT_FALSE(count("http://a.one.test/", 10, &host_)) << "the host's own use has not changed";
  EXPECT_FALSE(spent("http://b.one.test/"));
  budgets_->page_begins(url("http://c.one.test/"));
  EXPECT_TRUE(spent("http://b.one.test/")) << "one is under way";
  EXPECT_FALSE(spent("http://a.two.test/"));
  budgets_->page_ends(url("http://c.one.test/"));
  EXPECT_FALSE(spent("http://b.one.test/"));
  count("http://c.one.test/", 10, &host_);
  EXPECT_TRUE(spent("http://b.one.test/"));
}

TEST_F(BudgetsTest, ADomainsUseSurvivesARestartAndMakingRoom) {
  settings_.max_pages_per_domain = 2;
  settings_.max_bytes_per_domain = 1000;
  count("http://a.one.test/", 600, &host_);
  start();
  EXPECT_FALSE(spent("http://a.one.test/"));
  start(1);
  count("http://a.one.test/", 100, &host_);
  EXPECT_FALSE(spent("http://a.two.test/")) << "one.test makes room";
  EXPECT_TRUE(spent("http://a.one.test/"));
}

TEST_F(BudgetsTest, APageThatEndsAfterItsDomainMadeRoomIsNotCountedDown) {
  settings_.max_pages_per_domain = 1;
  start(1);
  budgets_->page_begins(url("http://a.one.test/"));
  EXPECT_FALSE(spent("http://a.two.test/"));
  budgets_->page_ends(url("http://a.one.test/"));
  EXPECT_FALSE(spent("http://a.one.test/"));
}

}  // namespace
}  // namespace orbweaver
