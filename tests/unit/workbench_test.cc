// The workbench, one rule per test. Random histories are in workbench_history_test.cc.
#include "node/frontier/workbench.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "node/url/canonical_url.h"
#include "storage/memory_kv.h"
#include "tests/unit/crawl_keys.h"

namespace orbweaver {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using test::host_key_of;
using test::host_text;
using test::url_text;

class WorkbenchTest : public testing::Test {
 protected:
  WorkbenchTest() : store_(*storage::Store::open(kv_)) {}
  void start(std::size_t max_hosts = 100, std::size_t max_head = 8) {
    bench_.emplace(Workbench::Config{max_hosts, max_head}, store_,
                   [this](std::uint16_t partition) { return !foreign_.contains(partition); });
  }
  void commit(const test::CommitParts& parts) {
    const auto result = store_.commit(test::commit_of(parts));
    ASSERT_TRUE(result);
    for (const storage::NewlyQueued& queued : result->queued)
      if (bench_) bench_->admit(queued.url, CanonicalUrl::host_in(queued.url.url), queued.moved);
  }
  static std::string host_of(const std::string& url) {
    const std::string rest = url.substr(7);
    return rest.substr(0, rest.find('/'));
  }
  void add(std::size_t host, std::size_t page, std::uint16_t depth = 0) {
    commit({.merges = {test::queued_merge(host, page, depth)}});
  }
  BenchHost* take() {
    auto taken = bench_->take(now_);
    EXPECT_TRUE(taken);
    return taken ? *taken : nullptr;
  }
  // Takes a host, fetches its first URL in no time, and commits the outcome; "" when no host may be asked.
  std::string fetch_one(Duration delay = {}) {
    BenchHost* host = take();
    if (host == nullptr) return "";
    const storage::QueuedUrl url = bench_->issue(*host);
    bench_->release(*host, now_ + delay);
    storage::UrlRecord record;
    record.state = storage::UrlState::fetched;
    record.url = url.url;
    bench_->committed(url.key);
    commit({.merges = {{url.key, record}}});
    return url.url;
  }

  static std::vector<std::uint16_t> partitions_of(const std::set<std::uint16_t>& partitions) {
    return {partitions.begin(), partitions.end()};
  }

  storage::MemoryKv kv_;
  storage::Store store_;
  std::optional<Workbench> bench_;
  std::set<std::uint16_t> foreign_;
  std::set<std::uint16_t> all_ = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  Time now_ = test::at_ms(1'000'000);
};

// A reviewer's finding: 100 links of 4,000 bytes on each page of 2,000 hosts took 947 MB, counted as 8.
TEST_F(WorkbenchTest, AHostsHeadIsBoundedInBytes) {
  bench_.emplace(Workbench::Config{.max_hosts = 100, .max_head = 64, .max_head_bytes = 20'000}, store_,
                 [](std::uint16_t) { return true; });
  for (std::size_t page = 0; page < 100; ++page) {
    storage::Merge merge = test::queued_merge(1, page, 0);
    merge.record.url += "?" + std::string(3900, 'b');
    commit({.merges = {merge}});
    EXPECT_LE(bench_->bytes(), 21'100u);
  }
  std::size_t pages = 0;
  while (!fetch_one().empty()) {
    ++pages;
    EXPECT_LE(bench_->bytes(), 21'100u);
  }
  EXPECT_EQ(pages, 100u) << "what does not fit waits on disk";
  EXPECT_LE(bench_->bytes(), Workbench::bare_host_bytes);
  // At least one, however long.
  bench_.emplace(Workbench::Config{.max_hosts = 100, .max_head = 64, .max_head_bytes = 100}, store_,
                 [](std::uint16_t) { return true; });
  for (std::size_t page = 200; page < 210; ++page) add(2, page);
  for (std::size_t page = 0; page < 10; ++page) EXPECT_NE(fetch_one(), "");
}

TEST_F(WorkbenchTest, Contract3_AHostIsAcquiredByOneAtATime) {
  start();
  for (std::size_t page = 0; page < 3; ++page) add(1, page);
  BenchHost* host = take();
  ASSERT_NE(host, nullptr);
  EXPECT_EQ(host->name, host_text(1));
  EXPECT_TRUE(host->busy);
  EXPECT_EQ(take(), nullptr);
  add(1, 9);
  EXPECT_EQ(take(), nullptr) << "a new link does not free it";
  (void)bench_->issue(*host);
  EXPECT_EQ(take(), nullptr) << "nor does the fetch's start";
  bench_->release(*host, now_);
  EXPECT_EQ(take(), host);
}

TEST_F(WorkbenchTest, Contract3_NeverBeforeItsTime) {
  start();
  for (std::size_t page = 0; page < 3; ++page) add(1, page);
  EXPECT_NE(fetch_one(seconds(1)), "");
  EXPECT_EQ(take(), nullptr);
  ASSERT_TRUE(bench_->next_deadline());
  EXPECT_EQ(*bench_->next_deadline(), now_ + seconds(1));
  now_ += milliseconds(999);
  add(1, 7);
  EXPECT_EQ(take(), nullptr);
  now_ += milliseconds(1);
  EXPECT_NE(take(), nullptr);
}

TEST_F(WorkbenchTest, Contract3_ReleaseNeverShortensTheWait) {
  start();
  add(1, 1);
  add(1, 2);
  BenchHost* host = take();
  ASSERT_NE(host, nullptr);
  bench_->release(*host, now_ + seconds(9));
  now_ += seconds(9);
  host = take();
  ASSERT_NE(host, nullptr);
  host->next_allowed = now_ + seconds(5);  // a Retry-After, say
  bench_->release(*host, now_ + seconds(1));
  now_ += seconds(4);
  EXPECT_EQ(take(), nullptr);
}

TEST_F(WorkbenchTest, Contract3_AStoredClockCountsAfterARestart) {
  add(1, 1);
  commit({.clocks = {{host_key_of(1), {now_ + seconds(3), 7, host_text(1)}}}});
  start();
  EXPECT_EQ(take(), nullptr);
  now_ += seconds(3);
  BenchHost* host = take();
  ASSERT_NE(host, nullptr);
  EXPECT_EQ(host->failures, 7u);
}

TEST_F(WorkbenchTest, Contract3_NoHostBeforeTheEarliestAfterARestart) {
  add(1, 1);
  start();
  const Time earliest = now_ + seconds(1);
  bench_->set_earliest([earliest](std::uint16_t, std::string_view) { return earliest; });
  EXPECT_EQ(take(), nullptr);
  now_ += seconds(1);
  EXPECT_NE(take(), nullptr);
}

// A site's settings apply by the host's name, which on disk is only in its URLs.
TEST_F(WorkbenchTest, Contract3_AHostThatIsFoundOnDiskIsKnownByName) {
  add(1, 1);
  start();
  const Time earliest = now_ + seconds(1);
  bench_->set_earliest([&](std::uint16_t, std::string_view host) { return host == host_text(1) ? earliest : Time{}; });
  EXPECT_EQ(take(), nullptr);
  now_ += seconds(1);
  BenchHost* host = take();
  ASSERT_NE(host, nullptr);
  EXPECT_EQ(host->name, host_text(1));
}

// A host that gives way to others while it must wait (its robots.txt was just requested) waits just as long.
TEST_F(WorkbenchTest, Contract3_AHostPutAsideForOthersKeepsItsTime) {
  start(2, 1);
  EXPECT_EQ(take(), nullptr);
  for (std::size_t page = 0; page < 4; ++page) add(1, page);
  EXPECT_NE(fetch_one(), "");  // its share
  BenchHost* host = take();
  ASSERT_NE(host, nullptr);
  for (std::size_t other = 2; other < 5; ++other) add(other, 1);  // more than fit
  bench_->release(*host, now_ + seconds(60));
  std::size_t others = 0;
  for (int i = 0; i < 50; ++i) {
    const std::string url = fetch_one();
    EXPECT_FALSE(url.starts_with("http://" + host_text(1) + "/"));
    if (!url.empty()) ++others;
  }
  EXPECT_EQ(others, 3u);
  now_ += seconds(60);
  EXPECT_TRUE(fetch_one().starts_with("http://" + host_text(1) + "/"));
}

TEST_F(WorkbenchTest, WhatAHostHasUsedComesWithItsClockAndNeverFalls) {
  start();
  add(1, 1);
  bench_->delay(host_key_of(1), {now_, 0, "h", {}, 5, 700});
  bench_->delay(host_key_of(1), {now_, 0, "h", {}, 3, 900});
  BenchHost* host = take();
  ASSERT_NE(host, nullptr);
  EXPECT_EQ(host->pages, 5u);
  EXPECT_EQ(host->bytes, 900u);
}

TEST_F(WorkbenchTest, Contract3_AClockFromAnotherPeerCountsAtOnce) {
  start();
  add(1, 1);
  add(1, 2);
  bench_->delay(host_key_of(1), {now_ + seconds(5), 0, "h"});
  bench_->delay(host_key_of(1), {now_ + seconds(2), 0, "h"});  // an older one changes nothing
  bench_->delay(host_key_of(77), {now_ + seconds(5), 0, "h"});
  EXPECT_EQ(take(), nullptr);
  EXPECT_EQ(*bench_->next_deadline(), now_ + seconds(5));
  now_ += seconds(5);
  BenchHost* host = take();
  ASSERT_NE(host, nullptr);
  bench_->delay(host_key_of(1), {now_ + seconds(9), 0, "h"});  // while it is acquired
  bench_->release(*host, now_ + seconds(1));
  now_ += seconds(8);
  EXPECT_EQ(take(), nullptr);
  now_ += seconds(1);
  EXPECT_NE(take(), nullptr);
}

TEST_F(WorkbenchTest, BreadthFirstWithinAHost) {
  start();
  add(1, 1, 2);
  add(1, 2, 0);
  add(1, 3, 1);
  add(1, 4, 0);
  add(1, 1, 1);  // a shorter way to the first URL
  std::vector<std::string> got;
  for (int i = 0; i < 4; ++i) got.push_back(fetch_one());
  EXPECT_EQ(got, (std::vector{url_text(1, 2), url_text(1, 4), url_text(1, 3), url_text(1, 1)}));
  EXPECT_EQ(fetch_one(), "");
}

TEST_F(WorkbenchTest, MoreUrlsThanFitAllComeInOrder) {
  start(100, 4);
  std::vector<std::string> wanted;
  for (std::size_t page = 0; page < 100; ++page) add(1, page, static_cast<std::uint16_t>(page % 5));
  for (std::size_t depth = 0; depth < 5; ++depth)
    for (std::size_t page = depth; page < 100; page += 5) wanted.push_back(url_text(1, page));
  std::vector<std::string> got;
  while (got.size() < 200) {
    const std::string url = fetch_one();
    if (url.empty()) break;
    got.push_back(url);
    ASSERT_LE(bench_->find(host_key_of(1))->head.size(), 8u) << "2*max_head";
  }
  EXPECT_EQ(got, wanted);
}

TEST_F(WorkbenchTest, UrlsBeforeAndAfterWhatIsLoadedFindTheirPlace) {
  for (std::size_t page = 0; page < 20; ++page) add(1, page, 5);
  start(100, 4);
  EXPECT_EQ(fetch_one(), url_text(1, 0));  // 0 to 3 are loaded
  add(1, 100, 1);                          // before
  add(1, 101, 9);                          // after, on disk only
  add(1, 102, 5);                          // after 19
  add(1, 19, 2);                           // from the disk to the front
  std::vector<std::string> wanted = {url_text(1, 100), url_text(1, 19)};
  for (std::size_t page = 1; page < 19; ++page) wanted.push_back(url_text(1, page));
  wanted.push_back(url_text(1, 102));
  wanted.push_back(url_text(1, 101));
  std::vector<std::string> got;
  for (std::string url = fetch_one(); !url.empty(); url = fetch_one()) got.push_back(url);
  EXPECT_EQ(got, wanted);
}

TEST_F(WorkbenchTest, EqualHostsAreServedEquallyOften) {
  start();
  for (std::size_t host = 0; host < 7; ++host)
    for (std::size_t page = 0; page < 30; ++page) add(host, page);
  std::map<std::string, int> served;
  for (int turn = 1; turn <= 7 * 30; ++turn) {
    now_ += milliseconds(1);
    const std::string url = fetch_one();
    ASSERT_NE(url, "");
    ++served[host_of(url)];
    for (const auto& [host, times] : served) {
      ASSERT_GE(times, turn / 7) << host << " at turn " << turn;
      ASSERT_LE(times, (turn + 6) / 7) << host << " at turn " << turn;
    }
  }
}

// The same when the clock does not advance: many turns fit into one reading of it.
TEST_F(WorkbenchTest, EqualHostsAreServedEquallyOftenAtOneInstant) {
  start();
  for (std::size_t host = 0; host < 7; ++host)
    for (std::size_t page = 0; page < 30; ++page) add(host, page);
  std::map<std::string, int> served;
  for (int turn = 1; turn <= 7 * 30; ++turn) {
    const std::string url = fetch_one();
    ASSERT_NE(url, "");
    ++served[host_of(url)];
    if (turn % 7 == 0) {
      for (const auto& [host, times] : served) ASSERT_EQ(times, turn / 7) << host << " at turn " << turn;
    }
  }
}

TEST_F(WorkbenchTest, AStreamOfNewHostsDoesNotStarveAnOldOne) {
  start(1'000);
  for (std::size_t page = 0; page < 50; ++page) add(0, page);
  int old_one = 0;
  for (std::size_t turn = 1; turn <= 60; ++turn) {
    now_ += milliseconds(1);
    add(turn, 1);
    const std::string url = fetch_one();
    ASSERT_NE(url, "");
    if (host_of(url) == host_text(0)) ++old_one;
  }
  EXPECT_GE(old_one, 5) << "the one that has waited longest goes first";
}

TEST_F(WorkbenchTest, MoreHostsThanFitAllGetServed) {
  for (const std::size_t max_hosts : {1u, 2u, 5u}) {
    bench_.reset();
    start(max_hosts, 2);
    std::set<std::string> wanted, got;
    for (std::size_t host = 0; host < 40; ++host)
      for (std::size_t page = 0; page < 1 + host % 7; ++page) {
        add(host, 1'000 * max_hosts + page);
        wanted.insert(url_text(host, 1'000 * max_hosts + page));
      }
    for (int i = 0; i < 10'000 && got.size() < wanted.size(); ++i) {
      ASSERT_LE(bench_->hosts(), max_hosts);
      const std::string url = fetch_one();
      if (!url.empty()) {
        ASSERT_TRUE(got.insert(url).second) << url << " twice";
      }
    }
    EXPECT_EQ(got, wanted) << "max_hosts " << max_hosts;
    EXPECT_EQ(fetch_one(), "");
  }
}

// A host with an endless queue gives way to those on disk.
TEST_F(WorkbenchTest, AHostThatHasServedItsShareMakesRoom) {
  start(1, 4);
  for (std::size_t page = 0; page < 100; ++page) add(1, page);
  add(2, 1);
  add(3, 1);
  std::map<std::string, int> first_at;
  for (int turn = 0; turn < 102; ++turn) {
    std::string url;
    for (int tries = 0; tries < 10 && url.empty(); ++tries) url = fetch_one();
    ASSERT_NE(url, "");
    first_at.emplace(host_of(url), turn);
  }
  EXPECT_LE(first_at.at(host_text(2)), 20);
  EXPECT_LE(first_at.at(host_text(3)), 20);
}

TEST_F(WorkbenchTest, ARetryIsNotIssuedBeforeItIsDue) {
  start();
  add(1, 1);
  BenchHost* host = take();
  ASSERT_NE(host, nullptr);
  const storage::QueuedUrl url = bench_->issue(*host);
  EXPECT_TRUE(bench_->is_issued(url.key.url));
  EXPECT_EQ(bench_->issued(), 1u);
  EXPECT_TRUE(bench_->partition_busy(url.key.host.partition));
  bench_->release(*host, now_);
  EXPECT_TRUE(bench_->partition_busy(url.key.host.partition)) << "its outcome is still to be committed";
  storage::Merge again = test::queued_merge(1, 1);
  again.record.attempts = 1;
  again.record.not_before = now_ + seconds(5);
  bench_->committed(url.key);
  commit({.merges = {again}});
  EXPECT_FALSE(bench_->partition_busy(url.key.host.partition));
  EXPECT_EQ(bench_->issued(), 0u);
  EXPECT_EQ(take(), nullptr);
  ASSERT_TRUE(bench_->next_deadline());
  EXPECT_EQ(*bench_->next_deadline(), now_ + seconds(5));
  add(1, 2);  // an untried URL need not wait for it
  EXPECT_EQ(fetch_one(), url_text(1, 2));
  now_ += seconds(5);
  EXPECT_EQ(fetch_one(), url_text(1, 1));
}

TEST_F(WorkbenchTest, AnotherPeersHostsLeaveAndComeBack) {
  start();
  for (std::size_t host = 0; host < 10; ++host)
    for (std::size_t page = 0; page < 3; ++page) add(host, page);
  BenchHost* busy = take();
  ASSERT_NE(busy, nullptr);
  const storage::QueuedUrl under_way = bench_->issue(*busy);
  foreign_ = all_;
  bench_->fetchability_changed(partitions_of(all_));
  EXPECT_EQ(fetch_one(), "");
  EXPECT_EQ(bench_->hosts(), 1u) << "only the one with a fetch under way is kept";
  bench_->release(*busy, now_);
  EXPECT_TRUE(bench_->partition_busy(under_way.key.host.partition));
  storage::UrlRecord record;
  record.state = storage::UrlState::fetched;
  record.url = under_way.url;
  bench_->committed(under_way.key);
  commit({.merges = {{under_way.key, record}}});
  EXPECT_EQ(bench_->hosts(), 0u);
  EXPECT_FALSE(bench_->partition_busy(under_way.key.host.partition));
  add(3, 50);  // a late batch
  EXPECT_EQ(fetch_one(), "");
  foreign_.clear();
  bench_->fetchability_changed(partitions_of(all_));
  std::set<std::string> got;
  for (std::string url = fetch_one(); !url.empty(); url = fetch_one()) EXPECT_TRUE(got.insert(url).second);
  EXPECT_EQ(got.size(), 30u);
}

// A hand-off freezes a partition without a report to the workbench; the end of the freeze is reported.
TEST_F(WorkbenchTest, ThePredicateIsAskedAtEveryTurn) {
  start();
  add(1, 1);
  add(1, 2);
  add(2, 1);
  ASSERT_NE(host_key_of(1).partition, host_key_of(2).partition);
  foreign_ = {host_key_of(1).partition};
  EXPECT_EQ(fetch_one(), url_text(2, 1));
  EXPECT_EQ(fetch_one(), "");
  EXPECT_EQ(bench_->find(host_key_of(1)), nullptr) << "put away";
  foreign_.clear();
  bench_->fetchability_changed({host_key_of(1).partition});
  EXPECT_EQ(fetch_one(), url_text(1, 1));
  EXPECT_EQ(fetch_one(), url_text(1, 2));
}

TEST_F(WorkbenchTest, Contract3_AHostThatComesBackWaitsForItsStoredClockAndForTheEarliestOfItsPartition) {
  start();
  std::map<std::uint16_t, Time> earliest;
  bench_->set_earliest([&](std::uint16_t partition, std::string_view) { return earliest[partition]; });
  for (std::size_t page = 0; page < 3; ++page) add(1, page);
  BenchHost* host = take();
  ASSERT_NE(host, nullptr);
  const storage::QueuedUrl url = bench_->issue(*host);
  // The partition goes and comes back while the fetch is in progress: the host is the same one.
  foreign_ = {host->key.partition};
  bench_->fetchability_changed(partitions_of(foreign_));
  commit({.clocks = {{host->key, {now_ + seconds(4), 0, host_text(1)}}}});  // as the other peer left it
  earliest[host->key.partition] = now_ + seconds(6);
  foreign_.clear();
  bench_->fetchability_changed({host->key.partition});
  bench_->release(*host, now_ + seconds(1));
  bench_->committed(url.key);
  now_ += seconds(6) - milliseconds(1);
  EXPECT_EQ(take(), nullptr);
  now_ += milliseconds(1);
  EXPECT_EQ(take(), host);
  bench_->release(*host, now_);
  commit({.clocks = {{host->key, {now_ + seconds(9), 0, host_text(1)}}}});
  bench_->fetchability_changed({host->key.partition});
  now_ += seconds(8);
  EXPECT_EQ(take(), nullptr) << "what the store has learnt counts for a host that stayed";
  now_ += seconds(1);
  EXPECT_EQ(take(), host);
}

TEST_F(WorkbenchTest, WhatAnotherPeerHasFetchedIsWithdrawn) {
  start(4, 2);
  for (std::size_t page = 0; page < 6; ++page) add(1, page);
  add(2, 1);
  const auto fetched_elsewhere = [&](std::size_t host, std::size_t page) {
    storage::Merge merge = test::queued_merge(host, page);
    merge.record.state = storage::UrlState::fetched;
    const auto result = store_.commit(test::commit_of({.merges = {merge}}));
    ASSERT_TRUE(result);
    ASSERT_EQ(result->unqueued, std::vector{merge.key});
    bench_->withdraw(result->unqueued.front());
  };
  fetched_elsewhere(1, 0);
  fetched_elsewhere(1, 5);  // maybe on disk only
  fetched_elsewhere(2, 1);  // the last URL of its host
  EXPECT_EQ(bench_->hosts(), 2u) << "an idle host stays while there is room";
  std::vector<std::string> got;
  for (std::string url = fetch_one(); !url.empty(); url = fetch_one()) got.push_back(url);
  EXPECT_EQ(got, (std::vector{url_text(1, 1), url_text(1, 2), url_text(1, 3), url_text(1, 4)}));
  bench_->withdraw(test::url_key_of(77, 1));  // a URL of a host that is not here
  EXPECT_FALSE(bench_->next_deadline()) << "nothing is left to wait for";
}

TEST_F(WorkbenchTest, WhatIsWithdrawnFromABusyHostLeavesItBusy) {
  start();
  add(1, 1);
  add(1, 2);
  BenchHost* host = take();
  ASSERT_NE(host, nullptr);
  const storage::QueuedUrl url = bench_->issue(*host);
  bench_->withdraw(test::url_key_of(1, 2));
  EXPECT_TRUE(host->busy);
  EXPECT_TRUE(host->head.empty());
  EXPECT_TRUE(bench_->partition_busy(url.key.host.partition));
  EXPECT_EQ(take(), nullptr);
  bench_->release(*host, now_);
  EXPECT_EQ(take(), nullptr);
}

TEST_F(WorkbenchTest, WithNothingToDoItSleeps) {
  start();
  for (int i = 0; i < 3; ++i) EXPECT_EQ(take(), nullptr);
  EXPECT_FALSE(bench_->next_deadline());
  add(1, 1);
  ASSERT_TRUE(bench_->next_deadline());
  EXPECT_LE(*bench_->next_deadline(), now_);
  EXPECT_NE(fetch_one(), "");
  EXPECT_EQ(fetch_one(), "");
  EXPECT_FALSE(bench_->next_deadline());
}

// --- orders

class WorkbenchOrder : public WorkbenchTest {
 protected:
  void begin(storage::QueueOrder order, std::size_t max_head = 8) {
    store_.set_order(order);
    bench_.emplace(Workbench::Config{100, max_head, order == storage::QueueOrder::best}, store_,
                   [](std::uint16_t) { return true; });
  }
  void add_scored(std::size_t host, std::size_t page, std::uint16_t score) {
    storage::Merge merge = test::queued_merge(host, page);
    merge.record.score = score;
    commit({.merges = {merge}});
  }
};

TEST_F(WorkbenchOrder, Orders_DepthFirstTakesTheDeepestThenTheLatest) {
  for (const std::size_t max_head : {1u, 8u}) {
    begin(storage::QueueOrder::depth, max_head);
    add(1, 10 * max_head, 0);
    add(1, 10 * max_head + 1, 2);
    add(1, 10 * max_head + 2, 2);
    add(1, 10 * max_head + 3, 1);
    for (const std::size_t page : {2u, 1u, 3u, 0u})
      EXPECT_EQ(fetch_one(), test::url_text(1, 10 * max_head + page)) << max_head;
  }
}

TEST_F(WorkbenchOrder, Orders_BestFirstTakesTheHighestScoreOfAllHosts) {
  begin(storage::QueueOrder::best, 2);
  for (std::size_t page = 0; page < 6; ++page) add_scored(1, page, static_cast<std::uint16_t>(10 * page));
  add_scored(2, 0, 35);
  add_scored(2, 1, 5);
  std::vector<std::string> order;
  for (int i = 0; i < 3; ++i) order.push_back(fetch_one());
  EXPECT_EQ(order, (std::vector<std::string>{test::url_text(1, 5), test::url_text(1, 4), test::url_text(2, 0)}));
}

TEST_F(WorkbenchOrder, Orders_AScoreThatRisesMovesTheUrlForward) {
  begin(storage::QueueOrder::best);
  add_scored(1, 1, 10);
  add_scored(1, 2, 20);
  add_scored(2, 1, 30);
  add_scored(1, 1, 40);
  EXPECT_EQ(fetch_one(), test::url_text(1, 1));
  add_scored(1, 2, 7);
  EXPECT_EQ(fetch_one(), test::url_text(2, 1)) << "a lower score changes nothing";
  EXPECT_EQ(fetch_one(), test::url_text(1, 2));
  EXPECT_EQ(fetch_one(), "");
}

// A host with only low scores, next to ninety that never run out of better ones.
TEST_F(WorkbenchOrder, Orders_NoHostStarves) {
  begin(storage::QueueOrder::best);
  constexpr std::size_t hosts = 30;
  add_scored(0, 0, 0);
  for (std::size_t host = 1; host < hosts; ++host)
    for (std::size_t page = 0; page < 40; ++page) add_scored(host, page, 1000);
  std::size_t turns = 1;
  while (fetch_one() != test::url_text(0, 0)) ASSERT_LE(++turns, 4 * hosts);
}

TEST_F(WorkbenchOrder, Contract3_BestFirstWaitsForAHostsTurnTooAndSleepsUntilThen) {
  begin(storage::QueueOrder::best);
  add_scored(1, 1, 10);
  add_scored(1, 2, 200);
  add_scored(2, 1, 1);
  EXPECT_EQ(fetch_one(seconds(2)), test::url_text(1, 2));
  EXPECT_EQ(fetch_one(seconds(5)), test::url_text(2, 1)) << "the better host's turn has not come";
  EXPECT_EQ(take(), nullptr);
  ASSERT_TRUE(bench_->next_deadline());
  EXPECT_EQ(*bench_->next_deadline(), now_ + seconds(2));
  now_ += seconds(2);
  EXPECT_EQ(fetch_one(), test::url_text(1, 1));
}

}  // namespace
}  // namespace orbweaver
