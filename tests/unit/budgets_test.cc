// Budgets of hosts and domains: what counts, when no further page is requested, what survives a restart.
#include "node/frontier/budgets.h"

#include <gtest/gtest.h>

#include "node/config/settings_table.h"
#include "storage/memory_kv.h"
#include "tests/unit/peer_rig.h"

namespace orbweaver {
namespace {

class BudgetsTest : public testing::Test {
 protected:
  BudgetsTest() : settings_(default_settings()), store_(*storage::Store::open(kv_)) {
    settings_.partition_by = PartitionBy::domain;
    start();
  }
  void start() {
    state_.emplace(settings_, plan_memory({}, std::uint64_t{2} << 30), store_, rig_id(1), rig_id(200));
    budgets_.emplace(*state_);
  }
  static CanonicalUrl url(const std::string& text) { return *CanonicalUrl::parse(text); }
  bool count(const std::string& text, std::uint64_t bytes, BenchHost* host) {
    storage::Commit commit;
    const bool changed = budgets_->count(url(text), bytes, host, commit);
    EXPECT_TRUE(store_.commit(commit));
    rows_ += commit.uses.size();
    return changed;
  }
  bool spent(const std::string& text) { return budgets_->spent(host_, url(text)); }

  Settings settings_;
  storage::MemoryKv kv_;
  storage::Store store_;
  std::optional<PeerState> state_;
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
  start();
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
  start();
  count("http://a.test/1", 99, &host_);
  EXPECT_FALSE(spent("http://a.test/2"));
  count("http://a.test/2", 1, &host_);
  EXPECT_TRUE(spent("http://a.test/3"));
}

TEST_F(BudgetsTest, AHostThatLeftTheWorkbenchIsNotCounted) {
  settings_.max_pages_per_host = 1;
  start();
  EXPECT_FALSE(count("http://a.test/1", 10, nullptr));
}

TEST_F(BudgetsTest, HostsOfADomainShareItsBudget) {
  settings_.max_pages_per_domain = 2;
  start();
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

TEST_F(BudgetsTest, ADomainsUseSurvivesARestart) {
  settings_.max_pages_per_domain = 2;
  settings_.max_bytes_per_domain = 1000;
  start();
  count("http://a.one.test/", 600, &host_);
  start();
  EXPECT_FALSE(spent("http://a.one.test/"));
  count("http://b.one.test/", 100, &host_);
  start();
  EXPECT_TRUE(spent("http://a.one.test/"));
  EXPECT_FALSE(spent("http://a.two.test/"));
}

// The row is where the domain's hosts are, so that it goes with them.
TEST_F(BudgetsTest, ADomainsUseIsInThePartitionOfItsHosts) {
  settings_.max_pages_per_domain = 2;
  start();
  count("http://www.one.test/", 600, &host_);
  const ring::Partition partition = state_->partitioner.partition(url("http://b.one.test/"));
  const auto rows = store_.hosts_of(partition, {}, 10);
  ASSERT_TRUE(rows && rows->size() == 1);
  EXPECT_EQ(rows->front().use, (storage::SiteUse{"one.test", 1, 600}));
  ASSERT_TRUE(store_.drop(partition, 100));
  EXPECT_TRUE(store_.hosts_of(partition, {}, 10)->empty());
}

TEST(SiteUse, JoinsByItsLargerNumbers) {
  const storage::SiteUse a{"a.test", 3, 10}, b{"a.test", 2, 20};
  EXPECT_EQ(storage::merge(a, b), storage::merge(b, a));
  EXPECT_EQ(storage::merge(a, b), (storage::SiteUse{"a.test", 3, 20}));
  std::string bytes;
  storage::encode_use(a, bytes);
  EXPECT_EQ(*storage::decode_use(bytes), a);
  for (std::size_t cut = 0; cut < 18; ++cut) EXPECT_FALSE(storage::decode_use(bytes.substr(0, cut))) << cut;
}

}  // namespace
}  // namespace orbweaver
