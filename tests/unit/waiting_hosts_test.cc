// Hosts that left memory because they may not be asked for long.
#include "node/frontier/waiting_hosts.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "node/frontier/workbench.h"
#include "node/url/canonical_url.h"
#include "storage/memory_kv.h"
#include "tests/unit/crawl_keys.h"

namespace orbweaver {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;
using test::at_ms;
using test::host_key_of;

TEST(WaitingHosts, TheFirstThatIsDueComesFirst) {
  WaitingHosts waiting(1u << 20);
  for (const std::int64_t at : {300, 100, 200})
    waiting.add(host_key_of(static_cast<std::size_t>(at)), {.due = at_ms(at), .next_allowed = at_ms(at)});
  EXPECT_EQ(waiting.next_due(), at_ms(100));
  EXPECT_FALSE(waiting.take(at_ms(99)));
  for (const std::int64_t at : {100, 200, 300}) {
    const auto taken = waiting.take(at_ms(1'000));
    ASSERT_TRUE(taken);
    EXPECT_EQ(taken->first, host_key_of(static_cast<std::size_t>(at)));
  }
  EXPECT_FALSE(waiting.take(at_ms(1'000)));
  EXPECT_EQ(waiting.bytes(), 0u);
}

TEST(WaitingHosts, ANewUrlMakesItDueAsSoonAsItMayBeAsked) {
  WaitingHosts waiting(1u << 20);
  waiting.add(host_key_of(1), {.due = at_ms(9'000), .next_allowed = at_ms(500)});
  waiting.hasten(host_key_of(1));
  waiting.hasten(host_key_of(1));
  waiting.hasten(host_key_of(2));
  EXPECT_EQ(waiting.next_due(), at_ms(500));
  EXPECT_EQ(waiting.size(), 1u);
}

TEST(WaitingHosts, IsFullByBytesAndForgetsAPartition) {
  WaitingHosts waiting(4 * WaitingHosts::host_bytes);
  RobotsSlot slot;
  slot.origin = std::string(1'000, 'o');
  slot.attempts = 1;
  waiting.add(host_key_of(1), {.due = at_ms(1), .robots = {slot}});
  EXPECT_TRUE(waiting.full());
  EXPECT_GT(waiting.bytes(), 1'000u);
  waiting.forget(host_key_of(1).partition);
  EXPECT_EQ(waiting.size(), 0u);
  EXPECT_EQ(waiting.bytes(), 0u);
  EXPECT_FALSE(waiting.next_due());
  for (std::size_t host = 1; host <= 4; ++host) {
    EXPECT_FALSE(waiting.full());
    waiting.add(host_key_of(host), {.due = at_ms(1)});
  }
  EXPECT_TRUE(waiting.full());
}

// What a whole host remembers of an unfinished robots.txt, of repeated bodies and of its pace comes back with it.
TEST(WaitingHosts, WhatOnlyMemoryKnowsComesBack) {
  BenchHost host;
  host.next_allowed = at_ms(700);
  host.down_until = at_ms(800);
  host.pacing.pace = seconds{3};
  host.contents = {{11, 2}, {22, 9}, {33, 1}};
  host.robots.resize(2);
  host.robots[0].origin = "http://done.example";
  host.robots[1].origin = "http://tried.example";
  host.robots[1].attempts = 2;
  const WaitingHost waiting = WaitingHost::of(host, at_ms(900));
  BenchHost back;
  back.next_allowed = at_ms(600);
  waiting.give_to(back);
  EXPECT_EQ(back.next_allowed, at_ms(700));
  EXPECT_EQ(back.down_until, at_ms(800));
  EXPECT_EQ(back.pacing.pace, seconds{3});
  ASSERT_EQ(back.contents.size(), 1u);
  EXPECT_EQ(back.contents.front().second, 9u);
  ASSERT_EQ(back.robots.size(), 1u);
  EXPECT_EQ(back.robots.front().attempts, 2);
}

// The workbench with few places.
class PlacesTest : public testing::Test {
 protected:
  PlacesTest() : store_(*storage::Store::open(kv_)) {}
  void start(std::size_t max_hosts, std::size_t max_waiting) {
    Workbench::Config config{max_hosts, 8};
    config.max_waiting_bytes = max_waiting * WaitingHosts::host_bytes;
    bench_.emplace(config, store_, [this](std::uint16_t partition) { return !foreign_.contains(partition); });
  }
  void add(std::size_t host, std::size_t page) { commit({.merges = {test::queued_merge(host, page, 0)}}); }
  void commit(const test::CommitParts& parts) {
    const auto result = store_.commit(test::commit_of(parts));
    ASSERT_TRUE(result);
    for (const storage::NewlyQueued& queued : result->queued)
      bench_->admit(queued.url, CanonicalUrl::host_in(queued.url.url), queued.moved);
  }
  // One page, of the host whose turn it is; nothing when none may be asked.
  std::optional<storage::HostKey> fetch_one() {
    const auto taken = bench_->take(now_);
    EXPECT_TRUE(taken);
    BenchHost* const host = taken ? *taken : nullptr;
    if (host == nullptr) return std::nullopt;
    const storage::HostKey key = host->key;
    EXPECT_GE(now_, allowed_[key]) << "too early";
    const storage::QueuedUrl url = bench_->issue(*host);
    EXPECT_EQ(host->name, CanonicalUrl::host_in(url.url)) << "its settings and leases go by its name";
    const Duration delay = slow_.contains(key) ? Duration{minutes{1}} : Duration{milliseconds{100}};
    allowed_[key] = now_ + delay;
    bench_->release(*host, now_ + delay);
    storage::UrlRecord record;
    record.state = storage::UrlState::fetched;
    record.url = url.url;
    bench_->committed(url.key);
    commit({.merges = {{url.key, record}}, .clocks = {{key, {now_ + delay, 0, std::string("h")}}}});
    ++pages_[key];
    return key;
  }
  void run(Duration time) {
    for (const Time end = now_ + time; now_ < end;) {
      if (fetch_one()) continue;
      const auto next = bench_->next_deadline();
      now_ = next && *next > now_ ? std::min(*next, end) : now_ + milliseconds{10};
    }
  }

  storage::MemoryKv kv_;
  storage::Store store_;
  std::optional<Workbench> bench_;
  std::set<std::uint16_t> foreign_;
  std::set<storage::HostKey> slow_;
  std::map<storage::HostKey, Time> allowed_;
  std::map<storage::HostKey, std::size_t> pages_;
  Time now_ = at_ms(1'000'000);
};

TEST_F(PlacesTest, HostsThatWaitLongHoldNoPlacesThatOthersCouldUse) {
  start(4, 100);
  for (std::size_t host = 0; host < 20; ++host) {
    slow_.insert(host_key_of(host));
    for (std::size_t page = 0; page < 8; ++page) add(host, page);
  }
  run(seconds{5});
  for (std::size_t host = 0; host < 20; ++host) EXPECT_EQ(pages_[host_key_of(host)], 1u) << host;
  // Others come: all places are theirs, though each slow host has more to do.
  for (std::size_t host = 20; host < 24; ++host)
    for (std::size_t page = 0; page < 8; ++page) add(host, page);
  run(seconds{5});
  for (std::size_t host = 20; host < 24; ++host) EXPECT_EQ(pages_[host_key_of(host)], 8u) << host;
  EXPECT_LE(bench_->hosts(), 4u);
  // The slow ones are asked when they are due, not later and not earlier.
  run(minutes{8});
  for (std::size_t host = 0; host < 20; ++host) EXPECT_EQ(pages_[host_key_of(host)], 8u) << host;
  EXPECT_EQ(store_.counts().queued, 0u);
}

TEST_F(PlacesTest, AWaitingHostIsAskedWhenItIsDueAndNotBefore) {
  start(1, 100);
  slow_.insert(host_key_of(1));
  for (std::size_t page = 0; page < 3; ++page) add(1, page);
  ASSERT_TRUE(fetch_one());
  add(2, 0);
  ASSERT_EQ(fetch_one(), host_key_of(2));
  EXPECT_EQ(bench_->waiting().size(), 1u);
  EXPECT_FALSE(fetch_one());
  EXPECT_EQ(bench_->next_deadline(), allowed_[host_key_of(1)]);
  add(1, 9);  // a new URL does not shorten the wait
  EXPECT_EQ(bench_->next_deadline(), allowed_[host_key_of(1)]);
  now_ = allowed_[host_key_of(1)];
  EXPECT_EQ(fetch_one(), host_key_of(1));
  EXPECT_EQ(bench_->waiting().size(), 0u);
}

// Its only URL may have ended meanwhile, by a copy or another peer's word.
TEST_F(PlacesTest, AHostThatComesBackWithNothingToDoGetsItsNameWithTheNextUrl) {
  start(4, 100);
  slow_.insert(host_key_of(1));
  for (std::size_t page = 0; page < 2; ++page) add(1, page);
  ASSERT_TRUE(fetch_one());
  for (std::size_t host = 2; host < 10; ++host) add(host, 0);
  run(seconds{5});
  ASSERT_EQ(bench_->waiting().size(), 1u);
  // The others leave memory, so it has room there.
  for (std::size_t host = 2; host < 10; ++host) foreign_.insert(host_key_of(host).partition);
  foreign_.erase(host_key_of(1).partition);
  bench_->fetchability_changed({foreign_.begin(), foreign_.end()});
  storage::Merge ended = test::queued_merge(1, 1, 0);
  ended.record.state = storage::UrlState::failed;
  commit({.merges = {ended}});
  run(minutes{2});
  ASSERT_EQ(bench_->waiting().size(), 0u);
  add(1, 2);
  run(seconds{1});
  EXPECT_EQ(pages_[host_key_of(1)], 2u);
}

// As many as memory has room for wait elsewhere; the others keep their places.
TEST_F(PlacesTest, WithoutRoomToWaitElsewhereHostsKeepTheirPlaces) {
  start(4, 2);
  for (std::size_t host = 0; host < 20; ++host) {
    slow_.insert(host_key_of(host));
    for (std::size_t page = 0; page < 3; ++page) add(host, page);
  }
  run(seconds{5});
  EXPECT_EQ(bench_->waiting().size(), 2u);
  EXPECT_EQ(pages_.size(), 6u);
  run(minutes{60});
  EXPECT_EQ(store_.counts().queued, 0u) << "all are served in the end";
}

TEST_F(PlacesTest, AnotherPeersHostsWaitHereNoLonger) {
  start(1, 100);
  slow_.insert(host_key_of(1));
  for (std::size_t page = 0; page < 2; ++page) add(1, page);
  ASSERT_TRUE(fetch_one());
  add(2, 0);
  ASSERT_TRUE(fetch_one());
  ASSERT_EQ(bench_->waiting().size(), 1u);
  const std::uint16_t partition = host_key_of(1).partition;
  foreign_.insert(partition);
  bench_->fetchability_changed({partition});
  EXPECT_EQ(bench_->waiting().size(), 0u);
  run(minutes{2});
  EXPECT_EQ(pages_[host_key_of(1)], 1u);
  foreign_.erase(partition);
  bench_->fetchability_changed({partition});
  run(minutes{2});
  EXPECT_EQ(pages_[host_key_of(1)], 2u);
}

}  // namespace
}  // namespace orbweaver
