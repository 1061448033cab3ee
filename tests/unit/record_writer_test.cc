// A change of the store and its consequences in memory: the frontier, the outbox, the copies.
#include "node/replication/record_writer.h"

#include <gtest/gtest.h>

#include "tests/unit/peer_rig.h"

namespace orbweaver {
namespace {

class RecordWriterTest : public testing::Test {
 protected:
  explicit RecordWriterTest(Settings settings = rig_settings()) : rig_(std::move(settings)) {
    rig_.enter();
    storage::Commit commit;
    rig_.replication.partition_manager.learn(rig_.replication.partition_manager.make_ring(), commit);
  }
  storage::Commit page(const std::string& text, storage::UrlState state = storage::UrlState::queued) {
    const CanonicalUrl url = *CanonicalUrl::parse(text);
    storage::UrlRecord record;
    record.url = url.text();
    record.state = state;
    storage::Commit commit;
    commit.merges.push_back({{rig_.state.partitioner.host_key(url), url.digest()}, record});
    return commit;
  }

  PeerRig rig_;
};

class RecordWriterWithReplicas : public RecordWriterTest {
 protected:
  static Settings two_copies() {
    Settings settings = rig_settings();
    settings.replicas = 2;
    settings.max_outbox_records_in_memory = 4;
    return settings;
  }
  RecordWriterWithReplicas() : RecordWriterTest(two_copies()) {
    rig_.add_member(2, ring::MemberState::active);
    rig_.members.accept_changes(rig_.now);
  }
  // The records that left for other peers since the last call; no peer answers.
  std::vector<storage::UrlRecord> copied() {
    std::vector<BatchOut> out;
    for (int round = 0; round < 2; ++round) {  // what is met by the first is old enough for the second
      rig_.replication.replicator.tick(
          rig_.now, rig_.members.view(), rig_.replication.partition_manager.tenures(), [this] { return ++sequence_; },
          out);
      rig_.now += std::chrono::milliseconds(50);
    }
    std::vector<storage::UrlRecord> records;
    for (const BatchOut& batch : out)
      for (const ring::BatchRecord& record : batch.batch.records.list())
        records.push_back(*storage::decode_record(record.record));
    return records;
  }
  std::vector<storage::UrlState> copies() {
    std::vector<storage::UrlState> states;
    for (const storage::UrlRecord& record : copied()) states.push_back(record.state);
    return states;
  }

  std::vector<storage::Merge> fetched_;
  std::uint64_t sequence_ = 0;
};

TEST_F(RecordWriterTest, WhatIsQueuedIsInTheFrontier) {
  ASSERT_TRUE(rig_.writer.commit(rig_.step(), page("http://a.test/")));
  EXPECT_EQ(rig_.bench.hosts(), 1u);
  EXPECT_FALSE(rig_.writer.memory_follows());
}

TEST_F(RecordWriterTest, EndsOfUrlsAreCountedByReason) {
  using storage::Reason;
  using storage::UrlState;
  const auto write = [&](const std::string& url, UrlState state, Reason reason, bool given = false) {
    storage::Commit commit = page(url, state);
    commit.merges.front().record.reason = reason;
    ASSERT_TRUE(rig_.writer.commit(rig_.step(), commit, {.given = given}));
  };
  write("http://a.test/1", UrlState::queued, Reason::none);
  EXPECT_TRUE(rig_.writer.outcomes().all().empty());
  write("http://a.test/1", UrlState::failed, Reason::dns);
  write("http://a.test/2", UrlState::failed, Reason::dns);
  write("http://a.test/2", UrlState::failed, Reason::dns);  // known
  write("http://a.test/3", UrlState::excluded, Reason::depth);
  write("http://a.test/4", UrlState::fetched, Reason::none);
  write("http://a.test/5", UrlState::failed, Reason::tls, true);  // another peer's
  const std::map<OutcomeCounts::Kind, std::uint64_t> wanted = {{{UrlState::failed, Reason::dns}, 2},
                                                               {{UrlState::excluded, Reason::depth}, 1},
                                                               {{UrlState::fetched, Reason::none}, 1}};
  EXPECT_EQ(rig_.writer.outcomes().all(), wanted);
  EXPECT_EQ(rig_.writer.outcomes().in(UrlState::failed), 2u);
  const auto all = rig_.writer.outcomes().with_all_reasons();
  EXPECT_EQ(all.at({UrlState::failed, Reason::dns}), 2u);
  EXPECT_EQ(all.at({UrlState::failed, Reason::timeout}), 0u);
  EXPECT_EQ(all.at({UrlState::excluded, Reason::robots_timeout}), 0u);
  EXPECT_EQ(all.at({UrlState::fetched, Reason::noindex}), 0u);
  EXPECT_EQ(all.count({UrlState::failed, Reason::robots}), 0u);
}

TEST_F(RecordWriterTest, WhenTheStoreFailsNothingFollows) {
  rig_.kv.fail_after(0, storage::ErrorKind::io);
  const auto done = rig_.writer.commit(rig_.step(), page("http://a.test/"));
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, ErrorCode::io);
  EXPECT_EQ(rig_.bench.hosts(), 0u);
  EXPECT_FALSE(rig_.writer.memory_follows());
}

TEST_F(RecordWriterWithReplicas, AQueuedRecordIsCopiedAtOnceAndAnOutcomeAfterWhatItBrought) {
  storage::Commit fetched = page("http://a.test/", storage::UrlState::fetched);
  const storage::UrlKey key = fetched.merges[0].key;
  ASSERT_TRUE(rig_.writer.commit(rig_.step(), page("http://a.test/")));
  EXPECT_EQ(rig_.replication.replicator.issued(), 1u);
  ASSERT_TRUE(rig_.writer.commit(rig_.step(), fetched, {.outcome = &key}));
  EXPECT_TRUE(rig_.replication.replicator.waits(key)) << "the record before it has no copy yet";
  EXPECT_FALSE(rig_.replication.replicator.idle());
}

TEST_F(RecordWriterWithReplicas, APageThatWasNotFetchedLeavesNobodyWaiting) {
  storage::Commit failed = page("http://a.test/", storage::UrlState::failed);
  const storage::UrlKey key = failed.merges[0].key;
  ASSERT_TRUE(rig_.writer.commit(rig_.step(), failed, {.outcome = &key}));
  EXPECT_EQ(rig_.replication.dependents.size(), 0u);
  EXPECT_FALSE(rig_.replication.replicator.waits(key));
}

// F12: beyond the bound an outcome is not copied; until it is filled its page goes to others as queued.
TEST_F(RecordWriterWithReplicas, TooManyOutcomesUnsettle) {
  const auto commit = [&](const std::string& url) {
    storage::Commit fetched = page(url, storage::UrlState::fetched);
    fetched.merges[0].record.since = rig_.now;
    fetched.to_outbox.emplace_back(fetched.merges[0].key.host.partition, "a link");
    const storage::UrlKey key = fetched.merges[0].key;
    ASSERT_TRUE(rig_.writer.commit(rig_.step(), fetched, {.outcome = &key}));
    fetched_.push_back(fetched.merges[0]);
  };
  const std::uint32_t most = rig_.state.settings.max_outbox_records_in_memory;
  for (std::uint32_t i = 0; i < most; ++i) commit("http://a.test/" + std::to_string(i));
  EXPECT_TRUE(rig_.replication.copied_until.settled());
  commit("http://a.test/last");
  EXPECT_FALSE(rig_.replication.copied_until.settled());
  EXPECT_TRUE(rig_.replication.copied_until.any_unsent());
  EXPECT_FALSE(rig_.replication.replicator.waits(fetched_.front().key));
  EXPECT_EQ(rig_.replication.outcome(fetched_.front()), Transfers::Outcome::next_fill);
}

// Who has all pages of a partition fetched does not read its robots.txt again, and would never find the sitemap.
TEST_F(RecordWriterWithReplicas, AnOutcomeWaitsForTheSitemapsThatARobotsTxtOfItsPartitionNames) {
  storage::Commit fetched = page("http://a.test/", storage::UrlState::fetched);
  const storage::UrlKey key = fetched.merges[0].key;
  storage::Commit robots;
  robots.robots.emplace_back(key.host, "http://a.test", storage::RobotsEntry{});
  robots.to_outbox.emplace_back(key.host.partition, "a sitemap");
  Replication& replication = rig_.replication;
  const Dependents::Id sitemaps = replication.begin_sitemaps(key.host.partition);
  const auto named = rig_.writer.commit(rig_.step(), robots, {.dependent = sitemaps});
  ASSERT_TRUE(named && named->outbox.size() == 1);
  replication.dependents.close(sitemaps);
  EXPECT_TRUE(replication.sitemaps_wait(key.host.partition));
  EXPECT_FALSE(replication.sitemaps_wait(static_cast<ring::Partition>(key.host.partition ^ 1u)));
  ASSERT_TRUE(rig_.writer.commit(rig_.step(), fetched, {.outcome = &key}));
  EXPECT_TRUE(copies().empty());
  // Another robots.txt of the partition, without any.
  replication.dependents.close(replication.begin_sitemaps(key.host.partition));
  EXPECT_TRUE(copies().empty());

  storage::Commit acknowledged;
  acknowledged.from_outbox.push_back(named->outbox[0].key);
  ASSERT_TRUE(rig_.writer.commit(rig_.step(), acknowledged));
  EXPECT_FALSE(replication.sitemaps_wait(key.host.partition));
  EXPECT_EQ(copies(), std::vector{storage::UrlState::fetched});
  EXPECT_EQ(replication.dependents.size(), 0u);
}

// Links whose owner this peer has become: they left the outbox, and have no copy yet.
TEST_F(RecordWriterWithReplicas, WhoWaitedForALinkThatTurnedOutToBeOwnWaitsForItsCopy) {
  storage::Commit fetched = page("http://a.test/", storage::UrlState::fetched);
  const storage::UrlKey key = fetched.merges[0].key;
  fetched.to_outbox.emplace_back(key.host.partition, "a link");
  const auto done = rig_.writer.commit(rig_.step(), fetched, {.outcome = &key});
  ASSERT_TRUE(done && done->outbox.size() == 1);
  storage::Commit own = page("http://b.test/");
  own.from_outbox.push_back(done->outbox[0].key);
  ASSERT_TRUE(rig_.writer.commit(rig_.step(), own));
  EXPECT_TRUE(rig_.replication.dependents.take_met(Dependents::Kind::outcome).empty());
}

// Its links would be on this disk alone while another peer takes the page as fetched.
TEST_F(RecordWriterWithReplicas, APageThatLinksToItselfDoesNotSendItsOutcomeBeforeItsLinks) {
  storage::Commit fetched = page("http://a.test/", storage::UrlState::fetched);
  const storage::UrlKey key = fetched.merges[0].key;
  ASSERT_TRUE(rig_.writer.commit(rig_.step(), page("http://a.test/")));
  ASSERT_FALSE(rig_.replication.partition_manager.copies_whole(key.host.partition, rig_.members.view()));
  fetched.merges.push_back(page("http://a.test/").merges[0]);
  fetched.merges.back().link = true;
  fetched.to_outbox.emplace_back(key.host.partition, "a link");
  ASSERT_TRUE(rig_.writer.commit(rig_.step(), fetched, {.outcome = &key}));
  EXPECT_TRUE(rig_.replication.replicator.waits(key));
  EXPECT_EQ(copies(), std::vector<storage::UrlState>{storage::UrlState::queued});
}

// Another link that was known goes as it is stored, so that its sender may rely on its copies.
TEST_F(RecordWriterWithReplicas, AKnownLinkThatMayLackCopiesIsCopiedOnceMore) {
  ASSERT_TRUE(rig_.writer.commit(rig_.step(), page("http://a.test/1", storage::UrlState::failed)));
  EXPECT_EQ(copies(), std::vector<storage::UrlState>{storage::UrlState::failed});
  storage::Commit fetched = page("http://a.test/", storage::UrlState::fetched);
  const storage::UrlKey key = fetched.merges[0].key;
  fetched.merges.push_back(page("http://a.test/1").merges[0]);
  fetched.to_outbox.emplace_back(key.host.partition, "a link");
  ASSERT_TRUE(rig_.writer.commit(rig_.step(), fetched, {.outcome = &key}));
  EXPECT_EQ(copies(), std::vector<storage::UrlState>{storage::UrlState::failed});
}

// "Not modified": its links are those of the visit before. Where they may lack copies, a fill brings it.
TEST_F(RecordWriterWithReplicas, ANotModifiedPageWaitsForAFillWhileItsLinksMayLackCopies) {
  storage::Commit fetched = page("http://a.test/", storage::UrlState::fetched);
  const storage::UrlKey key = fetched.merges[0].key;
  fetched.merges[0].record.status = 304;
  fetched.merges[0].record.since = rig_.now;
  ASSERT_TRUE(rig_.replication.copied_until.restore("", rig_.now));
  ASSERT_FALSE(rig_.replication.copied_until.settled());
  ASSERT_TRUE(rig_.writer.commit(rig_.step(), fetched, {.outcome = &key}));
  EXPECT_FALSE(rig_.replication.replicator.waits(key)) << "its outcome does not leave by itself";
  EXPECT_EQ(rig_.replication.dependents.size(), 0u);
  EXPECT_EQ(copies(), std::vector<storage::UrlState>{});
  EXPECT_TRUE(rig_.replication.copied_until.any_unsent());
  EXPECT_NE(rig_.replication.outcome(fetched.merges[0]), Transfers::Outcome::leaves);
}

TEST_F(RecordWriterWithReplicas, ANotModifiedPageLeavesAfterTheVisitThatBroughtItsLinks) {
  const auto visit = [&](std::uint16_t number, std::uint16_t status, bool with_link) {
    storage::Commit fetched = page("http://a.test/", storage::UrlState::fetched);
    fetched.merges[0].record.visit = number;
    fetched.merges[0].record.status = status;
    fetched.merges[0].record.since = rig_.now + std::chrono::seconds(number);
    if (with_link) fetched.to_outbox.emplace_back(fetched.merges[0].key.host.partition, "a link");
    const storage::UrlKey key = fetched.merges[0].key;
    ASSERT_TRUE(rig_.writer.commit(rig_.step(), fetched, {.outcome = &key}));
  };
  visit(0, 304, false);
  EXPECT_FALSE(rig_.replication.copied_until.any_unsent()) << "all its links have their copies";
  EXPECT_EQ(copies(), std::vector<storage::UrlState>{storage::UrlState::fetched});
  visit(1, 200, true);
  EXPECT_TRUE(rig_.replication.replicator.waits(page("http://a.test/").merges[0].key));
  visit(2, 304, false);
  EXPECT_TRUE(rig_.replication.copied_until.any_unsent());
  EXPECT_EQ(copies(), std::vector<storage::UrlState>{}) << "neither outcome has left";
}

// Else a copy keeps it as queued for ever, or says that it is done while the links of its last visit are here alone.
TEST_F(RecordWriterWithReplicas, AVisitThatEndsWithoutAFetchWaitsForAFillWhileTheOneBeforeWaits) {
  storage::Commit fetched = page("http://a.test/", storage::UrlState::fetched);
  const storage::UrlKey key = fetched.merges[0].key;
  fetched.merges[0].record.since = rig_.now;
  fetched.to_outbox.emplace_back(key.host.partition, "a link");
  ASSERT_TRUE(rig_.writer.commit(rig_.step(), fetched, {.outcome = &key}));
  ASSERT_TRUE(rig_.replication.replicator.waits(key));
  storage::Commit excluded = page("http://a.test/", storage::UrlState::excluded);
  excluded.merges[0].record.visit = 1;
  ASSERT_TRUE(rig_.writer.commit(rig_.step(), excluded));
  EXPECT_EQ(copies(), std::vector<storage::UrlState>{storage::UrlState::queued});
  EXPECT_TRUE(rig_.replication.copied_until.any_unsent());
  EXPECT_EQ(rig_.replication.outcome(excluded.merges[0]), Transfers::Outcome::next_fill);
}

// Another peer would be told "not modified", and never find the links of the last visit.
TEST_F(RecordWriterWithReplicas, APageToBeVisitedAgainGoesWithoutItsValidatorWhileItsLinksMayLackCopies) {
  storage::Commit fetched = page("http://a.test/", storage::UrlState::fetched);
  const storage::UrlKey key = fetched.merges[0].key;
  fetched.merges[0].record.validator = "\"v1\"";
  fetched.to_outbox.emplace_back(key.host.partition, "a link");
  ASSERT_TRUE(rig_.writer.commit(rig_.step(), fetched, {.outcome = &key}));
  storage::Commit again = page("http://a.test/");
  again.merges[0].record.visit = 1;
  again.merges[0].record.validator = "\"v1\"";
  again.merges[0].record.not_before = rig_.now + std::chrono::minutes{1};
  ASSERT_TRUE(rig_.writer.commit(rig_.step(), again));
  EXPECT_EQ(rig_.replication.outcome(again.merges[0]), Transfers::Outcome::follows);
  ASSERT_FALSE(rig_.replication.partition_manager.copies_whole(key.host.partition, rig_.members.view()));
  ASSERT_TRUE(rig_.writer.commit(rig_.step(), page("http://a.test/"))) << "a link to it, which is known";
  storage::UrlRecord as_if_new = again.merges[0].record;
  as_if_new.validator.clear();
  EXPECT_EQ(copied(), (std::vector{as_if_new, as_if_new}));

  storage::Commit other = page("http://b.test/");
  other.merges[0].record.visit = 1;
  other.merges[0].record.validator = "\"v1\"";
  EXPECT_EQ(rig_.replication.outcome(other.merges[0]), Transfers::Outcome::leaves);
  ASSERT_TRUE(rig_.replication.copied_until.restore("", rig_.now));
  EXPECT_EQ(rig_.replication.outcome(other.merges[0]), Transfers::Outcome::next_fill) << "nobody knows of its links";
  other.merges[0].record.validator.clear();
  EXPECT_EQ(rig_.replication.outcome(other.merges[0]), Transfers::Outcome::leaves);
}

TEST_F(RecordWriterWithReplicas, ALongWaitIsCopiedAndAShortOneIsNot) {
  const storage::HostKey host = page("http://a.test/").merges[0].key.host;
  storage::Commit soon;
  soon.clocks.emplace_back(host, storage::HostClock{rig_.now, 0, "a.test", {}, 0, 0});
  ASSERT_TRUE(rig_.writer.commit(rig_.step(), soon));
  EXPECT_EQ(rig_.replication.replicator.issued(), 0u);
  storage::Commit late;
  late.clocks.emplace_back(host, storage::HostClock{rig_.now + std::chrono::hours{1}, 0, "a.test", {}, 0, 0});
  ASSERT_TRUE(rig_.writer.commit(rig_.step(), late));
  EXPECT_EQ(rig_.replication.replicator.issued(), 1u);
}

TEST_F(RecordWriterWithReplicas, CookiesAreCopiedAndTheirEndIsNot) {
  const storage::HostKey host = page("http://a.test/").merges[0].key.host;
  storage::Commit set;
  set.cookies.emplace_back(host, storage::SiteCookies{"a.test", 1, Time::max(), "jar"});
  ASSERT_TRUE(rig_.writer.commit(rig_.step(), set));
  EXPECT_EQ(rig_.replication.replicator.issued(), 1u);
  storage::Commit over;
  over.cookies.emplace_back(host, std::nullopt);
  ASSERT_TRUE(rig_.writer.commit(rig_.step(), over));
  EXPECT_EQ(rig_.replication.replicator.issued(), 1u);
}

}  // namespace
}  // namespace orbweaver
