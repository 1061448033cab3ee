// storage::Store over both stores of keys and values: the promises of each commit, one rule per test. Random histories
// are in store_history_test.cc.
#include "storage/store.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "tests/unit/crawl_keys.h"
#include "tests/unit/store_backends.h"

namespace orbweaver::storage {
namespace {

using test::at_ms;
using test::commit_of;
using test::host_key_of;
using test::queued_merge;
using test::queued_record;
using test::url_key_of;
using test::url_text;

class StoreTest : public test::StoreOnEachBackend {
 protected:
  CommitResult commit(const test::CommitParts& parts) {
    auto result = store().commit(commit_of(parts));
    EXPECT_TRUE(result) << result.error().message;
    return result ? *result : CommitResult{};
  }
  CommitResult merge_one(const Merge& merge) { return commit({.merges = {merge}}); }
  std::vector<QueuedUrl> queue(std::size_t host, const Position* after = nullptr, std::size_t limit = 1000) {
    auto found = store().queue_head(host_key_of(host), after, limit);
    EXPECT_TRUE(found) << found.error().message;
    return found ? *found : std::vector<QueuedUrl>{};
  }
  std::vector<std::string> queued_texts(std::size_t host) {
    std::vector<std::string> texts;
    for (const QueuedUrl& url : queue(host)) texts.push_back(url.url);
    return texts;
  }
  UrlState state_of(std::size_t host, std::size_t page) {
    const auto found = store().find(url_key_of(host, page));
    EXPECT_TRUE(found && *found);
    return found && *found ? (*found)->state : UrlState{};
  }
};

Merge outcome(std::size_t host, std::size_t page, UrlState state, Reason reason, std::int64_t since_ms) {
  Merge merge = queued_merge(host, page);
  merge.record.state = state;
  merge.record.reason = reason;
  merge.record.since = at_ms(since_ms);
  return merge;
}

Merge retry(std::size_t host, std::size_t page, std::uint8_t attempts, std::int64_t not_before_ms) {
  Merge merge = queued_merge(host, page);
  merge.record.reason = Reason::timeout;
  merge.record.not_before = at_ms(not_before_ms);
  merge.record.attempts = attempts;
  return merge;
}

// Only this disk knows it: two copies of a partition are equal, whoever fetched its pages.
TEST_P(StoreTest, WhoFetchedAPageIsKeptAndChangesNothingElse) {
  Merge here = outcome(1, 1, UrlState::fetched, Reason::none, 5);
  const Merge elsewhere = here;
  here.record.fetched_here = true;
  merge_one(here);
  EXPECT_EQ(merge_one(elsewhere).outcomes.front(), MergeOutcome::known);
  reopen();
  EXPECT_TRUE((*store().find(here.key))->fetched_here);
  EXPECT_TRUE(store().scan(here.key.host.partition, nullptr, 10)->front().record.fetched_here);
  std::string bytes;
  std::string others;
  encode_record(here.record, bytes);
  encode_record(elsewhere.record, others);
  EXPECT_EQ(bytes, others);
  EXPECT_EQ(record_digest(here.key.url, here.record), record_digest(here.key.url, elsewhere.record));

  Merge later = queued_merge(1, 1);
  later.record.visit = 1;
  merge_one(later);
  EXPECT_FALSE((*store().find(here.key))->fetched_here);
  const Merge other_page = outcome(1, 2, UrlState::fetched, Reason::none, 5);
  merge_one(other_page);
  EXPECT_FALSE((*store().find(other_page.key))->fetched_here);
}

TEST_P(StoreTest, AdmissionIsSeenAndQueuedAtOnce) {
  EXPECT_FALSE(*store().find(url_key_of(1, 1)));
  const CommitResult result = merge_one(queued_merge(1, 1, 3));
  ASSERT_EQ(result.outcomes, std::vector{MergeOutcome::added});
  ASSERT_EQ(result.queued.size(), 1u);
  EXPECT_FALSE(result.queued[0].moved);
  EXPECT_EQ(result.queued[0].url.url, url_text(1, 1));
  const auto queued = queue(1);
  ASSERT_EQ(queued.size(), 1u);
  EXPECT_EQ(queued[0].url, url_text(1, 1));
  EXPECT_EQ(queued[0].depth, 3);
  EXPECT_EQ(queued[0].key, url_key_of(1, 1));
  EXPECT_EQ(queued[0].position, result.queued[0].url.position);
  EXPECT_EQ(state_of(1, 1), UrlState::queued);
  EXPECT_EQ(store().counts(), (Counts{.queued = 1}));
}

TEST_P(StoreTest, WhatIsKnownChangesNothing) {
  merge_one(queued_merge(1, 1, 3));
  for (const std::uint16_t depth : std::initializer_list<std::uint16_t>{3, 4, 100}) {
    const CommitResult again = merge_one(queued_merge(1, 1, depth));
    EXPECT_EQ(again.outcomes, std::vector{MergeOutcome::known});
    EXPECT_TRUE(again.queued.empty());
  }
  EXPECT_EQ(store().counts(), (Counts{.queued = 1}));
  EXPECT_EQ(queue(1)[0].depth, 3);
}

TEST_P(StoreTest, Contract1_EachOutcomeLeavesTheQueueAndStays) {
  commit({.merges = {queued_merge(1, 1), queued_merge(1, 2), queued_merge(1, 3)}});
  const CommitResult result = commit(
      {.merges = {outcome(1, 1, UrlState::fetched, Reason::none, 5), outcome(1, 2, UrlState::failed, Reason::dns, 5),
                  outcome(1, 3, UrlState::excluded, Reason::robots, 5)}});
  EXPECT_EQ(result.outcomes, std::vector(3, MergeOutcome::changed));
  EXPECT_TRUE(result.queued.empty());
  EXPECT_TRUE(queue(1).empty());
  EXPECT_EQ(store().counts(), (Counts{.queued = 0, .fetched = 1, .failed = 1, .excluded = 1}));
  const auto record = store().find(url_key_of(1, 2));
  ASSERT_TRUE(record && *record);
  EXPECT_EQ(**record, outcome(1, 2, UrlState::failed, Reason::dns, 5).record);
  // A later link to it is not new.
  EXPECT_EQ(commit({.merges = {queued_merge(1, 1), queued_merge(1, 2), queued_merge(1, 3)}}).outcomes,
            std::vector(3, MergeOutcome::known));
  EXPECT_TRUE(queue(1).empty());
}

TEST_P(StoreTest, QueueIsByDepthThenByOrderOfAdmission) {
  for (const auto& [page, depth] : std::vector<std::pair<std::size_t, std::uint16_t>>{
           {1, 2}, {2, 0}, {3, 1}, {4, 0}, {5, 300}, {6, 2}, {7, 1}, {8, 256}})
    merge_one(queued_merge(1, page, depth));
  merge_one(queued_merge(2, 1));  // another host has another queue
  std::vector<std::string> wanted;
  for (const std::size_t page : {2, 4, 3, 7, 1, 6, 8, 5}) wanted.push_back(url_text(1, page));
  EXPECT_EQ(queued_texts(1), wanted);
}

TEST_P(StoreTest, RetriesComeAfterTheUntriedByTheTimeTheyAreDue) {
  commit({.merges = {queued_merge(1, 1), queued_merge(1, 2), queued_merge(1, 3), queued_merge(1, 4, 9)}});
  merge_one(retry(1, 1, 1, 9'000));
  const CommitResult result = merge_one(retry(1, 2, 1, 5'000));
  ASSERT_EQ(result.queued.size(), 1u);
  EXPECT_TRUE(result.queued[0].moved);
  EXPECT_EQ(result.queued[0].url.attempts, 1);
  EXPECT_EQ(result.queued[0].url.position.untried(), nullptr);
  EXPECT_EQ(result.queued[0].url.position.not_before(), at_ms(5'000));
  EXPECT_EQ(queued_texts(1), (std::vector{url_text(1, 3), url_text(1, 4), url_text(1, 2), url_text(1, 1)}));
  // Its next try fails too: it moves further back, and no row of the earlier place remains.
  merge_one(retry(1, 2, 2, 20'000));
  EXPECT_EQ(queued_texts(1), (std::vector{url_text(1, 3), url_text(1, 4), url_text(1, 1), url_text(1, 2)}));
  EXPECT_EQ(queue(1)[3].attempts, 2);
  EXPECT_EQ(store().counts().queued, 4u);
}

TEST_P(StoreTest, ARetryMayBeDueAtTheSameTimeAsAnother) {
  commit({.merges = {retry(1, 1, 1, 5'000), retry(1, 2, 1, 5'000), retry(1, 3, 1, 5'000)}});
  EXPECT_EQ(queue(1).size(), 3u);
}

TEST_P(StoreTest, ALesserDepthMovesAQueuedUrlForward) {
  merge_one(queued_merge(1, 1, 5));
  merge_one(queued_merge(1, 2, 3));
  const CommitResult result = merge_one(queued_merge(1, 1, 2));
  EXPECT_EQ(result.outcomes, std::vector{MergeOutcome::changed});
  ASSERT_EQ(result.queued.size(), 1u);
  EXPECT_TRUE(result.queued[0].moved);
  EXPECT_EQ(result.queued[0].url.depth, 2);
  EXPECT_EQ(queued_texts(1), (std::vector{url_text(1, 1), url_text(1, 2)}));
  EXPECT_EQ(store().counts().queued, 2u);
}

TEST_P(StoreTest, AUrlThatStaysInTheQueueKeepsItsPlace) {
  for (const std::size_t page : {1, 2, 3}) merge_one(queued_merge(1, page, 1));
  Merge again = queued_merge(1, 1, 1);
  again.record.not_before = at_ms(5);  // it was redirected to another form of itself
  EXPECT_EQ(merge_one(again).outcomes, std::vector{MergeOutcome::changed});
  EXPECT_EQ(queued_texts(1), (std::vector{url_text(1, 1), url_text(1, 2), url_text(1, 3)}));
}

TEST_P(StoreTest, ALesserDepthOfARetryKeepsItsTime) {
  merge_one(queued_merge(1, 1, 5));
  Merge later = retry(1, 1, 2, 7'000);
  later.record.depth = 5;
  merge_one(later);
  merge_one(queued_merge(1, 1, 2));
  const auto queued = queue(1);
  ASSERT_EQ(queued.size(), 1u);
  EXPECT_EQ(queued[0].depth, 2);
  EXPECT_EQ(queued[0].attempts, 2);
  EXPECT_EQ(queued[0].position.not_before(), at_ms(7'000)) << "a new link does not shorten the wait";
}

TEST_P(StoreTest, ExcludedForItsDepthIsQueuedByAShorterWay) {
  merge_one(outcome(1, 1, UrlState::excluded, Reason::depth, 5));
  EXPECT_EQ(store().counts(), (Counts{.excluded = 1}));
  EXPECT_TRUE(queue(1).empty());
  const CommitResult result = merge_one(queued_merge(1, 1, 1));
  EXPECT_EQ(result.outcomes, std::vector{MergeOutcome::changed});
  ASSERT_EQ(result.queued.size(), 1u);
  EXPECT_FALSE(result.queued[0].moved) << "it was not queued before";
  EXPECT_EQ(store().counts(), (Counts{.queued = 1}));
  EXPECT_EQ(queued_texts(1), std::vector{url_text(1, 1)});
}

TEST_P(StoreTest, OfSeveralWithOneKeyTheFirstTells) {
  const CommitResult result =
      commit({.merges = {queued_merge(1, 1, 5), queued_merge(2, 2), queued_merge(1, 1, 3), queued_merge(1, 1, 4)}});
  EXPECT_EQ(result.outcomes,
            (std::vector{MergeOutcome::added, MergeOutcome::added, MergeOutcome::known, MergeOutcome::known}));
  EXPECT_EQ(result.queued.size(), 2u);
  EXPECT_EQ(queue(1).size(), 1u);
  EXPECT_EQ(queue(1)[0].depth, 3);
  EXPECT_EQ(store().counts(), (Counts{.queued = 2}));
}

TEST_P(StoreTest, APageThatLinksToItselfIsFetchedOnce) {
  merge_one(queued_merge(1, 1));
  commit({.merges = {queued_merge(1, 1, 1), outcome(1, 1, UrlState::fetched, Reason::none, 5)}});
  EXPECT_EQ(store().counts(), (Counts{.queued = 0, .fetched = 1}));
  EXPECT_TRUE(queue(1).empty());
}

TEST_P(StoreTest, QueueHeadPagesThroughAHost) {
  std::vector<Merge> merges;
  for (std::size_t page = 0; page < 25; ++page)
    merges.push_back(queued_merge(1, page, static_cast<std::uint16_t>(page % 3)));
  commit({.merges = merges});
  commit({.merges = {retry(1, 3, 1, 1'000), retry(1, 4, 1, 2'000)}});
  const auto all = queue(1);
  ASSERT_EQ(all.size(), 25u);
  for (const std::size_t limit : {1u, 4u, 25u, 26u}) {
    std::vector<std::string> paged;
    std::optional<Position> after;
    for (;;) {
      const auto part = queue(1, after ? &*after : nullptr, limit);
      ASSERT_LE(part.size(), limit);
      for (const QueuedUrl& url : part) paged.push_back(url.url);
      if (part.size() < limit) break;
      after = part.back().position;
    }
    EXPECT_EQ(paged, queued_texts(1)) << "limit " << limit;
  }
}

TEST_P(StoreTest, QueuedHostsVisitsEachHostOnce) {
  EXPECT_FALSE(*store().queued_hosts().next(nullptr));
  std::set<HostKey> wanted;
  for (std::size_t host = 0; host < 40; ++host) {
    for (std::size_t url = 0; url <= host % 8; ++url) commit({.merges = {queued_merge(host, url)}});
    wanted.insert(host_key_of(host));
  }
  // Keys at the upper end, whose bytes are all 0xff.
  HostKey last{0xffff, {}};
  last.host.fill(0xff);
  merge_one({{last, url_key_of(1, 7).url}, queued_record(1, 7)});
  wanted.insert(last);
  merge_one(outcome(50, 1, UrlState::fetched, Reason::none, 1));  // nothing is queued there
  std::vector<HostKey> seen;
  QueuedHosts hosts = store().queued_hosts();
  for (std::optional<HostKey> after;;) {
    const auto next = hosts.next(after ? &*after : nullptr);
    ASSERT_TRUE(next);
    if (!*next) break;
    after = **next;
    seen.push_back(*after);
    ASSERT_LE(seen.size(), wanted.size());
  }
  EXPECT_EQ(seen, std::vector<HostKey>(wanted.begin(), wanted.end()));
  ASSERT_EQ(store().queue_head(last, nullptr, 10)->size(), 1u);
}

TEST_P(StoreTest, OutboxIsNumberedInOrderAndEmptiesByKey) {
  const CommitResult first = commit({.to_outbox = {{7, "a"}, {9, "b"}, {7, "c"}}});
  const CommitResult second = commit({.to_outbox = {{7, "d"}}});
  ASSERT_EQ(first.outbox.size(), 3u);
  EXPECT_EQ(store().counts().outbox, 4u);
  const auto texts = [&](std::uint16_t partition, std::uint64_t after, std::size_t limit) {
    std::string all;
    const auto found = store().outbox_of(partition, after, limit);
    EXPECT_TRUE(found);
    for (const OutboxEntry& entry : *found) all += entry.record;
    return all;
  };
  EXPECT_EQ(texts(7, 0, 10), "acd");
  EXPECT_EQ(texts(9, 0, 10), "b");
  EXPECT_EQ(texts(8, 0, 10), "");
  EXPECT_EQ(texts(7, 0, 2), "ac");
  EXPECT_EQ(texts(7, first.outbox[0].key.sequence, 10), "cd");
  commit({.from_outbox = {first.outbox[2].key, second.outbox[0].key}});
  EXPECT_EQ(texts(7, 0, 10), "a");
  EXPECT_EQ(store().counts().outbox, 2u);
  reopen();
  const CommitResult third = commit({.to_outbox = {{7, "e"}, {0xffff, "z"}}});
  EXPECT_EQ(texts(7, 0, 10), "ae") << "numbers go on after a restart";
  EXPECT_EQ(texts(0xffff, 0, 10), "z");
  EXPECT_EQ(store().counts().outbox, 4u);
}

TEST_P(StoreTest, AKeyTwiceInOneCommitCountsOnce) {
  const CommitResult added =
      commit({.merges = {queued_merge(1, 1), queued_merge(1, 2)}, .to_outbox = {{7, "a"}, {7, "b"}}});
  const OutboxKey key = added.outbox[0].key;
  commit({.from_outbox = {key, key}});
  EXPECT_EQ(store().counts().outbox, 1u);
  EXPECT_EQ(store().counts(), (Counts{.queued = 2, .outbox = 1}));
}

TEST_P(StoreTest, Contract3_ClocksAndRobotsComeBackAsTheyWere) {
  const HostClock clock{at_ms(123'456), 4, "h1.test"};
  const RobotsEntry rules{at_ms(1), at_ms(2), 3, std::string("Disallow: /\0x", 13)};
  const RobotsEntry other{
      .expires = at_ms(9), .kind = 3, .unreachable_since = at_ms(-5), .cause = Reason::http_status, .status = 503};
  commit({.clocks = {{host_key_of(1), clock}},
          .robots = {{host_key_of(1), "http://h1.test", rules}, {host_key_of(1), "https://h1.test:8443", other}}});
  reopen();
  EXPECT_EQ(*store().clock(host_key_of(1)), clock);
  EXPECT_FALSE(*store().clock(host_key_of(2)));
  const auto read = store().robots(host_key_of(1), "http://h1.test");
  ASSERT_TRUE(read && *read);
  EXPECT_EQ(**read, rules);
  EXPECT_EQ(*store().robots(host_key_of(1), "https://h1.test:8443"), other);
  EXPECT_FALSE(*store().robots(host_key_of(1), "https://h1.test"));
  EXPECT_FALSE(*store().robots(host_key_of(2), "http://h1.test"));
  EXPECT_EQ(store().counts(), Counts{});
}

TEST_P(StoreTest, MetaComesBack) {
  commit({.meta = {{"peer", "abc"}, {"seeds", std::string(100'000, 's')}}});
  reopen();
  EXPECT_EQ(*store().meta("peer"), "abc");
  EXPECT_EQ((*store().meta("seeds"))->size(), 100'000u);
  EXPECT_FALSE(*store().meta("nothing"));
}

TEST_P(StoreTest, AnEmptyCommitWritesNothing) {
  EXPECT_TRUE(commit({}).outcomes.empty());
  EXPECT_EQ(store().counts(), Counts{});
}

TEST_P(StoreTest, OtherFormatsAreRefusedByName) {
  ASSERT_TRUE(check_format(kv(), "the/directory")) << "a new store is marked";
  ASSERT_TRUE(check_format(kv(), "the/directory")) << "and read again";
  for (const std::string other : {"0", "1", "999", "", "1 ", "garbage"}) {
    KvBatch batch;
    batch.put(Table::meta, "format", other);
    ASSERT_TRUE(kv().write(batch));
    const auto checked = check_format(kv(), "the/directory");
    ASSERT_FALSE(checked) << "'" << other << "'";
    EXPECT_EQ(checked.error().kind, ErrorKind::version);
    EXPECT_NE(checked.error().message.find("the/directory"), std::string::npos);
    EXPECT_NE(checked.error().message.find("version"), std::string::npos);
  }
}

TEST_P(StoreTest, BadInput_CorruptRowsAreErrorsNotCrashes) {
  merge_one(queued_merge(1, 1));
  merge_one(outcome(1, 2, UrlState::fetched, Reason::none, 3));
  const auto rows = test::rows_of(kv(), Table::urls);
  ASSERT_EQ(rows.size(), 2u);
  // A row that is cut inside its head, or just after it, cannot be read.
  for (const auto& [key, value] : rows) {
    for (std::size_t size = 0; size <= record_head_bytes; ++size) {
      KvBatch batch;
      batch.put(Table::urls, key, value.substr(0, size));
      ASSERT_TRUE(kv().write(batch));
      const auto scanned = store().scan(host_key_of(1).partition, nullptr, 10);
      ASSERT_FALSE(scanned) << size;
      EXPECT_EQ(scanned.error().kind, ErrorKind::corrupt);
      const auto merged = store().commit(commit_of({.merges = {queued_merge(1, 1), queued_merge(1, 2)}}));
      ASSERT_FALSE(merged) << size;
      EXPECT_EQ(merged.error().kind, ErrorKind::corrupt);
    }
    KvBatch mended;
    mended.put(Table::urls, key, value);
    ASSERT_TRUE(kv().write(mended));
  }
  EXPECT_EQ(store().counts(), (Counts{.queued = 1, .fetched = 1}));
  for (const auto& [name, value] : test::rows_of(kv(), Table::meta)) {
    if (name == "format") continue;
    KvBatch batch;
    batch.put(Table::meta, name, "short");
    ASSERT_TRUE(kv().write(batch));
    const auto opened = Store::open(kv());
    ASSERT_FALSE(opened) << name;
    EXPECT_EQ(opened.error().kind, ErrorKind::corrupt);
    KvBatch mended;
    mended.put(Table::meta, name, value);
    ASSERT_TRUE(kv().write(mended));
  }
}

INSTANTIATE_TEST_SUITE_P(Each, StoreTest, testing::Values(test::Backend::memory, test::Backend::rocks),
                         test::backend_name);

}  // namespace
}  // namespace orbweaver::storage
