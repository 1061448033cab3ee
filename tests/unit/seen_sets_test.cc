// Sets of fingerprints before the table of URLs: they save reads, and do not change the effect of a commit.
#include "storage/seen_sets.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

#include "tests/unit/counting_kv.h"
#include "tests/unit/crawl_keys.h"
#include "tests/unit/store_backends.h"

namespace orbweaver::storage {
namespace {

using test::below;
using test::commit_of;
using test::host_key_of;
using test::queued_merge;
using test::url_key_of;

constexpr std::uint64_t plenty = 16u << 20;

Merge link_to(std::size_t host, std::size_t page, std::uint16_t depth = 1) {
  Merge link = queued_merge(host, page, depth);
  link.link = true;
  return link;
}

Merge fetched(std::size_t host, std::size_t page) {
  Merge outcome = queued_merge(host, page, 1);
  outcome.record.state = UrlState::fetched;
  outcome.record.status = 200;
  outcome.record.since = test::at_ms(5);
  return outcome;
}

// A store whose reads are counted, on each kind of Kv.
class StoreWithSets : public test::StoreOnEachBackend {
 protected:
  void SetUp() override {
    StoreOnEachBackend::SetUp();
    begin(plenty);
  }
  void begin(std::uint64_t bytes) {
    counting_.emplace(kv());
    auto opened = Store::open(*counting_);
    ASSERT_TRUE(opened);
    store_.emplace(std::move(*opened));
    store_->use_sets({bytes, 7});
  }
  CommitResult commit(std::vector<Merge> merges) {
    auto result = store_->commit(commit_of({.merges = std::move(merges)}));
    EXPECT_TRUE(result);
    return result ? std::move(*result) : CommitResult{};
  }
  std::size_t reads_of(std::vector<Merge> merges) {
    const std::size_t before = counting_->of_urls();
    commit(std::move(merges));
    return counting_->of_urls() - before;
  }
  Store& with_sets() { return *store_; }
  void fill(std::size_t host, std::size_t rows = 100'000) { ASSERT_TRUE(store_->fill_set(host_key_of(host), rows)); }

  std::optional<test::CountingKv> counting_;
  std::optional<Store> store_;
};

// Pitfall 1 of the large crawl: a page's links to its own host cost no read of the disk, whether they are known or new.
TEST_P(StoreWithSets, LinksOfAHostThatIsCrawledCostNoRead) {
  fill(1);
  std::vector<Merge> page;
  for (std::size_t i = 0; i < 60; ++i) page.push_back(link_to(1, i));
  EXPECT_EQ(reads_of(page), 0u) << "all are new";
  EXPECT_EQ(reads_of(page), 0u) << "all are known";
  EXPECT_EQ(with_sets().counts().queued, 60u);
  EXPECT_EQ(reads_of({link_to(2, 0)}), 1u) << "a host that is not crawled has no set";
  EXPECT_EQ(reads_of({fetched(1, 0)}), 1u) << "an outcome is joined with its record";
  EXPECT_EQ(reads_of({link_to(1, 0), link_to(1, 0, 0)}), 0u) << "what has ended is changed by no link";
}

TEST_P(StoreWithSets, ASetIsFilledFromTheRowsOfItsHost) {
  std::vector<Merge> rows;
  for (std::size_t i = 0; i < 300; ++i) rows.push_back(link_to(1, i));
  for (std::size_t i = 0; i < 300; ++i) rows.push_back(link_to(2, i));
  commit(rows);
  begin(plenty);  // as after a restart
  fill(1);
  EXPECT_EQ(with_sets().sets()->entries(), 300u);
  EXPECT_EQ(reads_of({rows.begin(), rows.begin() + 300}), 0u);
  EXPECT_EQ(reads_of({link_to(1, 1000)}), 0u) << "a whole set knows that it is new";
  EXPECT_EQ(with_sets().counts().queued, 601u);
}

// Of a page that was fetched at its first try the queue has told all.
TEST_P(StoreWithSets, TheOutcomeOfAFirstTryCostsNoReadEither) {
  commit({link_to(1, 1), link_to(1, 2)});
  fill(1);
  const auto head = with_sets().queue_head(host_key_of(1), nullptr, 2);
  ASSERT_TRUE(head);
  ASSERT_EQ(head->size(), 2u);
  const auto reads = [&](const QueuedUrl& taken) {
    const std::size_t before = counting_->of_urls();
    Merge outcome = fetched(1, 1);
    outcome.key = taken.key;
    outcome.record.url = taken.url;
    Commit with = commit_of({.merges = {outcome}});
    with.taken = &taken;
    EXPECT_TRUE(store_->commit(with));
    return counting_->of_urls() - before;
  };
  EXPECT_EQ(reads(head->front()), 0u);
  EXPECT_EQ(with_sets().seen().from_queue, 1u);
  EXPECT_EQ(with_sets().counts().fetched, 1u);
  EXPECT_EQ(with_sets().counts().queued, 1u);
  Merge again = link_to(1, 2);
  again.key = head->back().key;
  again.record.url = head->back().url;
  again.record.attempts = 1;
  again.record.not_before = test::at_ms(9);
  commit({again});
  EXPECT_EQ(reads(head->back()), 1u) << "another peer has tried it meanwhile";
  EXPECT_EQ(with_sets().counts().queued, 0u);
}

// A set filled from a slice of the rows, in the order of their digests, answers for that range.
TEST_P(StoreWithSets, AHalfFilledSetAnswersForItsRange) {
  std::vector<Merge> rows;
  for (std::size_t i = 0; i < 400; ++i) rows.push_back(link_to(1, i));
  commit({rows.begin(), rows.begin() + 200});
  begin(plenty);
  fill(1, 50);
  EXPECT_EQ(with_sets().sets()->entries(), 50u);
  const std::size_t reads = reads_of(rows);
  EXPECT_GT(reads, 0u);
  EXPECT_LT(reads, 360u);
  EXPECT_EQ(with_sets().counts().queued, 400u) << "nothing twice, nothing left out";
  for (int slice = 0; slice < 8; ++slice) fill(1, 50);
  EXPECT_EQ(with_sets().sets()->entries(), 400u);
  EXPECT_EQ(reads_of(rows), 0u);
  EXPECT_LE(with_sets().seen().set_rows, 400u) << "no row is read twice";
}

TEST_P(StoreWithSets, AShorterWayIsSeenThroughTheSet) {
  fill(1);
  commit({link_to(1, 0, 7)});
  EXPECT_EQ(reads_of({link_to(1, 0, 9)}), 0u);
  EXPECT_EQ(reads_of({link_to(1, 0, 4)}), 1u);
  EXPECT_EQ(with_sets().find(url_key_of(1, 0)).value()->depth, 4);
  Merge redirect = link_to(1, 0, 4);
  redirect.record.steps = 1;
  EXPECT_EQ(reads_of({redirect}), 0u) << "no shorter";
  Merge scored = link_to(1, 0, 4);
  scored.record.score = 3;
  EXPECT_EQ(reads_of({scored}), 1u);
  EXPECT_EQ(with_sets().find(url_key_of(1, 0)).value()->score, 3);
}

// Fields have caps: a value at its cap proves nothing.
TEST_P(StoreWithSets, WhatIsBeyondTheFieldsOfAWayIsAskedOfTheDisk) {
  fill(1);
  commit({link_to(1, 0, 600)});
  EXPECT_EQ(reads_of({link_to(1, 0, 601)}), 1u);
  EXPECT_EQ(reads_of({link_to(1, 0, 599)}), 1u);
  EXPECT_EQ(with_sets().find(url_key_of(1, 0)).value()->depth, 599);
  Merge far = link_to(1, 1, 2);
  far.record.off_site = 5;
  commit({far});
  far.record.off_site = 4;
  EXPECT_EQ(reads_of({far}), 1u);
  EXPECT_EQ(with_sets().find(url_key_of(1, 1)).value()->off_site, 4);
}

// Merges that are not links: records that another peer handed over, and URLs that are queued for another visit.
TEST_P(StoreWithSets, SetsHearOfEveryWrite) {
  fill(1);
  Merge copy = fetched(1, 3);
  copy.link = false;
  EXPECT_EQ(reads_of({copy}), 0u) << "a whole set knows that there is no such row";
  EXPECT_EQ(reads_of({link_to(1, 3)}), 0u);
  EXPECT_EQ(with_sets().counts().fetched, 1u);
  Merge again = link_to(1, 3);
  again.record.visit = 1;
  EXPECT_EQ(commit({again}).queued.size(), 1u);
  EXPECT_EQ(reads_of({link_to(1, 3)}), 0u) << "a link of the first visit changes nothing now";
}

// A partition that is dropped: its sets go before its rows.
TEST_P(StoreWithSets, APartitionThatIsDroppedLeavesNoSet) {
  fill(1);
  commit({link_to(1, 0), link_to(1, 1), link_to(1, 2)});
  ASSERT_TRUE(with_sets().drop(host_key_of(1).partition, 1));
  EXPECT_FALSE(with_sets().sets()->open(host_key_of(1)));
  EXPECT_EQ(with_sets().sets()->bytes(), 0u);
  while (!with_sets().drop(host_key_of(1).partition, 1).value()) {
  }
  const CommitResult back = commit({link_to(1, 0), link_to(1, 1), link_to(1, 2)});
  EXPECT_EQ(back.queued.size(), 3u);
}

// Pitfall 3: a set never contains more than the disk.
TEST_P(StoreWithSets, ASetLearnsNothingOfAWriteThatFailed) {
  if (memory() == nullptr) GTEST_SKIP() << "only the memory store fails on demand";
  fill(1);
  commit({link_to(1, 0)});
  memory()->fail_after(0, ErrorKind::io);
  EXPECT_FALSE(store_->commit(commit_of({.merges = {link_to(1, 1), fetched(1, 0)}})));
  memory()->heal();
  EXPECT_EQ(commit({link_to(1, 1)}).queued.size(), 1u) << "it was not written";
  EXPECT_EQ(commit({fetched(1, 0)}).unqueued.size(), 1u);
}

TEST_P(StoreWithSets, AReadErrorLeavesTheSetAsItWas) {
  commit({link_to(1, 0)});
  begin(0);
  fill(1);
  EXPECT_FALSE(with_sets().sets()->open(host_key_of(1))) << "no budget, no set";
  EXPECT_EQ(reads_of({link_to(1, 0)}), 1u);
}

INSTANTIATE_TEST_SUITE_P(Backends, StoreWithSets, testing::Values(test::Backend::memory, test::Backend::rocks),
                         test::backend_name);

// Sets of hosts that grow beyond the budget: never more bytes; for the rest the disk is asked.
TEST(SeenSets, BytesStayWithinTheBudget) {
  for (const std::uint64_t budget : {0u, 100u, 400u, 3000u, 40'000u, 400'000u, 3'000'000u}) {
    SeenSets sets({budget, 1});
    std::mt19937_64 random(budget);
    const UrlRecord record = test::queued_record(0, 0, 3);
    for (std::size_t host = 0; host < 3; ++host) {
      if (!sets.wanted_from(host_key_of(host))) continue;
      sets.loaded_to(host_key_of(host), std::nullopt);
      EXPECT_LE(sets.bytes(), budget);
    }
    std::vector<UrlKey> keys;
    for (int i = 0; i < 60'000; ++i) {
      UrlKey key{host_key_of(below(random, 3)), {}};
      for (std::uint8_t& byte : key.url) byte = static_cast<std::uint8_t>(random());
      keys.push_back(key);
      const SeenSets::Verdict verdict = sets.judge(key, {4, 0, 0});
      EXPECT_NE(verdict, SeenSets::Verdict::known);
      sets.note(key, record);
      ASSERT_LE(sets.bytes(), budget);
      if (!sets.open(key.host)) continue;
      EXPECT_EQ(sets.judge(key, {4, 0, 0}), sets.covers(key) ? SeenSets::Verdict::known : SeenSets::Verdict::ask);
    }
    std::size_t known = 0;
    for (const UrlKey& key : keys) {
      const SeenSets::Verdict verdict = sets.judge(key, {4, 0, 0});
      ASSERT_NE(verdict, SeenSets::Verdict::fresh) << "budget " << budget;
      known += verdict == SeenSets::Verdict::known ? 1 : 0;
    }
    EXPECT_EQ(known, sets.entries());
    if (budget == 3'000'000u) {
      EXPECT_EQ(known, keys.size());
      EXPECT_LT(sets.bytes(), 20 * keys.size());
    }
    if (budget == 400'000u) {
      EXPECT_GT(known, 10'000u) << "a set that is too large knows a part of its host";
    }
    for (std::size_t host = 0; host < 3; ++host) sets.close(host_key_of(host));
    EXPECT_EQ(sets.bytes(), 0u);
    EXPECT_EQ(sets.entries(), 0u);
  }
}

// A host whose digests all begin alike: the other pieces go, then the last one has no room. It answered "new" for URLs
// that it had not taken up, and they were fetched again.
TEST(SeenSets, TheLastPieceWithoutRoomKnowsNothing) {
  SeenSets sets({400'000, 1});
  const storage::HostKey host = host_key_of(1);
  const UrlRecord record = test::queued_record(0, 0, 3);
  ASSERT_TRUE(sets.wanted_from(host));
  sets.loaded_to(host, std::nullopt);
  std::mt19937_64 random(5);
  std::vector<UrlKey> keys;
  const auto note = [&](bool anywhere) {
    UrlKey key{host, {}};
    for (std::uint8_t& byte : key.url) byte = static_cast<std::uint8_t>(random());
    if (!anywhere) key.url[0] = 0;
    keys.push_back(key);
    sets.note(key, record);
    ASSERT_LE(sets.bytes(), 400'000u);
  };
  for (int i = 0; i < 14'000; ++i) note(true);  // until it is in pieces
  for (int i = 0; i < 60'000; ++i) note(false);
  for (const UrlKey& key : keys) ASSERT_NE(sets.judge(key, {4, 0, 0}), SeenSets::Verdict::fresh);
  EXPECT_FALSE(sets.covers(keys.back()));
}

// --- fast against dumb: a store whose sets come and go, and one without sets

class Twins {
 public:
  Twins(std::uint64_t seed, std::uint64_t budget) : random_(seed) {
    for (auto* store : {&fast_, &dumb_}) {
      auto opened = Store::open(store == &fast_ ? fast_kv_ : dumb_kv_);
      EXPECT_TRUE(opened);
      store->emplace(std::move(*opened));
    }
    fast_->use_sets({budget, seed});
  }
  void run(int steps) {
    for (int i = 0; i < steps && !testing::Test::HasFatalFailure(); ++i) step();
    const auto a = test::records_of(*fast_);
    const auto b = test::records_of(*dumb_);
    EXPECT_EQ(a, b);
    EXPECT_EQ(fast_->counts(), dumb_->counts());
    from_queue += fast_->seen().from_queue;
    EXPECT_LT(fast_->seen().reads, dumb_->seen().reads);
    EXPECT_EQ(test::rows_of(fast_kv_, Table::frontier), test::rows_of(dumb_kv_, Table::frontier));
    for (const std::uint16_t partition : dumb_->partitions()) EXPECT_EQ(fast_->root(partition), dumb_->root(partition));
  }

  inline static std::uint64_t from_queue = 0;  // of all runs

 private:
  static constexpr std::size_t hosts = 6;
  static constexpr std::size_t pages = 40;

  UrlRecord record_of(std::size_t host, std::size_t page) {
    UrlRecord record = test::queued_record(host, page, static_cast<std::uint16_t>(below(random_, 5)));
    if (below(random_, 20) == 0) record.depth = static_cast<std::uint16_t>(505 + below(random_, 10));
    if (below(random_, 3) == 0) record.steps = static_cast<std::uint8_t>(below(random_, 9));
    if (below(random_, 3) == 0) record.off_site = static_cast<std::uint8_t>(below(random_, 5));
    if (below(random_, 12) == 0) record.score = static_cast<std::uint16_t>(below(random_, 9));
    if (below(random_, 15) == 0) record.visit = static_cast<std::uint16_t>(below(random_, 3));
    switch (below(random_, 12)) {
      case 0:
        record.state = UrlState::fetched;
        record.status = 200;
        break;
      case 1:
        record.state = UrlState::failed;
        record.reason = Reason::timeout;
        break;
      case 2:
        record.state = UrlState::excluded;
        record.reason = below(random_, 2) == 0 ? Reason::depth : Reason::trap;
        break;
      case 3:
        record.state = UrlState::excluded;
        record.reason = Reason::robots;
        break;
      case 4:
        record.attempts = static_cast<std::uint8_t>(1 + below(random_, 3));
        record.not_before = test::at_ms(static_cast<std::int64_t>(below(random_, 1000)));
        break;
      default:
        return record;
    }
    (record.state == UrlState::queued ? record.not_before : record.since) =
        test::at_ms(static_cast<std::int64_t>(below(random_, 1000)));
    return record;
  }

  void step() {
    const std::size_t host = below(random_, hosts);
    const std::size_t kind = below(random_, 20);
    if (kind == 0) {
      fast_->close_set(host_key_of(host));
    } else if (kind < 4) {
      ASSERT_TRUE(fast_->fill_set(host_key_of(host), 1 + below(random_, 15)));
    } else if (kind == 4 && below(random_, 4) == 0) {
      // Half of a partition is dropped, and may come back.
      for (int part = 0; part < 2; ++part)
        for (auto* store : {&fast_, &dumb_}) ASSERT_TRUE((*store)->drop(host_key_of(host).partition, 10));
    } else if (kind > 4 && kind < 8) {
      const auto head = dumb_->queue_head(host_key_of(host), nullptr, 1 + below(random_, 4));
      ASSERT_TRUE(head);
      taken_.insert(taken_.end(), head->begin(), head->end());
    } else {
      commit(host);
    }
  }

  void commit(std::size_t host) {
    std::vector<Merge> merges;
    for (std::size_t left = below(random_, 30); left > 0; --left) {
      const std::size_t at = below(random_, 10) == 0 ? below(random_, hosts) : host;
      const std::size_t page = below(random_, pages);
      merges.push_back({url_key_of(at, page), record_of(at, page), below(random_, 2) == 0});
    }
    Commit with = commit_of({.merges = merges});
    std::optional<QueuedUrl> taken;
    if (!taken_.empty() && below(random_, 2) == 0) {
      // Some were taken long ago: other records have been joined with theirs since, or they were dropped.
      const std::size_t at = below(random_, 2) == 0 ? taken_.size() - 1 : below(random_, taken_.size());
      taken = taken_[at];
      if (below(random_, 2) == 0) taken_.erase(taken_.begin() + static_cast<std::ptrdiff_t>(at));
      UrlRecord outcome = test::queued_record(host, 0, taken->depth);
      outcome.url = taken->url;
      outcome.steps = taken->steps;
      outcome.off_site = taken->off_site;
      outcome.visit = taken->visit;
      outcome.attempts = taken->attempts;
      outcome.state = below(random_, 3) == 0 ? UrlState::failed : UrlState::fetched;
      outcome.since = test::at_ms(static_cast<std::int64_t>(below(random_, 1000)));
      merges.push_back({taken->key, outcome});
      with = commit_of({.merges = merges});
      with.taken = &*taken;
    }
    const auto fast = fast_->commit(with);
    const auto dumb = dumb_->commit(commit_of({.merges = merges}));
    ASSERT_TRUE(fast && dumb);
    ASSERT_EQ(fast->outcomes, dumb->outcomes);
    ASSERT_EQ(fast->queued.size(), dumb->queued.size());
    for (std::size_t i = 0; i < fast->queued.size(); ++i) {
      ASSERT_EQ(fast->queued[i].url.key, dumb->queued[i].url.key);
      ASSERT_EQ(fast->queued[i].url.position, dumb->queued[i].url.position);
      ASSERT_EQ(fast->queued[i].moved, dumb->queued[i].moved);
    }
    ASSERT_EQ(fast->unqueued, dumb->unqueued);
    ASSERT_EQ(fast->changed.size(), dumb->changed.size());
    for (std::size_t i = 0; i < fast->changed.size(); ++i) {
      ASSERT_EQ(fast->changed[i].key, dumb->changed[i].key);
      ASSERT_EQ(fast->changed[i].record, dumb->changed[i].record);
    }
  }

  std::mt19937_64 random_;
  std::vector<QueuedUrl> taken_;
  MemoryKv fast_kv_;
  MemoryKv dumb_kv_;
  std::optional<Store> fast_;
  std::optional<Store> dumb_;
};

TEST(SeenSets, AStoreWithSetsDoesWhatOneWithoutDoes) {
  for (std::uint64_t seed = 1; seed <= 60 && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Twins(seed, seed % 3 == 0 ? 1200 : seed % 3 == 1 ? 3500 : plenty).run(600);
  }
  EXPECT_GT(Twins::from_queue, 300u);
}

}  // namespace
}  // namespace orbweaver::storage
