// The workbench when more hosts take turns than there is memory for sets of their URLs: which sets are read, and no
// host waits for one. Pitfall 2 of the large crawl.
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "node/frontier/workbench.h"
#include "ring/md5.h"
#include "storage/memory_kv.h"
#include "tests/unit/counting_kv.h"
#include "tests/unit/crawl_keys.h"

namespace orbweaver {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class WorkbenchSets : public testing::Test {
 protected:
  static constexpr std::size_t hosts = 24;
  static constexpr std::size_t known = 300;   // URLs of each host
  static constexpr std::size_t queued = 160;  // the queued ones among them
  static constexpr std::uint64_t set_bytes = 7'000;

  WorkbenchSets() {
    for (std::size_t host = 0; host < hosts; ++host) add_host(host, known, queued);
  }
  // A host with so many URLs, the first of them queued.
  void add_host(std::size_t host, std::size_t pages, std::size_t queued_pages) {
    storage::Store filler = *storage::Store::open(memory_);
    test::CommitParts parts;
    for (std::size_t page = 0; page < pages; ++page) {
      parts.merges.push_back(test::queued_merge(host, page, 1));
      if (page >= queued_pages) parts.merges.back().record.state = storage::UrlState::fetched;
    }
    EXPECT_TRUE(filler.commit(test::commit_of(parts)));
  }
  void start(std::uint64_t bytes, Duration delay, std::size_t max_hosts = 1000) {
    store_.emplace(*storage::Store::open(counting_));
    store_->use_sets({bytes, 1});
    bench_.emplace(Workbench::Config{max_hosts, 64}, *store_, [](std::uint16_t) { return true; });
    delay_ = delay;
  }
  // One page, with links to all known URLs of its host. False: no host may be asked.
  bool fetch_one() {
    auto taken = bench_->take(now_);
    EXPECT_TRUE(taken);
    if (!taken || *taken == nullptr) return false;
    BenchHost& host = **taken;
    const storage::QueuedUrl url = bench_->issue(host);
    EXPECT_TRUE(issued_.insert(url.url).second) << url.url;
    bench_->release(host, now_ + delay_);
    test::CommitParts parts;
    const std::string name = url.url.substr(0, url.url.rfind('/') + 1);
    for (std::size_t page = 0; page < known; page += 5) {
      storage::UrlRecord link;
      link.depth = 2;
      link.url = name + std::to_string(page);
      parts.merges.push_back({{host.key, ring::md5(link.url)}, link, true});
    }
    storage::UrlRecord record;
    record.state = storage::UrlState::fetched;
    record.url = url.url;
    parts.merges.push_back({url.key, record});
    bench_->committed(url.key);
    EXPECT_TRUE(store_->commit(test::commit_of(parts)));
    EXPECT_LE(store_->sets()->bytes(), store_->sets()->config().bytes);
    ++pages_;
    return true;
  }

  storage::MemoryKv memory_;
  test::CountingKv counting_{memory_};
  std::optional<storage::Store> store_;
  std::optional<Workbench> bench_;
  std::set<std::string> issued_;
  Time now_{seconds{100}};
  Duration delay_{};
  std::size_t pages_ = 0;
};

TEST_F(WorkbenchSets, NoSetIsReadForLessThanAShareOfPages) {
  start(6 * set_bytes, Duration{});
  while (fetch_one()) {
  }
  EXPECT_EQ(pages_, hosts * queued) << "every host is served in the end";
  // A host leaves and comes back at most once in 64 pages.
  EXPECT_LE(store_->seen().set_rows, (pages_ / 64 + hosts) * known);
  EXPECT_LT(static_cast<double>(counting_.rows_of_urls()) / static_cast<double>(pages_), 8.0) << "rows a page";
  // Hosts that came in before any set showed their size do without one until others are done.
  EXPECT_LT(static_cast<double>(counting_.of_urls()) / static_cast<double>(pages_), 50.0) << "of 61 merges a page";
}

// Each stay costs a walk over all that is known of it.
TEST_F(WorkbenchSets, AHostWithManyUrlsStaysForMorePages) {
  constexpr std::size_t large = 10'000, large_queued = 1'000;
  for (const std::size_t host : {hosts, hosts + 1}) add_host(host, large, large_queued);
  start(100 * set_bytes, Duration{}, 2);
  constexpr std::size_t all = hosts * queued + 2 * large_queued;
  for (std::size_t tries = 0; pages_ < all && tries < 2 * all; ++tries) static_cast<void>(fetch_one());
  EXPECT_EQ(pages_, all);
  const std::size_t of_others = (hosts * queued / 64 + hosts) * known;
  EXPECT_LE(store_->seen().set_rows, 2 * (large_queued / (large / 40) + 2) * large + of_others);
}

// A set that finds no room covers less of its host. It is not begun anew, only to find no room again.
TEST_F(WorkbenchSets, ASetTooLargeForTheRoomIsReadOnce) {
  constexpr std::size_t large = 10'000, large_queued = 1'000;
  add_host(hosts, large, large_queued);
  start(36 * set_bytes, Duration{});
  while (fetch_one()) {
  }
  EXPECT_EQ(pages_, hosts * queued + large_queued);
  EXPECT_LE(store_->seen().set_rows, 2 * large + (hosts * queued / 64 + hosts) * known);
}

TEST_F(WorkbenchSets, WithRoomForAllEachSetIsReadOnce) {
  start(100 * set_bytes, milliseconds{500});
  for (int turn = 0; turn < 1000; ++turn, now_ += milliseconds{100})
    while (fetch_one()) {
    }
  EXPECT_EQ(pages_, hosts * queued);
  EXPECT_EQ(store_->seen().set_rows, hosts * known);
  EXPECT_EQ(counting_.of_urls(), pages_) << "the outcomes alone";
}

// A peer with spare time serves hosts without a set rather than wait for those that have one.
TEST_F(WorkbenchSets, RoomForSetsHoldsNobodyUp) {
  start(6 * set_bytes, seconds{1});
  for (int turn = 0; turn < 10; ++turn) {
    std::size_t served = 0;
    while (fetch_one()) ++served;
    EXPECT_EQ(served, hosts) << "in second " << turn;
    now_ += seconds{1};
  }
}

// Hosts without work give their room to hosts with work.
TEST_F(WorkbenchSets, HostsThatAreDoneMakeRoomForSets) {
  start(6 * set_bytes, milliseconds{100});
  for (int turn = 0; turn < 400; ++turn, now_ += milliseconds{100})
    while (fetch_one()) {
    }
  EXPECT_EQ(pages_, hosts * queued);
  EXPECT_LE(store_->seen().set_rows, 3 * hosts * known);
  const std::size_t before = store_->sets()->hosts();
  EXPECT_LE(before, 8u);
}

}  // namespace
}  // namespace orbweaver
