// Batches from other peers: taken whole or refused whole.
#include "node/links/batch_intake.h"

#include <gtest/gtest.h>

#include "node/frontier/fetch_verdict.h"
#include "tests/unit/peer_rig.h"

namespace orbweaver {
namespace {

class BatchIntakeTest : public testing::Test {
 protected:
  BatchIntakeTest() {
    seeds_.make_scope();
    rig_.enter();
    rig_.add_member(2, ring::MemberState::active);
  }
  static std::string record(const std::string& url, std::uint16_t depth) {
    storage::UrlRecord record;
    record.url = url;
    record.depth = depth;
    std::string bytes;
    storage::encode_record(record, bytes);
    return bytes;
  }
  Result<void> take(std::vector<std::string> records, ring::BatchKind kind = ring::BatchKind::forward) {
    std::vector<ring::BatchRecord> list;
    for (std::string& bytes : records) list.push_back({0, std::move(bytes)});
    ring::Batch batch;
    batch.sequence = 9;
    batch.kind = kind;
    batch.records = std::move(list);
    rig_.clear();
    return intake_.take(rig_.step(), rig_id(2), batch, {"route"});
  }
  std::uint64_t queued() { return rig_.store.counts().queued; }

  PeerRig rig_;
  SeedSet seeds_{rig_.state, rig_.members, rig_.messenger, rig_.writer, rig_.end};
  PartitionMoves moves_{rig_.state, rig_.members, rig_.messenger, rig_.replication, rig_.bench, rig_.writer};
  TrapRules rules_{rig_.state.settings};
  MirrorTable mirrors_{{.settings = rig_.state.settings,
                        .rules = rules_,
                        .store = rig_.store,
                        .view = rig_.members.view(),
                        .partitioner = rig_.state.partitioner,
                        .messenger = rig_.messenger,
                        .seeds = seeds_,
                        .writer = rig_.writer}};
  TrapJudge traps_{rig_.state.settings, rules_, rig_.store, rig_.state.stepped, mirrors_};
  RecrawlWalk walk_{rig_.store, rig_.state.canonicaliser, rig_.state.partitioner, rig_.state.stepped, rig_.writer};
  LinkRouter router_{{.settings = rig_.state.settings,
                      .store = rig_.store,
                      .view = rig_.members.view(),
                      .partitioner = rig_.state.partitioner,
                      .seeds = seeds_,
                      .traps = traps_,
                      .walk = walk_}};
  BatchIntake intake_{{.state = rig_.state,
                       .members = rig_.members,
                       .messenger = rig_.messenger,
                       .replication = rig_.replication,
                       .bench = rig_.bench,
                       .writer = rig_.writer,
                       .moves = moves_,
                       .seeds = seeds_,
                       .router = router_,
                       .walk = walk_,
                       .traps = traps_}};
};

TEST_F(BatchIntakeTest, LinksAreQueuedAndTheSenderIsTold) {
  ASSERT_TRUE(take({record("http://a.test/x", 1), record("http://b.test/y", 2)}));
  EXPECT_EQ(queued(), 2u);
  EXPECT_EQ(rig_.sent<ring::BatchAck>().size(), 1u);
  EXPECT_EQ(intake_.counters().batches, 1u);
  EXPECT_EQ(intake_.counters().records, 2u);
}

TEST_F(BatchIntakeTest, ARecordThatCannotBeReadIsLeftOutAndNamed) {
  ASSERT_TRUE(take({"rubbish", record("http://a.test/x", 1), record("not a URL", 1)}));
  EXPECT_EQ(queued(), 1u);
  EXPECT_EQ(intake_.counters().malformed, 2u);
  EXPECT_TRUE(rig_.logged("malformed record"));
}

TEST_F(BatchIntakeTest, AUrlEntersInTheCrawlsOwnForm) {
  ASSERT_TRUE(take({record("HTTP://A.test:80/x/../y#f", 1)}));
  const CanonicalUrl url = *CanonicalUrl::parse("http://a.test/y");
  EXPECT_TRUE(*rig_.store.find({rig_.state.partitioner.host_key(url), url.digest()}));
}

TEST_F(BatchIntakeTest, ALinkOfDepthZeroIsASeed) {
  ASSERT_TRUE(take({record("http://a.test/", 0)}));
  EXPECT_TRUE(seeds_.contains("http://a.test/"));
  ASSERT_TRUE(take({record("http://b.test/", 0)}, ring::BatchKind::transfer));
  EXPECT_FALSE(seeds_.contains("http://b.test/")) << "a moved record tells nothing of how it was found";
}

TEST_F(BatchIntakeTest, AWaitThatNoClockKnowsIsNoWait) {
  storage::UrlRecord failed;
  failed.url = "http://a.test/x";
  failed.depth = 1;
  failed.attempts = 1;
  for (const Time wait : {Time{std::chrono::microseconds{-1}}, Time{std::chrono::hours{10'000'000}}}) {
    failed.not_before = wait;
    std::string bytes;
    storage::encode_record(failed, bytes);
    ASSERT_TRUE(take({bytes}));
    const CanonicalUrl url = *CanonicalUrl::parse(failed.url);
    const auto known = rig_.store.find({rig_.state.partitioner.host_key(url), url.digest()});
    ASSERT_TRUE(known && *known);
    EXPECT_GE((*known)->not_before, Time{});
    EXPECT_LE((*known)->not_before, rig_.now + wait_max);
  }
}

TEST_F(BatchIntakeTest, WhenTheStoreFailsNothingIsAcknowledged) {
  rig_.kv.fail_after(0, storage::ErrorKind::io);
  EXPECT_FALSE(take({record("http://a.test/x", 1)}));
  EXPECT_TRUE(rig_.sent<ring::BatchAck>().empty());
}

TEST_F(BatchIntakeTest, ABatchForAnotherPeerIsRefusedWhole) {
  rig_.members.membership().set_state(ring::MemberState::leaving, rig_.now);
  rig_.members.accept_changes(rig_.now);
  ASSERT_TRUE(take({record("http://a.test/x", 1)}));
  EXPECT_EQ(queued(), 0u);
  EXPECT_EQ(rig_.sent<ring::BatchRefused>().size(), 1u);
  EXPECT_EQ(intake_.counters().records, 0u);
}

TEST_F(BatchIntakeTest, ALinkQueuesNoPageAgainButByASitemapThatWasVisitedAgain) {
  const CanonicalUrl url = *CanonicalUrl::parse("http://a.test/x");
  const storage::UrlKey key{rig_.state.partitioner.host_key(url), url.digest()};
  storage::UrlRecord fetched;
  fetched.url = url.text();
  fetched.depth = 1;
  fetched.state = storage::UrlState::fetched;
  fetched.since = rig_.now - std::chrono::hours{2};
  storage::Commit commit;
  commit.merges.push_back({key, fetched});
  ASSERT_TRUE(rig_.store.commit(commit));
  const auto visit_after = [&](const storage::UrlRecord& link) {
    std::string bytes;
    storage::encode_record(link, bytes);
    EXPECT_TRUE(take({bytes}));
    return (*rig_.store.find(key))->visit;
  };
  storage::UrlRecord link;
  link.url = fetched.url;
  link.depth = 1;
  link.visit = 7;
  EXPECT_EQ(visit_after(link), 0) << "a link has no visit of its own";
  link.lastmod = rig_.now - std::chrono::hours{1};
  EXPECT_EQ(visit_after(link), 0);
  link.sitemap_visit = 1;
  EXPECT_EQ(visit_after(link), 1);
  EXPECT_EQ((*rig_.store.find(key))->sitemap_visit, 0) << "it was the link's";
}

TEST_F(BatchIntakeTest, NoPeerDelaysATryForever) {
  storage::UrlRecord late;
  late.url = "http://a.test/x";
  late.depth = 1;
  late.not_before = rig_.now + std::chrono::hours{24 * 365};
  std::string bytes;
  storage::encode_record(late, bytes);
  ASSERT_TRUE(take({bytes}));
  const CanonicalUrl url = *CanonicalUrl::parse(late.url);
  const auto found = rig_.store.find({rig_.state.partitioner.host_key(url), url.digest()});
  ASSERT_TRUE(found && *found);
  EXPECT_LE((*found)->not_before, rig_.now + wait_max);
}

}  // namespace
}  // namespace orbweaver
