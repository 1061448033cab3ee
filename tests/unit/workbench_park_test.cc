// Hosts that the workbench keeps out of its queue for a while, and hosts that are taken ahead of their time.
#include <gtest/gtest.h>

#include <set>

#include "node/frontier/workbench.h"
#include "node/url/canonical_url.h"
#include "storage/memory_kv.h"
#include "tests/unit/crawl_keys.h"

namespace orbweaver {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using test::host_text;

class WorkbenchHold : public testing::Test {
 protected:
  WorkbenchHold() : store_(*storage::Store::open(kv_)) {}
  void start(std::size_t max_hosts = 100) {
    bench_.emplace(Workbench::Config{max_hosts, 8}, store_, [](std::uint16_t) { return true; });
  }
  void add(std::size_t host, std::size_t page) {
    const auto result = store_.commit(test::commit_of({.merges = {test::queued_merge(host, page, 0)}}));
    ASSERT_TRUE(result);
    for (const storage::NewlyQueued& queued : result->queued)
      if (bench_) bench_->admit(queued.url, CanonicalUrl::host_in(queued.url.url), queued.moved);
  }
  BenchHost* take() {
    auto taken = bench_->take(now_);
    EXPECT_TRUE(taken);
    return taken ? *taken : nullptr;
  }

  storage::MemoryKv kv_;
  storage::Store store_;
  std::optional<Workbench> bench_;
  Time now_ = test::at_ms(1'000'000);
};

TEST_F(WorkbenchHold, AHeldHostStandsWhereItStoodWhenItGoesOn) {
  start();
  for (std::size_t host = 1; host <= 3; ++host) add(host, 0);
  BenchHost* const first = take();
  const std::string name = first->name;
  const storage::HostKey key = first->key;
  EXPECT_TRUE(bench_->park(*first));
  now_ += seconds{1};
  add(4, 0);
  add(1, 1);
  for (int i = 0; i < 2; ++i) bench_->release(*take(), now_ + seconds{9});
  bench_->unpark(key);
  bench_->unpark(key);
  BenchHost* const again = take();
  ASSERT_NE(again, nullptr);
  EXPECT_EQ(again->name, name) << "before the one that came later";
  EXPECT_EQ(take()->name, host_text(4));
  EXPECT_EQ(take(), nullptr);
}

TEST_F(WorkbenchHold, AHeldHostThatIsToldOfALaterTimeWaitsForIt) {
  start();
  add(1, 0);
  BenchHost* const host = take();
  EXPECT_TRUE(bench_->park(*host));
  bench_->delay(host->key, storage::HostClock{now_ + seconds{5}, 0, host->name, {}, 0, 0});
  bench_->unpark(host->key);
  EXPECT_EQ(take(), nullptr);
  now_ += seconds{5};
  EXPECT_NE(take(), nullptr);
}

// Otherwise an endless domain would fill the bench with hosts that wait for it.
TEST_F(WorkbenchHold, HeldHostsMakeRoomForThoseOnDisk) {
  for (std::size_t host = 1; host <= 12; ++host) add(host, 0);
  start(4);
  std::set<std::string> seen;
  for (int i = 0; i < 40; ++i)
    if (BenchHost* const host = take(); host != nullptr) {
      seen.insert(host->name);
      bench_->park(*host);  // forever
    }
  EXPECT_EQ(seen.size(), 12u);
  EXPECT_LE(bench_->hosts(), 4u);
}

// A host that may be asked is not queued behind thousands that may not.
TEST_F(WorkbenchHold, WhoIsNotHeldStaysWhileOthersAre) {
  for (std::size_t host = 1; host <= 12; ++host) add(host, 0);
  for (std::size_t page = 0; page < 60; ++page) add(7, page);
  start(4);
  std::size_t pages = 0;
  for (int i = 0; i < 60'000 && pages < 60; ++i) {
    BenchHost* const host = take();
    if (host == nullptr) {
      now_ += seconds{1};
    } else if (host->name != host_text(7)) {
      bench_->park(*host);
    } else {
      const storage::QueuedUrl url = bench_->issue(*host);
      bench_->release(*host, now_ + seconds{1});
      storage::UrlRecord record;
      record.state = storage::UrlState::fetched;
      record.url = url.url;
      bench_->committed(url.key);
      ASSERT_TRUE(store_.commit(test::commit_of({.merges = {{url.key, record}}})));
      ++pages;
      if (pages < 60) {
        EXPECT_EQ(bench_->find(url.key.host), host);
      }
    }
  }
  EXPECT_EQ(pages, 60u);
}

// The bound per second while hosts are parked: hosts on disk may have to park too, and each that comes in costs reads.
TEST_F(WorkbenchHold, DiscoveriesAreBounded) {
  for (std::size_t host = 1; host <= 2000; ++host) add(host, 0);
  start(4);
  std::size_t parked = 0;
  while (BenchHost* const host = take()) {
    bench_->park(*host);
    ++parked;
  }
  EXPECT_GE(parked, 500u);
  EXPECT_LE(parked, 520u);
  ASSERT_TRUE(bench_->next_deadline());
  EXPECT_GT(*bench_->next_deadline(), now_);
  now_ = *bench_->next_deadline();
  EXPECT_NE(take(), nullptr);
}

TEST_F(WorkbenchHold, AHostMayBeTakenAheadOfItsTime) {
  start();
  for (std::size_t page = 0; page < 3; ++page) add(1, page);
  BenchHost* const host = take();
  host->ahead = milliseconds{30};
  bench_->release(*host, now_ + milliseconds{100});
  now_ += milliseconds{69};
  EXPECT_EQ(take(), nullptr);
  now_ += milliseconds{1};
  ASSERT_EQ(take(), host);
  EXPECT_GT(host->next_allowed, now_);
}

TEST_F(WorkbenchHold, AHostThatResumesGoesBeforeThoseWhoseTurnHasCome) {
  start();
  for (std::size_t host = 1; host <= 3; ++host) add(host, 1);
  BenchHost* const waits = take();
  bench_->resume(*waits, now_);
  EXPECT_TRUE(waits->busy) << "nobody else may acquire it";
  EXPECT_EQ(take(), waits);
  EXPECT_TRUE(waits->busy);
  EXPECT_NE(take(), waits);
}

TEST_F(WorkbenchHold, AHostResumesAtItsTimeAndNotBefore) {
  start();
  add(1, 1);
  BenchHost* const waits = take();
  bench_->resume(*waits, now_ + milliseconds{30});
  EXPECT_EQ(bench_->next_deadline(), now_ + milliseconds{30});
  EXPECT_EQ(take(), nullptr);
  now_ += milliseconds{30};
  EXPECT_EQ(take(), waits);
}

TEST_F(WorkbenchHold, AHostDoesNotResumeBeforeItMayBeAsked) {
  start();
  add(1, 1);
  BenchHost* const waits = take();
  waits->next_allowed = now_ + seconds{1};
  bench_->resume(*waits, now_);
  EXPECT_EQ(take(), nullptr);
  now_ += seconds{1};
  EXPECT_EQ(take(), waits);
}

TEST_F(WorkbenchHold, WhereNothingMayBeAskedAHostThatResumesIsReleased) {
  start();
  add(1, 1);
  BenchHost* const waits = take();
  bench_->resume(*waits, now_ + seconds{1});
  bench_->release_resumed();
  EXPECT_FALSE(waits->busy);
  EXPECT_FALSE(bench_->partition_busy(waits->key.partition));
  now_ += seconds{1};
  EXPECT_EQ(take(), waits) << "once, by its turn";
  EXPECT_EQ(take(), nullptr);
}

TEST_F(WorkbenchHold, APartitionThatGoesDoesNotWaitForAHostThatResumes) {
  bool fetched = true;
  bench_.emplace(Workbench::Config{100, 8}, store_, [&](std::uint16_t) { return fetched; });
  add(1, 1);
  BenchHost* const waits = take();
  const storage::HostKey key = waits->key;
  bench_->resume(*waits, now_ + seconds{1});
  fetched = false;
  bench_->fetchability_changed({key.partition});
  EXPECT_FALSE(bench_->partition_busy(key.partition));
  now_ += seconds{1};
  EXPECT_EQ(take(), nullptr);
  fetched = true;
  bench_->fetchability_changed({key.partition});
  BenchHost* const again = take();
  ASSERT_NE(again, nullptr) << "it is read again from disk when the partition comes back";
  EXPECT_EQ(again->key, key);
}

TEST_F(WorkbenchHold, AHostWithoutUrlsDoesNotResume) {
  start();
  add(1, 1);
  BenchHost* const waits = take();
  const storage::UrlKey page = waits->head.front().key;
  bench_->resume(*waits, now_);
  bench_->withdraw(page);
  EXPECT_EQ(take(), nullptr);
  EXPECT_FALSE(bench_->partition_busy(page.host.partition));
}

TEST_F(WorkbenchHold, APartitionThatIsFrozenDoesNotWaitForAHostThatResumes) {
  bool fetched = true;
  bench_.emplace(Workbench::Config{100, 8}, store_, [&](std::uint16_t) { return fetched; });
  add(1, 1);
  BenchHost* const waits = take();
  EXPECT_TRUE(bench_->partition_busy(waits->key.partition));
  bench_->resume(*waits, now_ + seconds{2});
  fetched = false;  // without a report
  EXPECT_FALSE(bench_->partition_busy(waits->key.partition));
  now_ += seconds{2};
  EXPECT_EQ(take(), nullptr) << "it is put away instead";
}

TEST_F(WorkbenchHold, AHostWhosePartitionWentMeanwhileIsReleased) {
  bool fetched = true;
  bench_.emplace(Workbench::Config{100, 8}, store_, [&](std::uint16_t) { return fetched; });
  add(1, 1);
  BenchHost* const waits = take();
  const std::uint16_t partition = waits->key.partition;
  fetched = false;
  bench_->fetchability_changed({partition});
  bench_->resume(*waits, now_ + seconds{2});
  EXPECT_FALSE(bench_->partition_busy(partition));
  EXPECT_EQ(bench_->hosts(), 0u);
}

TEST_F(WorkbenchHold, AHostThatResumesIsToldOfALaterTimeLikeAnyOther) {
  start();
  add(1, 1);
  BenchHost* const waits = take();
  bench_->resume(*waits, now_ + seconds{1});
  storage::HostClock clock;
  clock.next_allowed = now_ + std::chrono::hours{1};
  bench_->delay(waits->key, clock);
  EXPECT_FALSE(waits->busy) << "its slot is over by then";
  now_ += seconds{1};
  EXPECT_EQ(take(), nullptr);
  now_ += std::chrono::hours{1};
  EXPECT_EQ(take(), waits);
}

}  // namespace
}  // namespace orbweaver
