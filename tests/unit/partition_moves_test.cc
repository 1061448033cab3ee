// Partitions that change hands, where the rules meet the disk and the other peers.
#include "node/replication/partition_moves.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/unit/peer_rig.h"

namespace orbweaver {
namespace {

class PartitionMovesTest : public testing::Test {
 protected:
  explicit PartitionMovesTest(Settings settings = rig_settings()) : rig_(std::move(settings)) { rig_.enter(); }
  void tick(bool may_take = true) {
    ASSERT_TRUE(moves_.tick(rig_.step(), may_take, [](ring::Partition) { return false; }));
  }
  // This peer holds its whole ring.
  void hold_everything() {
    storage::Commit commit;
    rig_.replication.partition_manager.learn(rig_.replication.partition_manager.make_ring(), commit);
    ASSERT_TRUE(rig_.writer.commit(rig_.step(), commit));
  }
  std::size_t entries(std::string_view table) {
    for (const ring::TableSize& size : moves_.tables())
      if (size.name == table) return size.entries;
    ADD_FAILURE() << "no table " << table;
    return 0;
  }
  std::vector<ring::PartitionTenure> claim(std::uint8_t holder) {
    ring::PartitionTenure row;
    row.partition = 3;
    row.tenure = {2, rig_id(holder)};
    return {row};
  }

  PeerRig rig_;
  PartitionMoves moves_{rig_.state, rig_.members, rig_.messenger, rig_.replication, rig_.bench, rig_.writer};
};

TEST_F(PartitionMovesTest, WhatAnotherPeerSaysIsDurableAndPlannedFor) {
  hold_everything();
  rig_.add_member(2, ring::MemberState::active);
  rig_.replication.plan_due = false;
  ASSERT_TRUE(moves_.hear(rig_.step(), claim(2)));
  EXPECT_EQ(rig_.replication.partition_manager.tenures().of(3).holder, rig_id(2));
  EXPECT_FALSE(rig_.replication.planned());
  rig_.kv.fail_after(0, storage::ErrorKind::io);
  EXPECT_TRUE(moves_.hear(rig_.step(), claim(2))) << "known already: nothing is written";
}

// No room is no refusal: the batch stays in flight and goes again soon.
TEST_F(PartitionMovesTest, ABatchThatFoundNoRoomStaysAndARefusedOneGoesBack) {
  rig_.add_member(2, ring::MemberState::active);
  rig_.members.accept_changes(rig_.now);
  const View& view = rig_.members.view();
  ring::Partition partition = 0;
  while (view.owns(partition)) ++partition;
  storage::Commit commit;
  commit.to_outbox.emplace_back(partition, "a link");
  ASSERT_TRUE(rig_.writer.commit(rig_.step(), commit));
  OutboxSender& outbox = rig_.replication.outbox;
  rig_.now += std::chrono::seconds(1);
  std::vector<BatchOut> sent;
  ASSERT_TRUE(outbox.tick(rig_.now, view, sent));
  ASSERT_EQ(sent.size(), 1u);
  const std::uint64_t sequence = sent[0].batch.sequence;
  ASSERT_TRUE(moves_.hear(rig_.step(), rig_id(2), ring::BatchRefused{sequence, {}, {}}));
  EXPECT_EQ(outbox.batches_in_flight(), 1u);
  EXPECT_EQ(outbox.next_deadline(), rig_.now + ring::refusal_wait);
  ASSERT_TRUE(moves_.hear(rig_.step(), rig_id(2), ring::BatchRefused{sequence, {PeerRig::self()}, {}}));
  EXPECT_EQ(outbox.batches_in_flight(), 0u);
}

TEST_F(PartitionMovesTest, AStoreThatFailsIsToldOf) {
  hold_everything();
  rig_.kv.fail_after(0, storage::ErrorKind::io);
  EXPECT_FALSE(moves_.hear(rig_.step(), claim(2)));
}

TEST_F(PartitionMovesTest, TablesThatDifferAreComparedOnceInAWhile) {
  hold_everything();
  rig_.add_member(2, ring::MemberState::active);
  moves_.compare(rig_.step(), rig_id(2), rig_.replication.partition_manager.tenures().fingerprint());
  EXPECT_TRUE(rig_.out.empty());
  moves_.compare(rig_.step(), rig_id(2), 1);
  moves_.compare(rig_.step(), rig_id(2), 1);
  const auto sent = rig_.sent<ring::CompareTenures>();
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_EQ(sent[0].sums, rig_.replication.partition_manager.tenures().sums());
}

// Both sides end with the newer of each row, and no other row travels.
TEST_F(PartitionMovesTest, OnlyRangesThatDifferAreSentAndTheOtherPeerGetsWhatIsNewerHere) {
  hold_everything();
  rig_.add_member(2, ring::MemberState::active);
  const ring::Tenures& own = rig_.replication.partition_manager.tenures();
  ring::Tenures other(16);
  for (const ring::PartitionTenure& row : own.all()) other.merge(row.partition, row.tenure);
  other.merge(3, {2, rig_id(2)});
  ASSERT_TRUE(moves_.hear(rig_.step(), {{5, {2, rig_id(3)}}}));
  rig_.clear();

  const ring::CompareTenures question{.nonce = 7, .fingerprint = other.fingerprint(), .sums = other.sums()};
  moves_.hear(rig_.step(), rig_id(2), question, {}, true);
  const auto answers = rig_.sent<ring::TenuresCompared>();
  ASSERT_EQ(answers.size(), 1u);
  EXPECT_EQ(answers[0].nonce, 7u);
  EXPECT_TRUE(answers[0].confirmed);
  EXPECT_FALSE(answers[0].more);
  EXPECT_EQ(answers[0].ranges, (std::vector<std::uint16_t>{3, 5}));
  EXPECT_EQ(answers[0].tenures.size(), 2u);

  rig_.clear();
  ring::TenuresCompared theirs{.ranges = {3, 5}};
  theirs.tenures = {{3, other.of(3)}, {5, other.of(5)}};
  ASSERT_TRUE(moves_.hear(rig_.step(), rig_id(2), theirs, false));
  EXPECT_EQ(own.of(3), other.of(3));
  const auto sent = rig_.sent<ring::Sync>();
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_EQ(sent[0].tenures, (std::vector<ring::PartitionTenure>{{5, own.of(5)}}));
}

// Perhaps another process with its identity said so: it must learn of that before it takes its tenures for confirmed.
TEST_F(PartitionMovesTest, WhoAsksForTenuresIsToldOfANewerRecordOfItself) {
  hold_everything();
  rig_.add_member(2, ring::MemberState::active);
  const ring::Member known = rig_.members.membership().members().at(rig_id(2));
  ring::Member asker = known;
  asker.incarnation -= 1;
  ring::CompareTenures question{.nonce = 7,
                                .fingerprint = rig_.replication.partition_manager.tenures().fingerprint(),
                                .members_fingerprint = rig_.members.membership().states_fingerprint(),
                                .members = {asker}};
  moves_.hear(rig_.step(), rig_id(2), question, {}, true);
  question.members = {known};
  moves_.hear(rig_.step(), rig_id(2), question, {}, true);
  const auto answers = rig_.sent<ring::TenuresCompared>();
  ASSERT_EQ(answers.size(), 2u);
  ASSERT_EQ(answers[0].members.size(), 1u);
  EXPECT_EQ(answers[0].members[0].incarnation, known.incarnation);
  EXPECT_TRUE(answers[1].members.empty());
}

TEST_F(PartitionMovesTest, AQuestionWithoutSumsIsToldWhetherAnythingDiffers) {
  hold_everything();
  rig_.add_member(2, ring::MemberState::active);
  ring::CompareTenures question{.nonce = 7,
                                .fingerprint = rig_.replication.partition_manager.tenures().fingerprint(),
                                .members_fingerprint = rig_.members.membership().states_fingerprint()};
  moves_.hear(rig_.step(), rig_id(2), question, {}, false);
  question.fingerprint = 1;
  moves_.hear(rig_.step(), rig_id(2), question, {}, false);
  const auto answers = rig_.sent<ring::TenuresCompared>();
  ASSERT_EQ(answers.size(), 2u);
  EXPECT_FALSE(answers[0].more);
  EXPECT_TRUE(answers[0].members.empty()) << "both know the same";
  EXPECT_TRUE(answers[1].more);
  EXPECT_TRUE(answers[1].tenures.empty());

  rig_.clear();
  ASSERT_TRUE(moves_.hear(rig_.step(), rig_id(2), ring::TenuresCompared{.nonce = 7, .more = true}, true));
  const auto again = rig_.sent<ring::CompareTenures>();
  ASSERT_EQ(again.size(), 1u);
  EXPECT_EQ(again[0].nonce, 7u);
  EXPECT_EQ(again[0].sums.size(), 16u);
  // The same answer without news would bring the same question.
  rig_.clear();
  ASSERT_TRUE(moves_.hear(rig_.step(), rig_id(2), ring::TenuresCompared{.more = true, .ranges = {3}}, false));
  EXPECT_TRUE(rig_.sent<ring::CompareTenures>().empty());
}

TEST_F(PartitionMovesTest, PartitionsThatNoPeerHoldsAreTakenOnlyWithLeave) {
  tick(false);
  EXPECT_EQ(rig_.replication.partition_manager.held(), 0u);
  rig_.replication.plan_due = true;
  rig_.clear();
  hold_everything();
  tick();
  EXPECT_EQ(rig_.replication.partition_manager.held(), 16u);
}

class PartitionMovesWithReplicas : public PartitionMovesTest {
 protected:
  static Settings two_copies() {
    Settings settings = rig_settings();
    settings.replicas = 2;
    return settings;
  }
  PartitionMovesWithReplicas() : PartitionMovesTest(two_copies()) {
    rig_.add_member(2, ring::MemberState::active);
    rig_.members.accept_changes(rig_.now);
  }
};

TEST_F(PartitionMovesWithReplicas, ABatchIsAcknowledgedOnceItsRecordsHaveTheirCopies) {
  Dependents& dependents = rig_.replication.dependents;
  moves_.acknowledge(rig_.step(), {"route"}, rig_id(2), {.sequence = 1}, dependents.begin(Dependents::Kind::batch));
  EXPECT_EQ(rig_.sent<ring::BatchAck>().size(), 1u) << "nothing waits";
  rig_.clear();
  const Dependents::Id batch = dependents.begin(Dependents::Kind::batch);
  rig_.replication.replicator.write(rig_.members.view(), 3, "record", rig_.now, batch);
  moves_.acknowledge(rig_.step(), {"route"}, rig_id(2), {.sequence = 2}, batch);
  EXPECT_TRUE(rig_.sent<ring::BatchAck>().empty());
  EXPECT_TRUE(moves_.acknowledges_later());
  // Another one's copies do not keep it waiting.
  moves_.acknowledge(rig_.step(), {"route"}, rig_id(2), {.sequence = 3}, dependents.begin(Dependents::Kind::batch));
  EXPECT_EQ(rig_.sent<ring::BatchAck>().size(), 1u);
}

// A sender sorts its batches again whenever owners change, and copies may be slow for longer than that.
TEST_F(PartitionMovesWithReplicas, OfEachSenderTheLastBatchesWait) {
  const std::uint64_t most = 2 * std::uint64_t{rig_.state.settings.max_batches_in_flight};
  for (const std::uint8_t sender : {std::uint8_t{2}, std::uint8_t{3}}) {
    for (std::uint64_t sequence = 1; sequence <= 3 * most; ++sequence) {
      const Dependents::Id batch = rig_.replication.dependents.begin(Dependents::Kind::batch);
      rig_.replication.replicator.write(rig_.members.view(), 3, "record", rig_.now, batch);
      moves_.acknowledge(rig_.step(), {"route"}, rig_id(sender), {.sequence = sequence}, batch);
    }
    EXPECT_EQ(entries("moves.unanswered"), (sender - 1u) * most);
    EXPECT_EQ(rig_.replication.dependents.size(), (sender - 1u) * most);
  }
}

// While this peer leaves and only one other is there, that one's disk may be lost with the links of a page that counts
// as fetched here.
TEST_F(PartitionMovesWithReplicas, WhoLeavesOneOtherKeepsTheLinksThatItTakes) {
  const auto give_link = [this](const std::string& text) {
    const CanonicalUrl url = *CanonicalUrl::parse(text);
    const storage::UrlKey key{rig_.state.partitioner.host_key(url), url.digest()};
    storage::UrlRecord link;
    link.url = url.text();
    link.depth = 2;
    std::string record;
    storage::encode_record(link, record);
    storage::Commit commit;
    commit.to_outbox.emplace_back(key.host.partition, std::move(record));
    EXPECT_TRUE(rig_.writer.commit(rig_.step(), commit));
    rig_.now += std::chrono::seconds(1);
    std::vector<BatchOut> sent;
    EXPECT_TRUE(rig_.replication.outbox.tick(rig_.now, rig_.members.view(), sent));
    EXPECT_EQ(sent.size(), 1u);
    for (const BatchOut& out : sent) EXPECT_TRUE(moves_.hear(rig_.step(), out.to, ring::BatchAck{out.batch.sequence}));
    EXPECT_EQ(rig_.store.counts().outbox, 0u);
    return *rig_.store.find(key);
  };
  rig_.members.membership().set_state(ring::MemberState::leaving, rig_.now);
  rig_.members.accept_changes(rig_.now);
  const auto kept = give_link("http://a.example/1");
  ASSERT_TRUE(kept);
  EXPECT_EQ(kept->depth, 2u);
  EXPECT_TRUE(rig_.replication.partition_manager.plan_open()) << "it is to be returned";
  rig_.state.settings.max_depth = 1;
  EXPECT_EQ(give_link("http://a.example/3")->state, storage::UrlState::excluded) << "as its owner judges it";
  rig_.add_member(3, ring::MemberState::active);
  rig_.members.accept_changes(rig_.now);
  EXPECT_FALSE(give_link("http://a.example/2")) << "two others have it";
}

// It may have been asleep, and is taken for dead here: it would forget links that are on this disk alone.
TEST_F(PartitionMovesWithReplicas, WhoIsAloneAnswersNoSenderThatCountsOnCopies) {
  Dependents& dependents = rig_.replication.dependents;
  ring::Batch batch{.sequence = 1, .ring_fingerprint = rig_.members.view().ring().fingerprint()};
  const Dependents::Id waiting = dependents.begin(Dependents::Kind::batch);
  rig_.replication.replicator.write(rig_.members.view(), 3, "record", rig_.now, waiting);
  moves_.acknowledge(rig_.step(), {"route"}, rig_id(2), batch, waiting);
  rig_.add_member(2, ring::MemberState::down);
  rig_.now += std::chrono::minutes(1);  // it could have answered
  rig_.add_member(2, ring::MemberState::down);
  rig_.members.accept_changes(rig_.now);
  ASSERT_TRUE(rig_.members.view().copies(0).empty());
  rig_.replication.replicator.owners_changed(rig_.members.view(), rig_.now);
  moves_.acknowledge(rig_.step(), {"route"}, rig_id(2), {.sequence = 2, .ring_fingerprint = batch.ring_fingerprint},
                     dependents.begin(Dependents::Kind::batch));
  EXPECT_TRUE(rig_.sent<ring::BatchAck>().empty());
  EXPECT_FALSE(moves_.acknowledges_later());
  // It sends them again. Once it knows of this, it keeps them until it has left.
  batch.ring_fingerprint = rig_.members.view().ring().fingerprint();
  moves_.acknowledge(rig_.step(), {"route"}, rig_id(2), batch, dependents.begin(Dependents::Kind::batch));
  EXPECT_EQ(rig_.sent<ring::BatchAck>().size(), 1u);
}

// Its sender repeats it until it has the acknowledgement: for hours, where a copy's peer answers but takes nothing.
TEST_F(PartitionMovesWithReplicas, ABatchThatIsRepeatedWaitsOnce) {
  Dependents& dependents = rig_.replication.dependents;
  Replicator& replicator = rig_.replication.replicator;
  const View& view = rig_.members.view();
  for (const char* const route : {"first", "second", "third"}) {
    const Dependents::Id batch = dependents.begin(Dependents::Kind::batch);
    replicator.write(view, 3, "record", rig_.now, batch);
    moves_.acknowledge(rig_.step(), {route}, rig_id(2), {.sequence = 7}, batch);
  }
  EXPECT_EQ(entries("moves.unanswered"), 1u);
  EXPECT_EQ(dependents.size(), 1u);
  rig_.now += std::chrono::seconds(1);
  std::vector<BatchOut> sent;
  replicator.tick(
      rig_.now, view, rig_.replication.partition_manager.tenures(), [] { return 1; }, sent);
  for (const BatchOut& out : sent) EXPECT_TRUE(replicator.acknowledged(out.to, out.batch.sequence));
  rig_.clear();
  tick();
  ASSERT_EQ(rig_.sent<ring::BatchAck>().size(), 1u);
  const auto reply = std::find_if(rig_.out.begin(), rig_.out.end(), [](const Command& command) {
    const auto* const said = std::get_if<ReplyMessage>(&command);
    return said != nullptr && std::holds_alternative<ring::BatchAck>(said->message.body);
  });
  EXPECT_EQ(std::get<ReplyMessage>(*reply).path.route, "third") << "the last connection may be the only one";
  EXPECT_EQ(entries("moves.unanswered"), 0u);
}

// The copies of what another peer gave back may still be on their way when it asks whether it may drop its own.
TEST_F(PartitionMovesWithReplicas, ACopyIsDroppedOnlyWhenWhatWasWrittenBeforeHasItsCopies) {
  hold_everything();
  rig_.add_member(3, ring::MemberState::active);
  rig_.members.accept_changes(rig_.now);
  const View& view = rig_.members.view();
  ring::Partition partition = 0;
  while (!view.owns(partition) || view.copies(partition) != std::vector{rig_id(2)}) ++partition;
  rig_.clear();
  for (int round = 0; round < 3; ++round) {  // the other peer has what is here: nothing
    tick();
    for (const ring::Roots& roots : rig_.sent<ring::Roots>()) {
      ring::RootsCompared equal;
      equal.sequence = roots.sequence;
      ASSERT_TRUE(moves_.hear(rig_.step(), rig_id(2), equal));
      ASSERT_TRUE(moves_.hear(rig_.step(), rig_id(3), equal));
    }
    rig_.clear();
    rig_.now += std::chrono::seconds(2);
  }
  std::uint64_t sequence = 1000;
  const auto may_drop = [&] {
    rig_.clear();
    ring::Roots question;
    question.kind = ring::TransferKind::release;
    question.roots = {{partition, 0}};
    question.sequence = ++sequence;
    EXPECT_TRUE(moves_.hear(rig_.step(), rig_id(3), question, {"route"}));
    const std::vector<ring::RootsCompared> answers = rig_.sent<ring::RootsCompared>();
    return answers.size() == 1 && answers[0].later.empty() && answers[0].differ.empty();
  };
  EXPECT_TRUE(may_drop());
  Replicator& replicator = rig_.replication.replicator;
  const auto copy = [&] {
    rig_.now += std::chrono::seconds(1);
    std::vector<BatchOut> sent;
    replicator.tick(
        rig_.now, view, rig_.replication.partition_manager.tenures(), [&] { return ++sequence; }, sent);
    for (const BatchOut& out : sent) EXPECT_TRUE(replicator.acknowledged(out.to, out.batch.sequence));
  };
  replicator.write(view, partition, "a link", rig_.now);
  EXPECT_FALSE(may_drop()) << "a link is on its way";
  copy();
  EXPECT_TRUE(may_drop());

  replicator.write(view, partition, "a link", rig_.now);
  EXPECT_FALSE(may_drop());
  copy();
  replicator.write(view, partition, "written after the question", rig_.now);
  EXPECT_TRUE(may_drop());

  Dependents& dependents = rig_.replication.dependents;
  const Dependents::Id page = dependents.begin(Dependents::Kind::outcome);
  dependents.wait(page);
  replicator.write_after(partition, storage::UrlKey{{partition, {}}, {}}, "an outcome", rig_.now, page);
  copy();
  EXPECT_FALSE(may_drop()) << "an outcome waits for links";
  dependents.done(page);
  copy();
  EXPECT_FALSE(may_drop()) << "the outcome is an item now";
  copy();
  EXPECT_TRUE(may_drop());
}

// The holder may not have waited for the return that is on its way (seed 257).
TEST_F(PartitionMovesWithReplicas, WhatTheHolderAsksForWhileItIsReturnedIsReturnedAgain) {
  const View& view = rig_.members.view();
  ring::Partition partition = 0;
  while (view.owns(partition)) ++partition;
  const ring::PartitionTenure tenure{partition, {2, rig_id(2)}};
  ASSERT_TRUE(moves_.hear(rig_.step(), {tenure}));
  storage::Commit commit;
  storage::Merge page;
  page.key.host.partition = partition;
  page.record.url = "http://a.example/";
  page.record.state = storage::UrlState::queued;
  commit.merges.push_back(page);
  ASSERT_TRUE(rig_.writer.commit(rig_.step(), commit));
  const auto returns = [&] {
    rig_.clear();
    tick();
    std::vector<ring::Roots> asked = rig_.sent<ring::Roots>();
    std::erase_if(asked, [](const ring::Roots& roots) { return roots.kind != ring::TransferKind::return_; });
    return asked;
  };
  const std::vector<ring::Roots> first = returns();
  ASSERT_EQ(first.size(), 1u);
  ring::RootsCompared differs;
  differs.sequence = first[0].sequence;
  differs.differ = {partition};
  ASSERT_TRUE(moves_.hear(rig_.step(), rig_id(2), differs));
  ASSERT_TRUE(returns().empty());
  const std::vector<ring::Batch> sent = rig_.sent<ring::Batch>();
  ASSERT_EQ(sent.size(), 1u);
  ring::Roots question;
  question.kind = ring::TransferKind::backfill;
  question.roots = {{partition, 1}};
  question.tenures = {tenure};
  question.give = true;
  ASSERT_TRUE(moves_.hear(rig_.step(), rig_id(2), question, {"route"}));
  ASSERT_TRUE(returns().empty()) << "the first is still on its way";
  ASSERT_TRUE(moves_.hear(rig_.step(), rig_id(2), ring::BatchAck{sent[0].sequence}));
  const std::size_t over = returns().size();  // the first is over with this step
  EXPECT_EQ(over + returns().size(), 1u);
}

// Its holder may have made a visit already that this peer's copy has not been queued for.
TEST_F(PartitionMovesWithReplicas, WhatIsReturnedHasBeenWalked) {
  const View& view = rig_.members.view();
  ring::Partition partition = 0;
  while (view.owns(partition)) ++partition;
  ASSERT_TRUE(moves_.hear(rig_.step(), {{partition, {2, rig_id(2)}}}));
  storage::Commit commit;
  storage::Merge page;
  page.key.host.partition = partition;
  page.record.url = "http://a.example/";
  commit.merges.push_back(page);
  ASSERT_TRUE(rig_.writer.commit(rig_.step(), commit));
  const auto returns = [&](bool walks) {
    rig_.clear();
    rig_.now += std::chrono::seconds(1);
    EXPECT_TRUE(moves_.tick(rig_.step(), true, [walks](ring::Partition) { return walks; }));
    std::vector<ring::Roots> asked = rig_.sent<ring::Roots>();
    return std::count_if(asked.begin(), asked.end(),
                         [](const ring::Roots& roots) { return roots.kind == ring::TransferKind::return_; });
  };
  for (int i = 0; i < 20; ++i) EXPECT_EQ(returns(true), 0);
  std::ptrdiff_t asked = 0;
  for (int i = 0; i < 20 && asked == 0; ++i) asked = returns(false);
  EXPECT_EQ(asked, 1);
}

// A partition with a page and a robots.txt that another peer owns by now.
class HandOverTest : public PartitionMovesWithReplicas {
 protected:
  using Kinds = std::vector<storage::WireKind>;

  void SetUp() override {
    hold_everything();
    while (rig_.members.view().owns(page_.host.partition)) ++page_.host.partition;
    const CanonicalUrl url = *CanonicalUrl::parse("http://a.example/");
    page_.url = url.digest();
    storage::Merge page{page_, {}};
    page.record.url = url.text();
    storage::Commit commit;
    commit.merges.push_back(page);
    commit.robots.emplace_back(page_.host, "http://a.example",
                               storage::RobotsEntry{rig_.now, rig_.now + std::chrono::hours(1), 1, "rules"});
    ASSERT_TRUE(rig_.writer.commit(rig_.step(), commit));
  }
  // A link whose owner does not answer.
  std::vector<storage::OutboxEntry> keep_link_waiting(Dependents::Id found_by = 0) {
    storage::Commit commit;
    commit.to_outbox.emplace_back(page_.host.partition, "a link");
    auto done = rig_.writer.commit(rig_.step(), commit, {.dependent = found_by});
    EXPECT_TRUE(done && done->outbox.size() == 1);
    return std::move(done->outbox);
  }
  // What was handed over of the partition since the last call. Copies and comparisons are answered.
  Kinds handed_over() {
    Kinds kinds;
    for (int round = 0; round < 4; ++round) {
      rig_.clear();
      rig_.now += std::chrono::seconds(1);
      tick();
      for (const ring::Batch& batch : rig_.sent<ring::Batch>())
        for (const ring::BatchRecord& entry : batch.records)
          if (entry.partition == page_.host.partition) kinds.push_back(storage::wire_kind(entry.record));
      for (const ring::Roots& roots : rig_.sent<ring::Roots>()) {
        ring::RootsCompared answer;
        answer.sequence = roots.sequence;
        for (const ring::PartitionDigest& root : roots.roots) answer.differ.push_back(root.partition);
        EXPECT_TRUE(moves_.hear(rig_.step(), rig_id(2), answer));
      }
      Replicator& replicator = rig_.replication.replicator;
      std::vector<BatchOut> copies;
      replicator.tick(
          rig_.now, rig_.members.view(), rig_.replication.partition_manager.tenures(), [&] { return ++sequence_; },
          copies);
      for (const BatchOut& copy : copies) EXPECT_TRUE(replicator.acknowledged(copy.to, copy.batch.sequence));
    }
    return kinds;
  }

  storage::UrlKey page_{{0, {1}}, {}};
  std::uint64_t sequence_ = 1000;
};

TEST_F(HandOverTest, ThePartitionAndItsRobotsTxtGoOnceItsPagesHaveTheirCopies) {
  Dependents& dependents = rig_.replication.dependents;
  const Dependents::Id outcome = dependents.begin(Dependents::Kind::outcome);
  dependents.wait(outcome);
  rig_.replication.replicator.write_after(page_.host.partition, page_, "an outcome", rig_.now, outcome);
  EXPECT_EQ(handed_over(), Kinds{}) << "an outcome waits for its links";
  dependents.done(outcome);
  EXPECT_EQ(handed_over(), (Kinds{storage::WireKind::record, storage::WireKind::robots}));
}

TEST_F(HandOverTest, LinksOfOtherPartitionsDoNotDelayIt) {
  keep_link_waiting();
  EXPECT_EQ(handed_over(), (Kinds{storage::WireKind::record, storage::WireKind::robots}));
  EXPECT_GT(rig_.store.counts().outbox, 0u) << "the link still waits for its owner";
}

TEST_F(HandOverTest, SitemapsOfItsRobotsTxtDelayIt) {
  Replication& replication = rig_.replication;
  const Dependents::Id sitemaps = replication.begin_sitemaps(page_.host.partition);
  const std::vector<storage::OutboxEntry> waiting = keep_link_waiting(sitemaps);
  replication.dependents.close(sitemaps);
  EXPECT_EQ(handed_over(), Kinds{});
  storage::Commit acknowledged;
  acknowledged.from_outbox.push_back(waiting[0].key);
  ASSERT_TRUE(rig_.writer.commit(rig_.step(), acknowledged));
  EXPECT_EQ(handed_over(), (Kinds{storage::WireKind::record, storage::WireKind::robots}));
}

}  // namespace
}  // namespace orbweaver
