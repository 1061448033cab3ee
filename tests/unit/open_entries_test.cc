// Who waits for which entries of the outbox: node/replication/open_entries.h.
#include "node/replication/open_entries.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "tests/unit/crawl_keys.h"

namespace orbweaver {
namespace {

class OpenEntriesTest : public testing::Test {
 protected:
  using Ids = std::vector<Dependents::Id>;
  static std::vector<storage::OutboxKey> keys(std::uint64_t first, std::uint64_t count) {
    std::vector<storage::OutboxKey> keys(count);
    for (std::uint64_t i = 0; i < count; ++i) keys[i] = {3, first + i};
    return keys;
  }
  // A page that brings entries with these numbers.
  Dependents::Id page(std::uint64_t first, std::uint64_t count) {
    const Dependents::Id id = dependents_.begin(Dependents::Kind::outcome);
    for (std::uint64_t i = 0; i < count; ++i) entries_.add(first + i, id);
    dependents_.close(id);
    return id;
  }
  Ids met() { return dependents_.take_met(Dependents::Kind::outcome); }

  Dependents dependents_;
  OpenEntries entries_{dependents_, 0, 1};
};

// F12: a page that linked to a slow owner keeps no other page waiting.
TEST_F(OpenEntriesTest, WhoWaitsForEntriesWaitsForTheseOnly) {
  const Dependents::Id slow = page(1, 3);
  const Dependents::Id quick = page(4, 200);  // of several blocks
  const Dependents::Id known = dependents_.begin(Dependents::Kind::outcome);
  entries_.wait_for(203, known);  // a link that the page before it brought
  dependents_.close(known);
  entries_.take_out(keys(203, 1));
  EXPECT_EQ(met(), Ids{known});
  entries_.take_out(keys(4, 199));
  EXPECT_EQ(met(), Ids{quick});
  entries_.wait_for(203, slow);  // it was taken out
  entries_.take_out(keys(2, 2));
  EXPECT_TRUE(met().empty());
  EXPECT_EQ(entries_.safe(), 1u);
  entries_.take_out(keys(1, 1));
  EXPECT_EQ(met(), Ids{slow});
  EXPECT_EQ(dependents_.size(), 0u);
}

// Which of them a link is in is not known.
TEST_F(OpenEntriesTest, WhoWaitsForAnEntryOfAnEarlierProcessWaitsForAllOfThem) {
  entries_ = OpenEntries(dependents_, 2, 100);
  const Dependents::Id id = dependents_.begin(Dependents::Kind::outcome);
  entries_.wait_for(50, id);
  dependents_.close(id);
  EXPECT_EQ(entries_.waiting_for(keys(60, 1)), Ids{id});
  entries_.take_out(keys(50, 1));
  EXPECT_TRUE(dependents_.waits(id));
  entries_.take_out(keys(99, 1));
  EXPECT_EQ(met(), Ids{id});
}

// A popular link of an owner that does not answer: of those that were given up nothing stays.
TEST_F(OpenEntriesTest, Contract5_WhatWasForgottenTakesNoRoom) {
  (void)page(1, 1);
  for (int i = 0; i < 10'000; ++i) {
    const Dependents::Id id = dependents_.begin(Dependents::Kind::outcome);
    entries_.wait_for(1, id);
    dependents_.forget(id);
    ASSERT_LE(entries_.waiting_for(keys(1, 1)).size(), 64u);
  }
}

// The oldest are counted then; who waits for them waits longer, but never too short.
TEST_F(OpenEntriesTest, Contract5_OfVeryManyOnlyTheNewestAreKeptApart) {
  constexpr std::uint64_t slow = 64 * 20'000;
  const Dependents::Id first = page(1, 64);
  (void)page(65, slow - 64);
  const Dependents::Id last = page(slow + 1, 10);
  entries_.take_out(keys(slow + 1, 10));
  EXPECT_EQ(met(), Ids{last});
  entries_.take_out(keys(1, 64));
  EXPECT_TRUE(dependents_.waits(first));
  EXPECT_EQ(entries_.safe(), 1u);
  entries_.take_out(keys(65, slow - 64));
  EXPECT_FALSE(dependents_.waits(first));
  EXPECT_EQ(entries_.safe(), UINT64_MAX);
}

// Against a slow twin: pages, links that were known, entries that leave in any order.
TEST_F(OpenEntriesTest, Contract1_NobodyIsMetTooEarlyOrTooLate) {
  std::mt19937_64 random(7);
  std::set<std::uint64_t> open;
  std::map<Dependents::Id, std::set<std::uint64_t>> wanted;
  std::uint64_t next = 1;
  for (int step = 0; step < 20'000; ++step) {
    const Dependents::Id id = dependents_.begin(Dependents::Kind::outcome);
    std::set<std::uint64_t>& wants = wanted[id];
    for (std::size_t i = test::below(random, 6); i > 0; --i) {
      open.insert(next);
      wants.insert(next);
      entries_.add(next++, id);
    }
    for (std::size_t i = test::below(random, 4); i > 0; --i) {
      const std::uint64_t known = 1 + test::below(random, next);
      entries_.wait_for(known, id);
      if (open.contains(known)) wants.insert(known);
    }
    dependents_.close(id);
    std::vector<storage::OutboxKey> out;
    for (const std::uint64_t number : open)
      if (test::below(random, open.size() > 500 ? 4 : 40) == 0) out.push_back({0, number});
    entries_.take_out(out);
    for (const storage::OutboxKey& key : out) open.erase(key.sequence);
    for (const Dependents::Id done : met()) {
      for (const std::uint64_t number : wanted.at(done)) ASSERT_FALSE(open.contains(number)) << "too early";
      wanted.erase(done);
    }
    ASSERT_EQ(entries_.safe(), open.empty() ? UINT64_MAX : *open.begin());
    ASSERT_EQ(dependents_.size(), wanted.size());
  }
  for (const auto& [id, wants] : wanted)
    ASSERT_TRUE(std::any_of(wants.begin(), wants.end(), [&](auto number) { return open.contains(number); })) << "late";
}

}  // namespace
}  // namespace orbweaver
