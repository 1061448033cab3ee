// Batches from other peers are taken whole or refused whole.
#include "node/links/batch_intake.h"

#include <gtest/gtest.h>

#include "node/frontier/fetch_verdict.h"
#include "tests/unit/peer_rig.h"

namespace orbweaver {
namespace {

class BatchIntakeTest : public testing::Test {
 protected:
  explicit BatchIntakeTest(Settings settings = rig_settings()) : rig_(std::move(settings)) {
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
    batch.sequence = ++sequence_;
    batch.kind = kind;
    batch.records = std::move(list);
    rig_.clear();
    return intake_.take(rig_.step(), rig_id(2), batch, {"route"});
  }
  std::uint64_t queued() { return rig_.store.counts().queued; }

  std::uint64_t sequence_ = 8;
  PeerRig rig_;
  Directives directives_{rig_.state, rig_.members, rig_.messenger, rig_.writer, rig_.end};
  SeedSet& seeds_ = directives_.seeds();
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
                       .directives = directives_,
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

// Nothing is before the epoch. What is far ahead is kept as it is, but this peer does not wait until then.
TEST_F(BatchIntakeTest, AWaitThatNoClockKnowsIsNoWait) {
  rig_.bench.set_longest([this] { return rig_.now; },
                         [this](std::uint8_t attempts) { return retry_wait(attempts, rig_.state.settings); });
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
    EXPECT_EQ((*known)->not_before, std::max(wait, Time{}));
    ASSERT_TRUE(rig_.bench.next_deadline());
    EXPECT_LE(*rig_.bench.next_deadline(), rig_.now + max_wait);
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

// Copies stay equal whatever clocks say. How long it waits is judged where it waits (Workbench::set_longest).
TEST_F(BatchIntakeTest, AnotherPeersTimeIsKeptAsItIs) {
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
  EXPECT_EQ((*found)->not_before, late.not_before);
}

class BatchIntakeWithReplicas : public BatchIntakeTest {
 protected:
  static Settings two_copies() {
    Settings settings = rig_settings();
    settings.replicas = 2;
    settings.max_outbox_records_in_memory = 4;
    return settings;
  }
  BatchIntakeWithReplicas() : BatchIntakeTest(two_copies()) { rig_.members.accept_changes(rig_.now); }
  storage::UrlKey key(const std::string& text) {
    const CanonicalUrl url = *CanonicalUrl::parse(text);
    return {rig_.state.partitioner.host_key(url), url.digest()};
  }
  bool owns(const std::string& text) { return rig_.members.view().owns(key(text).host.partition); }
  bool known(const std::string& text) { return rig_.store.find(key(text))->has_value(); }
  // The root page of some host whose partition is this peer's, or the other's.
  std::string page(bool own) {
    std::string text = "http://a.test/";
    while (owns(text) != own) text.insert(7, "a");
    return text;
  }
  Replicator& replicator() { return rig_.replication.replicator; }
};

// Peers that wait for each other's copies would wait forever if those found no room.
TEST_F(BatchIntakeWithReplicas, WhileCopiesWaitLinksFindNoRoomAndCopiesAreTaken) {
  const std::string link = page(true), copy = page(false);
  while (!replicator().items_full())
    replicator().write(rig_.members.view(), key(link).host.partition, "an item", rig_.now);
  for (const ring::BatchKind kind : {ring::BatchKind::forward, ring::BatchKind::transfer}) {
    ASSERT_TRUE(take({record(link, 1)}, kind));
    const auto refused = rig_.sent<ring::BatchRefused>();
    ASSERT_EQ(refused.size(), 1u);
    EXPECT_EQ(refused[0].sequence, sequence_);
    EXPECT_TRUE(refused[0].no_room());
    EXPECT_TRUE(rig_.sent<ring::BatchAck>().empty());
    EXPECT_FALSE(known(link));
  }
  EXPECT_EQ(intake_.counters().records, 0u);
  ASSERT_TRUE(take({record(copy, 1)}, ring::BatchKind::copy));
  EXPECT_EQ(rig_.sent<ring::BatchAck>().size(), 1u);
  EXPECT_TRUE(rig_.sent<ring::BatchRefused>().empty());
  EXPECT_TRUE(known(copy));
  rig_.now += std::chrono::seconds(1);
  std::vector<BatchOut> out;
  replicator().tick(
      rig_.now, rig_.members.view(), rig_.replication.partition_manager.tenures(), [] { return 77; }, out);
  for (const BatchOut& batch : out) ASSERT_TRUE(replicator().acknowledged(batch.to, batch.batch.sequence));
  ASSERT_FALSE(replicator().items_full());
  ASSERT_TRUE(take({record(link, 1)}));
  EXPECT_TRUE(known(link)) << "there is room again";
  EXPECT_TRUE(rig_.sent<ring::BatchRefused>().empty());
}

// A peer that is not the owner says whom it knows, so this is not taken for want of room.
TEST_F(BatchIntakeWithReplicas, ALinkForAnotherPeerIsRefusedWithTheView) {
  ASSERT_TRUE(take({record(page(false), 1)}));
  const auto refused = rig_.sent<ring::BatchRefused>();
  ASSERT_EQ(refused.size(), 1u);
  EXPECT_FALSE(refused[0].no_room());
}

}  // namespace
}  // namespace orbweaver
