// Hosts that the workbench keeps out of its queue for a while, and hosts that are taken ahead of their time.
#include <gtest/gtest.h>

#include <set>

#include "node/crawl/workbench.h"
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
  void start(std::size_t hosts_max = 100) {
    bench_.emplace(Workbench::Config{hosts_max, 8}, store_, [](std::uint16_t) { return true; });
  }
  void add(std::size_t host, std::size_t page) {
    const auto result = store_.commit(test::commit_of({.merges = {test::queued_merge(host, page, 0)}}));
    ASSERT_TRUE(result);
    for (const storage::NewlyQueued& queued : result->queued)
      if (bench_) bench_->admit(queued.url, host_of(queued.url.url), queued.moved);
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

TEST_F(WorkbenchHold, Issue11_3_AHeldHostStandsWhereItStoodWhenItGoesOn) {
  start();
  for (std::size_t host = 1; host <= 3; ++host) add(host, 0);
  BenchHost* const first = take();
  const std::string name = first->name;
  const storage::HostKey key = first->key;
  EXPECT_TRUE(bench_->hold(*first, now_));
  now_ += seconds{1};
  add(4, 0);
  add(1, 1);
  for (int i = 0; i < 2; ++i) bench_->release(*take(), now_ + seconds{9});
  bench_->go_on(key);
  bench_->go_on(key);
  BenchHost* const again = take();
  ASSERT_NE(again, nullptr);
  EXPECT_EQ(again->name, name) << "before the one that came later";
  EXPECT_EQ(take()->name, host_text(4));
  EXPECT_EQ(take(), nullptr);
}

TEST_F(WorkbenchHold, Issue11_3_AHeldHostThatIsToldOfALaterTimeWaitsForIt) {
  start();
  add(1, 0);
  BenchHost* const host = take();
  EXPECT_TRUE(bench_->hold(*host, now_));
  bench_->delay(host->key, storage::HostClock{now_ + seconds{5}, 0, host->name, {}, 0, 0});
  bench_->go_on(host->key);
  EXPECT_EQ(take(), nullptr);
  now_ += seconds{5};
  EXPECT_NE(take(), nullptr);
}

// Else a domain without end would fill the bench with hosts that wait for it.
TEST_F(WorkbenchHold, Issue11_3_HeldHostsMakeRoomForThoseOnDisk) {
  for (std::size_t host = 1; host <= 12; ++host) add(host, 0);
  start(4);
  std::set<std::string> seen;
  for (int i = 0; i < 40; ++i)
    if (BenchHost* const host = take(); host != nullptr) {
      seen.insert(host->name);
      if (bench_->hold(*host, now_)) bench_->go_on(host->key);
    }
  EXPECT_EQ(seen.size(), 12u);
  EXPECT_LE(bench_->hosts(), 4u);
}

TEST_F(WorkbenchHold, Issue11_9_AHostMayBeTakenAheadOfItsTime) {
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

}  // namespace
}  // namespace orbweaver
