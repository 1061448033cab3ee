// Tenures: the larger one wins, so tables that meet in any order end equal; against a slow twin.
#include "ring/tenures.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

#include "ring/messages.h"
#include "tests/unit/crawl_keys.h"

namespace orbweaver::ring {
namespace {

using test::below;
using test::few_partitions;
using test::peer_id;

// Few epochs and holders, so that equal ones are frequent.
PartitionTenure random_tenure(std::mt19937_64& random) {
  return {static_cast<Partition>(below(random, few_partitions)), {1 + below(random, 3), peer_id(below(random, 4))}};
}

using Table = std::map<Partition, std::pair<std::uint64_t, std::array<std::uint8_t, 16>>>;

Table table_of(const Tenures& tenures) {
  Table table;
  for (const auto& [partition, tenure] : tenures.all()) table[partition] = {tenure.epoch, tenure.holder.bytes};
  return table;
}

void merge_all(Tenures& into, const std::vector<PartitionTenure>& history) {
  for (const auto& [partition, tenure] : history) into.merge(partition, tenure);
}

TEST(Tenures, AnotherPeersWordIsBelievedWithinAStepOfWhatIsKnown) {
  Tenures tenures(few_partitions);
  EXPECT_TRUE(tenures.believes(3, {max_epoch_first, peer_id(1)}));
  EXPECT_FALSE(tenures.believes(3, {max_epoch_first + 1, peer_id(1)}));
  EXPECT_TRUE(tenures.believes(3, {max_epoch_first + 1, peer_id(1)}, true)) << "the answer to its own question";
  EXPECT_FALSE(tenures.believes(3, {max_epoch + 1, peer_id(1)}, true));
  EXPECT_FALSE(tenures.believes(few_partitions, {1, peer_id(1)}));
  tenures.merge(3, {7, peer_id(1)});
  EXPECT_TRUE(tenures.believes(3, {7 + max_epoch_step, peer_id(2)}));
  EXPECT_FALSE(tenures.believes(3, {8 + max_epoch_step, peer_id(2)}));
  EXPECT_FALSE(tenures.believes(3, {8 + max_epoch_step, peer_id(2)}, true)) << "it knows better";
  EXPECT_FALSE(tenures.believes(3, {UINT64_MAX, peer_id(2)}));
  tenures.merge(3, {max_epoch, peer_id(1)});
  EXPECT_FALSE(tenures.believes(3, {max_epoch + 1, peer_id(1)}));
}

TEST(Tenures, TheLargerEpochWinsThenTheLargerHolder) {
  const PeerId low = std::min(peer_id(1), peer_id(2)), high = std::max(peer_id(1), peer_id(2));
  Tenures tenures(few_partitions);
  EXPECT_EQ(tenures.of(3), Tenure{}) << "epoch 0: nobody is known to have held it";
  EXPECT_TRUE(tenures.merge(3, {1, low}));
  EXPECT_FALSE(tenures.merge(3, {1, low})) << "no news";
  EXPECT_TRUE(tenures.merge(3, {1, high})) << "of two take-overs at once one is valid for everybody";
  EXPECT_FALSE(tenures.merge(3, {1, low}));
  EXPECT_TRUE(tenures.merge(3, {2, low}));
  EXPECT_FALSE(tenures.merge(3, {1, high}));
  EXPECT_EQ(tenures.of(3), (Tenure{2, low}));
  EXPECT_EQ(tenures.known(), 1u);
  EXPECT_EQ(tenures.all(), (std::vector<PartitionTenure>{{3, {2, low}}}));
  EXPECT_EQ(tenures.held_by(low), 1u);
  EXPECT_EQ(tenures.held_by(high), 0u);
  EXPECT_EQ(tenures.held_by(PeerId{}), 0u) << "what nobody holds is not held by the peer of zeros";
}

TEST(Tenures, BadInput_PartitionsThatTheRingDoesNotHaveAreNoNews) {
  Tenures tenures(few_partitions);
  EXPECT_FALSE(tenures.merge(few_partitions, {1, peer_id(1)}));
  EXPECT_FALSE(tenures.merge(65535, {1, peer_id(1)}));
  EXPECT_FALSE(tenures.merge(0, {0, PeerId{}}));
  EXPECT_TRUE(tenures.all().empty());
  EXPECT_EQ(tenures.fingerprint(), Tenures(few_partitions).fingerprint());
  EXPECT_FALSE(tenures.contains(few_partitions));
  EXPECT_TRUE(tenures.contains(few_partitions - 1));
}

TEST(Tenures, AnyOrderDoubledAndInPiecesGivesTheSameTable) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 2'000; ++round) {
    std::vector<PartitionTenure> history;
    for (std::size_t i = below(random, 40); i > 0; --i) history.push_back(random_tenure(random));
    Table twin;
    for (const auto& [partition, tenure] : history) {
      auto& known = twin[partition];
      known = std::max(known, {tenure.epoch, tenure.holder.bytes});
    }
    Tenures straight(few_partitions);
    merge_all(straight, history);
    ASSERT_EQ(table_of(straight), twin) << "round " << round;

    std::vector<PartitionTenure> doubled = history;
    doubled.insert(doubled.end(), history.begin(), history.end());
    std::shuffle(doubled.begin(), doubled.end(), random);
    Tenures shuffled(few_partitions);
    merge_all(shuffled, doubled);
    ASSERT_EQ(table_of(shuffled), twin);
    ASSERT_EQ(shuffled.fingerprint(), straight.fingerprint()) << "the way there does not show";

    // Three tables that meet: (a + b) + c = a + (b + c) = (c + a) + b, and a repetition changes nothing.
    std::vector<std::vector<PartitionTenure>> pieces(3);
    for (const PartitionTenure& tenure : history) pieces[below(random, 3)].push_back(tenure);
    const auto joined = [&](std::size_t first, std::size_t second, std::size_t third) {
      Tenures inner(few_partitions), outer(few_partitions);
      merge_all(inner, pieces[first]);
      merge_all(outer, pieces[second]);
      merge_all(inner, outer.all());
      merge_all(outer, pieces[third]);
      merge_all(inner, outer.all());
      return inner;
    };
    for (const auto& [a, b, c] : std::vector<std::array<std::size_t, 3>>{{0, 1, 2}, {2, 0, 1}, {1, 2, 0}}) {
      Tenures met = joined(a, b, c);
      ASSERT_EQ(table_of(met), twin);
      ASSERT_EQ(met.fingerprint(), straight.fingerprint());
      for (const auto& [partition, tenure] : straight.all()) ASSERT_FALSE(met.merge(partition, tenure));
    }
  }
}

TEST(Tenures, MergeTellsNewsExactlyWhenTheTableChanges) {
  std::mt19937_64 random(2);
  for (int round = 0; round < 300; ++round) {
    Tenures tenures(few_partitions);
    for (int step = 0; step < 60; ++step) {
      const Table before = table_of(tenures);
      const std::uint64_t fingerprint = tenures.fingerprint();
      const auto [partition, tenure] = random_tenure(random);
      const bool news = tenures.merge(partition, tenure);
      ASSERT_EQ(news, table_of(tenures) != before);
      ASSERT_EQ(news, tenures.fingerprint() != fingerprint);
      std::size_t held = 0;
      for (std::size_t peer = 0; peer < 4; ++peer) held += tenures.held_by(peer_id(peer));
      ASSERT_EQ(held, tenures.all().size());
    }
  }
}

TEST(Tenures, FingerprintsAreEqualExactlyWhenTheTablesAre) {
  std::mt19937_64 random(3);
  std::map<std::uint64_t, Table> seen;
  std::map<Table, std::uint64_t> of_table;
  std::size_t again = 0;
  for (int round = 0; round < 20'000; ++round) {
    Tenures tenures(few_partitions);
    for (std::size_t i = below(random, 4); i > 0; --i) {
      PartitionTenure tenure = random_tenure(random);
      tenure.partition = static_cast<Partition>(tenure.partition % 3);
      tenures.merge(tenure.partition, tenure.tenure);
    }
    const Table table = table_of(tenures);
    ASSERT_EQ(seen.emplace(tenures.fingerprint(), table).first->second, table);
    const auto [at, added] = of_table.emplace(table, tenures.fingerprint());
    ASSERT_EQ(at->second, tenures.fingerprint());
    if (!added) ++again;
  }
  EXPECT_GT(seen.size(), 500u);
  EXPECT_GT(again, 5'000u) << "both ways must come up";
}

// By ranges: those that differ, and no others, whatever the order in which the tables were filled.
TEST(Tenures, RangesDifferExactlyWhereTheirRowsDo) {
  std::mt19937_64 random(4);
  constexpr std::uint32_t partitions = 1024;
  Tenures one(partitions);
  Tenures other(partitions);
  EXPECT_EQ(one.sums().size(), max_tenure_ranges);
  EXPECT_EQ(one.partitions_a_range(), 4u);
  std::size_t differed = 0;
  for (int round = 0; round < 2'000; ++round) {
    Tenures& written = below(random, 2) == 0 ? one : other;
    written.merge(static_cast<Partition>(below(random, partitions)), {1 + below(random, 3), peer_id(below(random, 4))});
    std::vector<std::uint16_t> expected;
    for (std::size_t range = 0; range < max_tenure_ranges; ++range) {
      const auto own = one.rows(range);
      if (!std::equal(own.begin(), own.end(), other.rows(range).begin()))
        expected.push_back(static_cast<std::uint16_t>(range));
    }
    ASSERT_EQ(one.differing(other.sums()), expected);
    differed += expected.size();
    // Now and then a range of one becomes the other's.
    if (expected.empty() || below(random, 3) > 0) continue;
    const std::uint16_t range = expected[below(random, expected.size())];
    for (std::size_t i = 0; i < 4; ++i) {
      const auto partition = static_cast<Partition>(range * 4 + i);
      one.merge(partition, other.of(partition));
      other.merge(partition, one.of(partition));
    }
    ASSERT_EQ(one.sums()[range], other.sums()[range]);
  }
  EXPECT_GT(differed, 1'000u);
}

TEST(Tenures, FewPartitionsHaveARangeEach_AndSumsOfAnotherSizeDifferNowhere) {
  Tenures tenures(16);
  EXPECT_EQ(tenures.sums().size(), 16u);
  tenures.merge(15, {1, peer_id(1)});
  EXPECT_EQ(tenures.differing(std::vector<std::uint64_t>(16)), (std::vector<std::uint16_t>{15}));
  EXPECT_TRUE(tenures.differing(std::vector<std::uint64_t>(15)).empty());
  EXPECT_TRUE(tenures.rows(16).empty());
  EXPECT_EQ(Tenures(65536).partitions_a_range(), 256u);
}

TEST(Tenures, WhatAPeerHoldsIsCountedAndSummedAsItChangesHands) {
  std::mt19937_64 random(5);
  Tenures tenures(few_partitions);
  for (int round = 0; round < 5'000; ++round) {
    const PartitionTenure next = random_tenure(random);
    tenures.merge(next.partition, next.tenure);
    if (round % 100 == 99) tenures = Tenures(few_partitions);
    std::uint64_t sum = 0;
    for (std::size_t peer = 0; peer < 4; ++peer) {
      const auto all = tenures.all();
      const auto held = std::count_if(all.begin(), all.end(),
                                      [&](const PartitionTenure& row) { return row.tenure.holder == peer_id(peer); });
      ASSERT_EQ(tenures.held_by(peer_id(peer)), static_cast<std::size_t>(held));
      ASSERT_EQ(tenures.sum_held_by(peer_id(peer)) == 0, held == 0);
      sum += tenures.sum_held_by(peer_id(peer));
    }
    ASSERT_EQ(sum, tenures.fingerprint());
    ASSERT_EQ(tenures.none(), tenures.all().empty());
  }
}

}  // namespace
}  // namespace orbweaver::ring
