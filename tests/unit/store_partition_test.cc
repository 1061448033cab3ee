// The data that storage::Store keeps of a partition as a whole: counts, digest tree, hosts; and its removal. Random
// histories are in store_history_test.cc.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "storage/store.h"
#include "tests/unit/crawl_keys.h"
#include "tests/unit/store_backends.h"

namespace orbweaver::storage {
namespace {

using test::at_ms;
using test::host_text;
using test::queued_merge;

class StorePartitionTest : public test::StoreOnEachBackend {
 protected:
  CommitResult commit(const test::CommitParts& parts) {
    auto result = store().commit(commit_of(parts));
    EXPECT_TRUE(result) << result.error().message;
    return result ? *result : CommitResult{};
  }
  // A record of a partition of the test's choice.
  static Merge in(std::uint16_t partition, std::size_t host, std::size_t page, UrlState state = UrlState::queued) {
    Merge merge = queued_merge(host, page);
    merge.key.host.partition = partition;
    merge.record.state = state;
    return merge;
  }
  static HostKey host_in(std::uint16_t partition, std::size_t host) { return in(partition, host, 0).key.host; }
  std::map<UrlKey, UrlRecord> all_of(std::uint16_t partition, std::size_t limit) {
    std::map<UrlKey, UrlRecord> found;
    for (std::optional<UrlKey> after;;) {
      const auto part = store().scan(partition, after ? &*after : nullptr, limit);
      EXPECT_TRUE(part);
      for (const Merge& merge : *part) EXPECT_TRUE(found.emplace(merge.key, merge.record).second);
      if (part->size() < limit) return found;
      after = part->back().key;
    }
  }
};

TEST_P(StorePartitionTest, HeldCountsArePartitionsThatAreHeld) {
  commit({.merges = {in(5, 1, 1), in(5, 1, 2, UrlState::fetched), in(6, 2, 1)}, .to_outbox = {{9, "a"}}});
  EXPECT_EQ(store().held(), (Counts{.outbox = 1}));
  store().hold(5, true);
  store().hold(5, true);  // again: no change
  EXPECT_EQ(store().held(), (Counts{.queued = 1, .fetched = 1, .outbox = 1}));
  EXPECT_EQ(store().counts(5), (Counts{.queued = 1, .fetched = 1}));
  store().hold(7, true);  // still empty
  commit({.merges = {in(7, 3, 1), in(6, 2, 2)}});
  EXPECT_EQ(store().held(), (Counts{.queued = 2, .fetched = 1, .outbox = 1}));
  EXPECT_EQ(store().counts(), (Counts{.queued = 4, .fetched = 1, .outbox = 1}));
  store().hold(5, false);
  store().hold(5, false);
  store().hold(8, false);  // never held
  EXPECT_EQ(store().held(), (Counts{.queued = 1, .outbox = 1}));
  EXPECT_EQ(store().counts(), (Counts{.queued = 4, .fetched = 1, .outbox = 1}));
  reopen();
  EXPECT_EQ(store().held(), (Counts{.outbox = 1})) << "not kept on disk";
  EXPECT_EQ(store().counts(7), (Counts{.queued = 1}));
}

TEST_P(StorePartitionTest, AHeldPartitionThatIsEmptiedStaysHeld) {
  store().hold(5, true);
  commit({.merges = {in(5, 1, 1)}});
  EXPECT_TRUE(*store().drop(5, 10));
  EXPECT_EQ(store().held(), Counts{});
  commit({.merges = {in(5, 1, 2)}});
  EXPECT_EQ(store().held(), (Counts{.queued = 1}));
}

TEST_P(StorePartitionTest, TheRootIsTheSumOfTheLeavesAndOfTheRecordsDigests) {
  EXPECT_EQ(store().root(5), 0u);
  std::uint64_t sum = 0;
  Leaves leaves{};
  for (std::size_t page = 0; page < 50; ++page) {
    const Merge merge = in(5, page % 7, page, page % 3 == 0 ? UrlState::fetched : UrlState::queued);
    commit({.merges = {merge, in(6, page, page)}});
    const std::uint64_t digest = record_digest(merge.key.url, merge.record);
    sum += digest;
    leaves[merge.key.url[0]] += digest;
    ASSERT_EQ(store().root(5), sum);
  }
  EXPECT_EQ(*store().leaves(5), leaves);
  const std::uint64_t before = store().root(5);
  commit({.merges = {in(5, 1, 1)}});
  EXPECT_EQ(store().root(5), before) << "what is known changes nothing";
  reopen();
  EXPECT_EQ(store().root(5), sum);
  EXPECT_EQ(*store().leaves(5), leaves);
}

TEST_P(StorePartitionTest, RootsAreEqualExactlyWhenTheRecordsAre) {
  const std::vector<Merge> records = {in(5, 1, 1), in(5, 2, 1, UrlState::fetched), in(5, 3, 1, UrlState::failed)};
  // The same records in another store, in reverse order and doubled, with older versions first.
  MemoryKv kv;
  Store other = *Store::open(kv);
  const auto merge_there = [&](const Merge& merge) { ASSERT_TRUE(other.commit(test::commit_of({.merges = {merge}}))); };
  commit({.merges = records});
  merge_there(in(5, 2, 1));
  merge_there(records[2]);
  merge_there(records[1]);
  EXPECT_NE(other.root(5), store().root(5)) << "one is missing";
  merge_there(records[2]);
  merge_there(records[0]);
  EXPECT_EQ(other.root(5), store().root(5));
  EXPECT_EQ(*other.leaves(5), *store().leaves(5));
  Merge deeper = records[1];
  deeper.record.since = at_ms(1);
  merge_there(deeper);
  EXPECT_NE(other.root(5), store().root(5));
  const Leaves ours = *store().leaves(5), theirs = *other.leaves(5);
  for (std::size_t leaf = 0; leaf < ours.size(); ++leaf)
    EXPECT_EQ(ours[leaf] == theirs[leaf], leaf != deeper.key.url[0]) << "only the leaf of what differs";
}

TEST_P(StorePartitionTest, ScanHandsOverDropTakesAwayAndMergeBringsBack) {
  test::CommitParts parts;
  std::map<UrlKey, UrlRecord> wanted;
  for (std::size_t host = 0; host < 12; ++host)
    for (std::size_t page = 0; page < 4; ++page) {
      parts.merges.push_back(in(5, host, page, page == 0 ? UrlState::fetched : UrlState::queued));
      wanted[parts.merges.back().key] = parts.merges.back().record;
    }
  parts.merges.push_back(in(6, 1, 1));
  parts.clocks = {{host_in(5, 1), {at_ms(7), 1, host_text(1)}}, {host_in(6, 1), {at_ms(7), 1, host_text(1)}}};
  parts.robots = {{host_in(5, 1), "http://" + host_text(1), {at_ms(1), at_ms(2), 1, "rules"}}};
  commit(parts);
  const std::uint64_t root = store().root(5);
  EXPECT_EQ(store().partitions(), (std::vector<std::uint16_t>{5, 6}));
  EXPECT_EQ(all_of(5, 7), wanted);
  std::size_t steps = 1;
  for (; !*store().drop(5, 7); ++steps) {
    ASSERT_LT(steps, 100u);
    EXPECT_EQ(store().counts(5).discovered(), wanted.size() - 7 * steps) << "at most so many in one write";
    EXPECT_EQ(all_of(5, 100).size(), wanted.size() - 7 * steps);
  }
  EXPECT_EQ(steps, 7u);
  EXPECT_TRUE(*store().drop(5, 1)) << "nothing of it is left";
  EXPECT_EQ(store().partitions(), (std::vector<std::uint16_t>{6}));
  EXPECT_EQ(store().root(5), 0u);
  EXPECT_EQ(*store().leaves(5), Leaves{});
  EXPECT_TRUE(store().hosts_of(5, {}, 10)->empty());
  EXPECT_FALSE(*store().clock(host_in(5, 1)));
  EXPECT_TRUE(*store().clock(host_in(6, 1))) << "another partition's";
  EXPECT_EQ(store().counts(), (Counts{.queued = 1}));
  EXPECT_EQ(test::rows_of(kv(), Table::frontier).size(), 1u);
  reopen();
  EXPECT_EQ(store().counts(), (Counts{.queued = 1}));
  // When its records are handed back, the partition is as it was: a merge is a merge.
  test::CommitParts back;
  for (const auto& [key, record] : wanted) back.merges.push_back({key, record});
  commit(back);
  EXPECT_EQ(all_of(5, 10), wanted);
  EXPECT_EQ(store().root(5), root);
}

TEST_P(StorePartitionTest, HostsComeByPagesWithTheirClocksAndRobots) {
  test::CommitParts parts;
  for (std::size_t host = 0; host < 9; ++host) {
    parts.clocks.emplace_back(host_in(5, host), HostClock{at_ms(static_cast<std::int64_t>(host)), 2, host_text(host)});
    for (const char* scheme : {"http://", "https://"})
      parts.robots.emplace_back(host_in(5, host), scheme + host_text(host), RobotsEntry{at_ms(1), at_ms(2), 3, "body"});
  }
  parts.clocks.emplace_back(host_in(6, 1), HostClock{at_ms(1), 2, host_text(1)});
  commit(parts);
  for (const std::size_t limit : {1u, 4u, 27u, 100u}) {
    std::size_t clocks = 0, robots = 0;
    std::set<std::string> rows;
    for (std::string after;;) {
      const auto part = store().hosts_of(5, after, limit);
      ASSERT_TRUE(part);
      ASSERT_LE(part->size(), limit);
      for (const HostRow& row : *part) {
        after = row.row;
        EXPECT_TRUE(rows.insert(row.row).second);
        EXPECT_EQ(row.host.partition, 5);
        if (row.clock) {
          ++clocks;
          EXPECT_EQ(host_in(5, static_cast<std::size_t>(row.clock->next_allowed.time_since_epoch().count() / 1000)),
                    row.host);
        }
        if (row.robots) {
          ++robots;
          EXPECT_EQ(*row.robots, (RobotsEntry{at_ms(1), at_ms(2), 3, "body"}));
          EXPECT_EQ(*store().robots(row.host, row.origin), *row.robots);
        }
      }
      if (part->size() < limit) break;
    }
    EXPECT_EQ(clocks, 9u) << "limit " << limit;
    EXPECT_EQ(robots, 18u) << "limit " << limit;
  }
}

TEST_P(StorePartitionTest, ACommitTellsWhatItChangedForTheCopies) {
  commit({.merges = {in(5, 1, 1), in(5, 1, 2)}});
  const Merge fetched = in(5, 1, 1, UrlState::fetched), fresh = in(5, 1, 3);
  const CommitResult result = commit({.merges = {fetched, in(5, 1, 2), fresh}});
  std::map<UrlKey, UrlRecord> changed;
  for (const Merge& merge : result.changed) changed[merge.key] = merge.record;
  EXPECT_EQ(changed, (std::map<UrlKey, UrlRecord>{{fetched.key, fetched.record}, {fresh.key, fresh.record}}));
  EXPECT_EQ(result.unqueued, std::vector{fetched.key});
  // A joined copy is reported in its present form, with its text.
  Merge older = in(5, 1, 2);
  older.record.attempts = 2;
  older.record.not_before = at_ms(9);
  older.record.depth = 4;
  const CommitResult joined = commit({.merges = {older}});
  ASSERT_EQ(joined.changed.size(), 1u);
  EXPECT_EQ(joined.changed[0].record, merge(older.record, in(5, 1, 2).record));
  EXPECT_FALSE(joined.changed[0].record.url.empty());
}

TEST_P(StorePartitionTest, MetaRowsComeByPrefix) {
  commit({.meta = {{"tenure/a", "1"}, {"tenure/b", "2"}, {"tenure0", "3"}, {"tenur", "4"}}});
  EXPECT_EQ(*store().meta_rows("tenure/"), (std::vector<std::pair<std::string, std::string>>{{"a", "1"}, {"b", "2"}}));
  EXPECT_TRUE(store().meta_rows("nothing/")->empty());
}

TEST_P(StorePartitionTest, TheNextOutboxNumberIsTold) {
  const std::uint64_t first = store().next_outbox();
  const CommitResult result = commit({.to_outbox = {{5, "a"}, {6, "b"}}});
  EXPECT_EQ(result.outbox[0].key.sequence, first);
  EXPECT_EQ(store().next_outbox(), first + 2);
  commit({.from_outbox = {result.outbox[0].key, result.outbox[1].key}});
  reopen();
  EXPECT_EQ(store().next_outbox(), first + 2) << "a number is never given again";
}

INSTANTIATE_TEST_SUITE_P(Each, StorePartitionTest, testing::Values(test::Backend::memory, test::Backend::rocks),
                         test::backend_name);

}  // namespace
}  // namespace orbweaver::storage
