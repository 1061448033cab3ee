// The seen-set behind a Bloom filter (docs/inside/seen-set.md): what it may lose and what it may not, over both stores.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "storage/store.h"
#include "tests/unit/crawl_keys.h"
#include "tests/unit/store_backends.h"

namespace orbweaver::storage {
namespace {

using test::commit_of;
using test::queued_merge;
using test::records_of;
using test::url_key_of;

Merge link(std::size_t host, std::size_t page, std::uint16_t depth = 1) {
  Merge merge = queued_merge(host, page, depth);
  merge.link = true;
  return merge;
}

Merge outcome(std::size_t host, std::size_t page, UrlState state, Reason reason = Reason::none) {
  Merge merge = queued_merge(host, page, 1);
  merge.record.state = state;
  merge.record.reason = reason;
  merge.record.since = test::at_ms(1000);
  return merge;
}

Merge excluded_link(std::size_t host, std::size_t page, std::uint16_t depth, Reason reason) {
  Merge merge = link(host, page, depth);
  merge.record.state = UrlState::excluded;
  merge.record.reason = reason;
  return merge;
}

// Wide enough that a test should never see a false positive.
constexpr SeenFilter::Config wide{100'000, 1e-12, false};
constexpr SeenFilter::Config wide_with_depth{100'000, 1e-12, true};

class StoreFilterTest : public test::StoreOnEachBackend {
 protected:
  CommitResult commit(std::vector<Merge> merges) {
    auto result = store().commit(commit_of({.merges = std::move(merges)}));
    EXPECT_TRUE(result) << result.error().message;
    return result ? *result : CommitResult{};
  }
  void use(const SeenFilter::Config& config) { ASSERT_TRUE(store().use_filter(config)); }
  UrlRecord record(std::size_t host, std::size_t page) {
    const auto found = store().find(url_key_of(host, page));
    EXPECT_TRUE(found && *found);
    return found && *found ? **found : UrlRecord{};
  }
};

TEST_P(StoreFilterTest, ALinkThatWasSeenCostsNoRead) {
  use(wide);
  EXPECT_EQ(commit({link(1, 1), link(1, 2)}).outcomes, (std::vector{MergeOutcome::added, MergeOutcome::added}));
  EXPECT_EQ(store().seen().taken_as_new, 2u);
  EXPECT_EQ(commit({link(1, 2), link(1, 1)}).outcomes, (std::vector{MergeOutcome::known, MergeOutcome::known}));
  EXPECT_EQ(store().seen().taken_as_seen, 2u);
  EXPECT_EQ(store().seen().reads, 0u);
  EXPECT_EQ(store().counts(), (Counts{.queued = 2}));
}

TEST_P(StoreFilterTest, WithoutAFilterEveryUrlIsRead) {
  commit({link(1, 1), link(1, 2)});
  commit({link(1, 1), link(1, 1), link(1, 3)});
  EXPECT_EQ(store().seen().reads, 4u);  // two, then two: a URL twice in one write is one read
  EXPECT_EQ(store().filter(), nullptr);
}

TEST_P(StoreFilterTest, OutcomesSeedsAndCopiesAreReadAsEver) {
  use(wide);
  commit({link(1, 1)});
  EXPECT_EQ(commit({outcome(1, 1, UrlState::fetched)}).outcomes, std::vector{MergeOutcome::changed});
  EXPECT_EQ(store().seen().reads, 1u);
  EXPECT_EQ(record(1, 1).state, UrlState::fetched);
  // A link in the same write as the outcome of its URL does not hide the outcome.
  commit({link(1, 2)});
  commit({link(1, 2), outcome(1, 2, UrlState::failed, Reason::dns)});
  EXPECT_EQ(record(1, 2).state, UrlState::failed);
  EXPECT_EQ(store().counts(), (Counts{.fetched = 1, .failed = 1}));
}

TEST_P(StoreFilterTest, ARestartFillsItFromTheStore) {
  commit({link(1, 1), outcome(1, 2, UrlState::fetched), excluded_link(1, 3, 9, Reason::robots),
          excluded_link(1, 4, 9, Reason::depth)});
  reopen();
  use(wide);
  EXPECT_EQ(store().filter()->entries(), 4u);
  commit({link(1, 1), link(1, 2), link(1, 3)});
  EXPECT_EQ(store().seen().taken_as_seen, 3u);
  EXPECT_EQ(store().seen().reads, 0u);
  commit({link(1, 4, 9), link(1, 5)});
  EXPECT_EQ(store().seen().reads, 1u);  // URLs that are excluded for now are looked up on disk
  EXPECT_EQ(store().seen().taken_as_new, 1u);
}

TEST_P(StoreFilterTest, AShorterWayQueuesWhatWasExcludedForNow) {
  for (const SeenFilter::Config& config : {wide, wide_with_depth}) {
    replace();
    if (GetParam() == test::Backend::rocks && config.way_matters) return;  // only one directory
    use(config);
    commit({excluded_link(1, 1, 7, Reason::depth), excluded_link(1, 2, 7, Reason::trap)});
    commit({link(1, 1, 2), link(1, 2, 2)});
    EXPECT_EQ(record(1, 1).state, UrlState::queued);
    EXPECT_EQ(record(1, 2).state, UrlState::queued);
    EXPECT_EQ(record(1, 1).depth, 2);
    EXPECT_EQ(store().counts(), (Counts{.queued = 2}));
  }
}

TEST_P(StoreFilterTest, WithAMaxDepthAShorterWayToAQueuedPageCounts) {
  use(wide_with_depth);
  commit({link(1, 1, 5)});
  commit({link(1, 1, 2)});
  EXPECT_EQ(record(1, 1).depth, 2);
  EXPECT_EQ(store().seen().reads, 1u);
  commit({outcome(1, 1, UrlState::fetched)});
  commit({link(1, 1, 1)});  // settled: its way does not matter any more
  EXPECT_EQ(store().seen().reads, 2u);
  EXPECT_EQ(store().seen().taken_as_seen, 1u);
}

TEST_P(StoreFilterTest, ALinkThatAsksForAnotherVisitIsNoSeenOne) {
  use(wide);
  commit({outcome(1, 1, UrlState::fetched)});
  Merge again = link(1, 1);
  again.record.visit = 1;
  EXPECT_EQ(commit({again}).outcomes, std::vector{MergeOutcome::changed});
  EXPECT_EQ(store().counts(), (Counts{.queued = 1}));
}

TEST_P(StoreFilterTest, WhatWasDroppedHereIsStillSeen) {
  use(wide);
  commit({link(1, 1)});
  const std::uint16_t partition = url_key_of(1, 1).host.partition;
  ASSERT_TRUE(*store().drop(partition, 100));
  EXPECT_EQ(commit({link(1, 1)}).outcomes, std::vector{MergeOutcome::known});  // the new owner has the record
  // It comes back as a record, and is not treated as seen.
  EXPECT_EQ(commit({outcome(1, 1, UrlState::fetched)}).outcomes, std::vector{MergeOutcome::added});
  EXPECT_EQ(store().counts(), (Counts{.fetched = 1}));
}

// Links, outcomes, temporary exclusions and restarts in random order: a filter without false positives changes nothing
// but the number of reads.
TEST_P(StoreFilterTest, AWideFilterIsAsGoodAsNone) {
  for (const bool way_matters : {false, true}) {
    SCOPED_TRACE(way_matters ? "with max_depth" : "without");
    if (way_matters && GetParam() == test::Backend::rocks) return;  // only one directory
    replace();
    use(way_matters ? wide_with_depth : wide);
    MemoryKv exact_kv;
    Store exact = *Store::open(exact_kv);
    std::mt19937_64 random(5);
    for (int step = 0; step < 600; ++step) {
      std::vector<Merge> merges;
      for (std::uint64_t left = 1 + random() % 6; left > 0; --left) {
        const std::size_t host = random() % 4, page = random() % 40;
        // Without a rule that depends on the way, the filter ignores a lesser depth; so all depths are equal here.
        const auto depth = static_cast<std::uint16_t>(way_matters ? 1 + random() % 8 : 1);
        const std::uint64_t kind = random() % 8;
        if (kind == 0) {
          merges.push_back(outcome(host, page, random() % 2 == 0 ? UrlState::fetched : UrlState::failed));
        } else if (kind == 1) {
          merges.push_back(excluded_link(host, page, depth, Reason::depth));
        } else {
          merges.push_back(link(host, page, depth));
        }
      }
      const auto expected = exact.commit(commit_of({.merges = merges}));
      ASSERT_TRUE(expected);
      ASSERT_EQ(commit(merges).queued.size(), expected->queued.size()) << "step " << step;
      ASSERT_EQ(store().counts(), exact.counts()) << "step " << step;
      if (random() % 100 == 0) {
        reopen();
        use(way_matters ? wide_with_depth : wide);
      }
    }
    EXPECT_EQ(records_of(store()), records_of(exact));
    for (const std::uint16_t partition : exact.partitions()) EXPECT_EQ(store().root(partition), exact.root(partition));
    EXPECT_GT(store().seen().taken_as_seen, 0u);
  }
}

TEST_P(StoreFilterTest, TheEstimateIsAboutWhatIsLost) {
  use({2000, 0.02, false});
  constexpr std::size_t links = 6000;  // three times the planned number
  for (std::size_t page = 0; page < links; page += 20) {
    std::vector<Merge> merges;
    for (std::size_t i = 0; i < 20; ++i) merges.push_back(link(page % 7, page + i));
    commit(std::move(merges));
  }
  const double lost = static_cast<double>(links - store().counts().discovered());
  const double estimate = store().seen().missed;
  EXPECT_GT(lost, 100);
  // Five standard deviations: variance p per page, (1-p)(p/(1-p))^2 per page let in; p is at most the present one.
  EXPECT_NEAR(lost, estimate, 5 * std::sqrt(estimate / (1 - store().filter()->rate())));
  EXPECT_TRUE(store().filter()->overfull());
  EXPECT_GT(store().filter()->rate(), 0.02);
  // URLs that are asked again are lost again, and not counted twice; the estimate survives a restart, in either mode.
  reopen();
  EXPECT_EQ(store().seen().missed, estimate);
  use({2000, 0.02, false});
  EXPECT_EQ(store().seen().missed, estimate);
}

TEST_P(StoreFilterTest, AFailedWriteIsNotRemembered) {
  if (memory() == nullptr) GTEST_SKIP() << "only the store in memory has faults to switch on";
  use(wide);
  memory()->fail_after(0, ErrorKind::io);
  EXPECT_FALSE(store().commit(commit_of({.merges = {link(1, 1)}})));
  memory()->heal();
  EXPECT_EQ(store().seen().taken_as_new, 0u);
  EXPECT_EQ(commit({link(1, 1)}).outcomes, std::vector{MergeOutcome::added});
}

INSTANTIATE_TEST_SUITE_P(Stores, StoreFilterTest, testing::Values(test::Backend::memory, test::Backend::rocks),
                         test::backend_name);

}  // namespace
}  // namespace orbweaver::storage
