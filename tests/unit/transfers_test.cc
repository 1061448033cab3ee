// Transfers: a real store on each side, a wire between them. Whatever the network does, in the end the receiver has all
// records of each partition, with its hosts' waits and robots.txt files; and no more is sent than necessary.
#include <deque>

#include "tests/unit/transfers_fixture.h"

namespace orbweaver {
namespace {

using ring::TransferKind;
using std::chrono::milliseconds;
using std::chrono::seconds;
using storage::UrlState;
using test::below;
using test::few_partitions;
using test::local;
using test::peer_id;
using test::remote;
using test::TransfersTest;

// --- arrival --------------------------------------------------------------------------------------------------------

class TransfersKind : public TransfersTest, public testing::WithParamInterface<TransferKind> {};

TEST_P(TransfersKind, TheReceiverKnowsAllRecordsWaitsAndRobots) {
  fill(ours_, 3, 5, 9);
  add_hosts(3);
  want(3, GetParam());
  run();
  expect_known(3, GetParam());
  EXPECT_EQ(theirs_.root(3), ours_.root(3));
  EXPECT_EQ(theirs_.counts(3), ours_.counts(3));
  const auto rows = theirs_.hosts_of(3, {}, 100);
  ASSERT_TRUE(rows);
  // A robots.txt goes with a hand-off alone: else it might get there before the sitemaps that it names.
  const std::size_t host_rows = GetParam() == TransferKind::hand_off ? 4 : 2;
  EXPECT_EQ(rows->size(), host_rows) << "what nobody needs any more does not travel";
  ASSERT_EQ(done_.size(), 1u);
  EXPECT_EQ(done_[0].kind, GetParam());
  EXPECT_FALSE(done_[0].agreed) << "it had to be told: whether it has enough copies is another question";
  const bool last_word = GetParam() == TransferKind::return_ || GetParam() == TransferKind::release;
  EXPECT_EQ(completes_.contains(3), last_word);
  EXPECT_EQ(transfers_->records_sent(), 45u + host_rows);
  EXPECT_GT(transfers_->bytes_sent(), 45u * storage::record_head_bytes);
  EXPECT_EQ(transfers_->tasks(), 0u);
  EXPECT_FALSE(transfers_->frozen(3));
}

TEST_P(TransfersKind, EqualRootsSendNoRecord) {
  fill(ours_, 3, 5, 9);
  fill(theirs_, 3, 5, 9);
  add_hosts(3);
  want(3, GetParam());
  run();
  ASSERT_EQ(done_.size(), 1u);
  // A hand-off includes the hosts' waits: the new holder will ask them.
  const bool hands_off = GetParam() == TransferKind::hand_off;
  EXPECT_EQ(transfers_->records_sent(), hands_off ? 4u : 0u);
  EXPECT_EQ(done_[0].agreed, !hands_off);
  if (hands_off) expect_known(3, GetParam());
}

TEST_P(TransfersKind, CookiesGoAlongUntilTheyHaveExpired) {
  fill(ours_, 3, 2, 2);
  const auto hosts = test::hosts_in(3, 2);
  const storage::SiteCookies kept{
      .site = test::host_text(hosts[0]), .version = 5, .expires = Time::max(), .jar = "a jar"};
  const storage::SiteCookies over{.site = test::host_text(hosts[1]), .version = 5, .expires = now_, .jar = "a jar"};
  ASSERT_TRUE(ours_.commit(
      test::commit_of({.cookies = {{test::host_key_of(hosts[0]), kept}, {test::host_key_of(hosts[1]), over}}})));
  want(3, GetParam());
  run();
  EXPECT_EQ(*theirs_.cookies(test::host_key_of(hosts[0])), kept);
  EXPECT_EQ(*theirs_.cookies(test::host_key_of(hosts[1])), std::nullopt);
}

TEST_P(TransfersKind, AnEmptyPartitionIsDoneAfterOneQuestion) {
  want(3, GetParam());
  run();
  ASSERT_EQ(done_.size(), 1u);
  EXPECT_EQ(transfers_->records_sent(), 0u);
}

// Loss, doubling, delays beyond the timeout, refusals, "not now": all records arrive anyway, and no batch is counted
// twice.
TEST_P(TransfersKind, Contract1_WhateverTheWireDoesAllArrives) {
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    random_.seed(seed);
    wire_ = test::FakeWire(seed);
    our_kv_.wipe();
    their_kv_.wipe();
    ours_ = *storage::Store::open(our_kv_);
    theirs_ = *storage::Store::open(their_kv_);
    config_.leaves_from = seed % 2 == 0 ? 10 : 1'000'000;
    start();
    done_.clear();
    std::set<ring::Partition> wanted;
    for (int i = 0; i < 6; ++i) {
      const auto partition = static_cast<ring::Partition>(below(random_, few_partitions));
      fill(ours_, partition, 1 + below(random_, 4), 1 + below(random_, 12));
      add_hosts(partition);
      if (below(random_, 2) == 0) fill(theirs_, partition, 2, 5);
      want(partition, GetParam());
      wanted.insert(partition);
    }
    wire_.set({25, 25, seconds(7)});
    refuses_ = 20;
    for (int step = 0; step < 300 && transfers_->tasks() > 0; ++step) {
      later_.clear();
      if (below(random_, 4) == 0) later_.insert(static_cast<ring::Partition>(below(random_, few_partitions)));
      step_once();
      if (HasFailure()) return;
    }
    later_.clear();
    refuses_ = 0;
    wire_.set({});
    run();
    if (HasFailure()) return;
    std::set<ring::Partition> ended;
    for (const Transfers::Done& done : done_) EXPECT_TRUE(ended.insert(done.task.partition).second) << "ended twice";
    EXPECT_EQ(ended, wanted);
    for (const ring::Partition partition : wanted) {
      expect_known(partition, GetParam());
      EXPECT_FALSE(transfers_->frozen(partition));
    }
    now_ += seconds(60);
    EXPECT_TRUE(tick().empty());
    EXPECT_FALSE(transfers_->next_deadline()) << "nothing is left to wait for";
  }
}

std::string kind_name(const testing::TestParamInfo<TransferKind>& kind) {
  const char* names[] = {"Fill", "HandOff", "GiveBack", "Drop"};
  return names[static_cast<std::size_t>(kind.param)];
}
INSTANTIATE_TEST_SUITE_P(Kinds, TransfersKind,
                         testing::Values(TransferKind::backfill, TransferKind::hand_off, TransferKind::return_,
                                         TransferKind::release),
                         kind_name);

TEST_F(TransfersTest, OfALargePartitionOnlyLeavesThatDifferAreSent) {
  config_.leaves_from = 200;
  start();
  fill(ours_, 3, 20, 20);
  fill(theirs_, 3, 20, 20);
  test::CommitParts news;
  const auto hosts = test::hosts_in(3, 3);
  for (std::size_t i = 0; i < 3; ++i) news.merges.push_back(test::queued_merge(hosts[i], 1'000 + i, 1));
  ASSERT_TRUE(ours_.commit(test::commit_of(news)));
  std::set<std::uint8_t> leaves;
  for (const storage::Merge& merge : news.merges) leaves.insert(storage::leaf_of(merge.key.url));
  std::size_t in_leaves = 0;
  for (const auto& [key, record] : test::records_of(ours_, 3)) in_leaves += leaves.contains(storage::leaf_of(key.url));
  want(3, TransferKind::backfill);
  run();
  EXPECT_EQ(transfers_->records_sent(), in_leaves);
  EXPECT_LT(in_leaves, 20u) << "of more than 400";
  EXPECT_EQ(theirs_.root(3), ours_.root(3));
}

// The first attempt ends after it has asked for the leaves, the partition changes, and the answer to it comes last.
TEST_F(TransfersTest, AnAnswerAboutLeavesCountsForItsOwnAttemptOnly) {
  config_.leaves_from = 1;
  start();
  fill(ours_, 3, 4, 10);
  fill(theirs_, 3, 4, 10);
  const std::vector<std::size_t> hosts = test::hosts_in(3, 6);
  const auto add = [&](std::size_t host) {
    test::CommitParts news;
    news.merges.push_back(test::queued_merge(hosts[host], 1'000 + host, 1));
    ASSERT_TRUE(ours_.commit(test::commit_of(news)));
  };
  const auto question = [&]() -> ring::Leaves {
    for (int i = 0; i < 50; ++i) {
      for (const Transfers::Out& next : tick_after(milliseconds(20))) {
        if (const auto* leaves = std::get_if<ring::Leaves>(&next.body)) return *leaves;
        hear(*answer(next.body));
      }
    }
    ADD_FAILURE() << "the leaves are not compared";
    return {};
  };
  add(4);
  want(3, TransferKind::hand_off);
  const std::optional<ring::Body> late = answer(question());
  transfers_->begin_anew(3);
  add(5);
  const ring::Leaves second = question();
  hear(*late);
  hear(*answer(second));
  run();
  EXPECT_EQ(theirs_.root(3), ours_.root(3)) << "what came between the attempts was left out";
}

TEST_F(TransfersTest, OutcomesThatMustNotLeaveYetGoAsQueued) {
  fill(ours_, 3, 1, 4);  // pages 0 and 3 are fetched
  const std::size_t host = test::hosts_in(3, 1)[0];
  outcomes_ = {{test::url_key_of(host, 3), Transfers::Outcome::next_fill}};
  want(3, TransferKind::backfill);
  run();
  ASSERT_EQ(done_.size(), 1u);
  EXPECT_TRUE(done_[0].in_part);
  const auto state = [&](std::size_t page) { return (**theirs_.find(test::url_key_of(host, page))).state; };
  EXPECT_EQ(state(0), UrlState::fetched);
  EXPECT_EQ(state(1), UrlState::queued);
  EXPECT_EQ(state(3), UrlState::queued) << "a replica that takes over fetches it again and finds its links";
}

// During a crawl there is always such a page: what follows by itself is no reason to fill the copy once more.
TEST_F(TransfersTest, AnOutcomeThatFollowsByItselfNeedsNoFurtherFill) {
  fill(ours_, 3, 1, 4);
  const std::size_t host = test::hosts_in(3, 1)[0];
  outcomes_ = {{test::url_key_of(host, 3), Transfers::Outcome::follows}};
  want(3, TransferKind::backfill);
  run();
  EXPECT_EQ((**theirs_.find(test::url_key_of(host, 3))).state, UrlState::queued);
  ASSERT_EQ(done_.size(), 1u);
  EXPECT_FALSE(done_[0].in_part);
}

// After a take-over or a restart a peer does not know when hosts were last asked; nor does the next holder.
TEST_F(TransfersTest, AHandOffTellsSinceWhenTheSenderIsUnsure) {
  fill(ours_, 3, 1, 4);
  fill(theirs_, 3, 1, 4);
  unsure_since_ = now_ - seconds(30);
  want(3, TransferKind::hand_off);
  want(4, TransferKind::hand_off);
  want(5, TransferKind::backfill);
  run();
  EXPECT_EQ(last_access_unknown_heard_, (std::map<ring::Partition, Time>{{3, unsure_since_}, {4, unsure_since_}}))
      << "with equal roots and of empty partitions too; copies need not know";
  last_access_unknown_heard_.clear();
  unsure_since_ = now_ - std::chrono::hours(1);
  want(3, TransferKind::hand_off);
  run();
  EXPECT_TRUE(last_access_unknown_heard_.empty()) << "beyond any delay between two requests";
}

// --- bounds ---------------------------------------------------------------------------------------------------------

TEST_F(TransfersTest, Contract5_PartitionsAndBatchesOnTheirWayAreBounded) {
  for (ring::Partition partition = 0; partition < 10; ++partition) {
    fill(ours_, partition, 4, 20);
    want(partition, TransferKind::backfill);
  }
  wire_.set({0, 0, milliseconds(50)});
  std::size_t most_asked = 0, most_batches = 0;
  for (int step = 0; step < 20'000 && transfers_->tasks() > 0; ++step) {
    step_once();
    most_asked = std::max(most_asked, asked_.size());
    most_batches = std::max(most_batches, batches_out_.size());
  }
  EXPECT_EQ(transfers_->tasks(), 0u);
  EXPECT_EQ(most_asked, config_.max_active) << "partitions that are sent at a time";
  EXPECT_EQ(most_batches, config_.batch.max_in_flight);
  for (ring::Partition partition = 0; partition < 10; ++partition) expect_known(partition);
}

// --- course of a transfer -------------------------------------------------------------------------------------------

TEST_F(TransfersTest, AHandOffFreezesUntilItEnds) {
  fill(ours_, 3, 1, 5);
  not_ready_ = {3};
  want(3, TransferKind::hand_off);
  EXPECT_FALSE(transfers_->frozen(3)) << "its turn has not come";
  EXPECT_TRUE(tick().empty()) << "fetches are under way";
  EXPECT_TRUE(transfers_->frozen(3)) << "no more of them begin";
  EXPECT_EQ(transfers_->tasks(TransferKind::hand_off), 1u);
  EXPECT_TRUE(tick_after(milliseconds(20)).empty());
  not_ready_.clear();
  EXPECT_EQ(tick_after(milliseconds(20)).size(), 1u);
  run();
  EXPECT_FALSE(transfers_->frozen(3));
  ASSERT_EQ(done_.size(), 1u);
  EXPECT_EQ(done_[0].task.partition, 3);
}

// They may wait for a copy that is to be filled (seed 11161 of the simulator, once).
TEST_F(TransfersTest, HandOffsThatAreNotReadyLeaveRoomForOthers) {
  for (ring::Partition partition = 0; partition < 6; ++partition) {
    fill(ours_, partition, 1, 3);
    if (partition < 5) not_ready_.insert(partition);
    want(partition, partition < 5 ? TransferKind::hand_off : TransferKind::backfill);
  }
  for (int step = 0; step < 100 && done_.empty(); ++step) step_once();
  ASSERT_EQ(done_.size(), 1u);
  EXPECT_EQ(done_[0].task.partition, 5);
  not_ready_.clear();
  run();
  EXPECT_EQ(done_.size(), 6u);
}

// They may wait for an owner of their pages' links that is slow.
TEST_F(TransfersTest, HandOffsThatAreNotReadyForLongLetOthersMove) {
  for (ring::Partition partition = 0; partition < 6; ++partition) {
    fill(ours_, partition, 1, 3);
    if (partition < 5) not_ready_.insert(partition);
    want(partition, TransferKind::hand_off);
  }
  ASSERT_LT(config_.max_active, 5u);
  const auto frozen = [&] {
    std::set<ring::Partition> partitions;
    for (ring::Partition partition = 0; partition < 6; ++partition)
      if (transfers_->frozen(partition)) partitions.insert(partition);
    return partitions;
  };
  (void)tick();
  const std::set<ring::Partition> first = frozen();
  (void)tick_after(seconds(4));
  EXPECT_EQ(frozen(), first) << "a hand-off takes a moment to be ready";
  for (int step = 0; step < 2000 && done_.empty(); ++step) step_once();
  ASSERT_EQ(done_.size(), 1u);
  EXPECT_EQ(done_[0].task.partition, 5);
  EXPECT_LE(frozen().size(), config_.max_active);
  not_ready_.clear();
  run();
  EXPECT_EQ(done_.size(), 6u);
}

TEST_F(TransfersTest, OnlyActiveHandOffsFreezeAndNoOtherKind) {
  for (ring::Partition partition = 0; partition < 6; ++partition) {
    fill(ours_, partition, 1, 3);
    want(partition, partition < 5 ? TransferKind::hand_off : TransferKind::backfill);
  }
  (void)tick();
  std::size_t frozen = 0;
  for (ring::Partition partition = 0; partition < 6; ++partition) frozen += transfers_->frozen(partition) ? 1 : 0;
  EXPECT_EQ(frozen, config_.max_active);
  EXPECT_FALSE(transfers_->frozen(5));
}

TEST_F(TransfersTest, AHandOffThatIsCalledOffThaws) {
  fill(ours_, 3, 1, 5);
  want(3, TransferKind::hand_off);
  (void)tick();
  EXPECT_TRUE(transfers_->frozen(3));
  EXPECT_TRUE(transfers_->take_thawed().empty());
  transfers_->cancel({remote, 3});
  EXPECT_FALSE(transfers_->frozen(3));
  EXPECT_EQ(transfers_->take_thawed(), std::vector<ring::Partition>{3});
  EXPECT_TRUE(transfers_->take_thawed().empty());
  EXPECT_EQ(transfers_->tasks(), 0u);
  // So does a postponed hand-off: the other peer is not ready to hold the partition.
  want(3, TransferKind::hand_off);
  later_ = {3};
  hear(*answer(tick().at(0).body));
  EXPECT_FALSE(transfers_->frozen(3));
  EXPECT_EQ(transfers_->take_thawed(), std::vector<ring::Partition>{3});
  EXPECT_TRUE(tick_after(milliseconds(299)).empty());
  later_.clear();
  run();
  expect_known(3, TransferKind::hand_off);
}

TEST_F(TransfersTest, CancelledInMidTransferAndBegunAnewItSendsAll) {
  fill(ours_, 3, 4, 12);
  want(3, TransferKind::backfill);
  hear(*answer(tick().at(0).body));
  const auto first = tick();
  ASSERT_EQ(first.size(), 2u);
  transfers_->cancel({remote, 3});
  hear(ring::BatchAck{std::get<ring::Batch>(first[0].body).sequence});
  EXPECT_TRUE(tick_after(seconds(1)).empty());
  EXPECT_TRUE(done_.empty()) << "what was cancelled does not end";
  want(3, TransferKind::backfill);
  want(3, TransferKind::backfill);  // again: no change
  run();
  EXPECT_EQ(done_.size(), 1u);
  EXPECT_EQ(theirs_.root(3), ours_.root(3));
}

// The acknowledgement of an earlier batch says nothing about the present transfer.
TEST_F(TransfersTest, LateAnswersToWhatWasBegunAnewEndNothing) {
  fill(ours_, 3, 1, 8);  // one batch
  want(3, TransferKind::backfill);
  const auto question = tick();
  hear(*answer(question.at(0).body));
  const auto first = tick();
  ASSERT_EQ(first.size(), 1u);
  transfers_->cancel({remote, 3});
  want(3, TransferKind::backfill);
  hear(*answer(tick().at(0).body));
  const auto second = tick();
  ASSERT_EQ(second.size(), 1u);
  hear(*answer(question.at(0).body));
  hear(ring::BatchAck{std::get<ring::Batch>(first[0].body).sequence});
  (void)tick();
  EXPECT_TRUE(done_.empty());
  hear(*answer(second[0].body));
  (void)tick();
  EXPECT_EQ(done_.size(), 1u);
}

// The holder of the partition has changed: an answer in flight says nothing about the new tenure.
TEST_F(TransfersTest, WhatIsBegunAnewAsksAgainAndTakesNoEarlierAnswer) {
  fill(ours_, 3, 1, 4);
  fill(ours_, 4, 1, 4);
  want(3, TransferKind::release);
  want(4, TransferKind::release);
  const auto question = tick();
  ASSERT_EQ(question.size(), 1u);
  transfers_->begin_anew(3);
  (void)tick();
  hear(ring::RootsCompared{std::get<ring::Roots>(question[0].body).sequence, {}, {}, {}});
  note_done();
  ASSERT_EQ(done_.size(), 1u) << "the other one's answer counts";
  EXPECT_EQ(done_[0].task.partition, 4);
  EXPECT_TRUE(transfers_->wanted({remote, 3}));
  run();
  EXPECT_EQ(done_.size(), 2u);
  expect_known(3);
}

TEST_F(TransfersTest, AnotherKindBeginsAnewAsThatKind) {
  fill(ours_, 3, 1, 5);
  want(3, TransferKind::hand_off);
  (void)tick();
  want(3, TransferKind::release);
  EXPECT_FALSE(transfers_->frozen(3));
  EXPECT_EQ(transfers_->tasks(TransferKind::hand_off), 0u);
  EXPECT_EQ(transfers_->tasks(TransferKind::release), 1u);
  run();
  ASSERT_EQ(done_.size(), 1u);
  EXPECT_EQ(done_[0].kind, TransferKind::release);
}

TEST_F(TransfersTest, CancelUnlessKeepsWhatItIsTold) {
  for (ring::Partition partition = 0; partition < 4; ++partition) want(partition, TransferKind::backfill);
  want(9, TransferKind::release);
  for (const ring::Partition partition : std::initializer_list<ring::Partition>{1, 2, 9, 10})
    transfers_->cancel_unless(partition, [&](const ring::PeerId& to, TransferKind kind) {
      EXPECT_EQ(to, remote);
      return kind == TransferKind::release || partition == 2;
    });
  EXPECT_EQ(transfers_->tasks(), 4u);
  EXPECT_FALSE(transfers_->wanted({remote, 1}));
  EXPECT_TRUE(transfers_->wanted({remote, 0}) && transfers_->wanted({remote, 2}) && transfers_->wanted({remote, 9}));
  transfers_->cancel_all();
  EXPECT_EQ(transfers_->tasks(), 0u);
}

// A crawl does not end while a copy lacks something; a copy that is only compared is no reason to go on.
TEST_F(TransfersTest, FillsAreThoseThatSendAndThoseOfCopiesThatAreNotWhole) {
  fill(ours_, 3, 1, 4);
  transfers_->want({remote, 3}, TransferKind::backfill, {.give = true});
  EXPECT_EQ(transfers_->fills(), 0u);
  const auto question = tick();
  ASSERT_EQ(question.size(), 1u);
  EXPECT_EQ(transfers_->fills(), 0u);
  hear(*answer(question[0].body));
  EXPECT_EQ(transfers_->fills(), 1u) << "it differs";
  run();
  EXPECT_EQ(transfers_->fills(), 0u);
  transfers_->want({remote, 4}, TransferKind::backfill, {.fill = true});
  EXPECT_EQ(transfers_->fills(), 1u);
  transfers_->want({remote, 4}, TransferKind::return_, {});
  EXPECT_EQ(transfers_->fills(), 0u) << "another kind";
  transfers_->want({remote, 5}, TransferKind::backfill, {.give = true});
  transfers_->want({remote, 5}, TransferKind::backfill, {.fill = true});
  EXPECT_EQ(transfers_->fills(), 1u);
  transfers_->cancel({remote, 5});
  EXPECT_EQ(transfers_->fills(), 0u);
}

TEST_F(TransfersTest, WithoutAnswerQuestionsAndBatchesGoOutAgain) {
  fill(ours_, 3, 1, 4);
  want(3, TransferKind::backfill);
  ASSERT_EQ(tick().size(), 1u);
  // The first may be lost with a connection that a cut left behind.
  EXPECT_TRUE(tick_after(milliseconds(999)).empty());
  ASSERT_EQ(tick_after(milliseconds(1)).size(), 1u);
  EXPECT_TRUE(tick_after(config_.batch.timeout - milliseconds(1)).empty());
  const auto question = tick_after(milliseconds(1));
  ASSERT_EQ(question.size(), 1u);
  hear(*answer(question[0].body));
  const auto batch = tick();
  ASSERT_EQ(batch.size(), 1u);
  EXPECT_TRUE(tick_after(config_.batch.timeout - milliseconds(1)).empty());
  const auto again = tick_after(milliseconds(1));
  ASSERT_EQ(again.size(), 1u);
  EXPECT_EQ(std::get<ring::Batch>(again[0].body).sequence, std::get<ring::Batch>(batch[0].body).sequence);
  hear(*answer(again[0].body));
  (void)tick();
  EXPECT_EQ(done_.size(), 1u);
}

// Only the answer to the last question counts, so the wait for it must become long enough.
TEST_F(TransfersTest, AWayLongerThanTheTimeoutEndsAllTheSame) {
  const Duration way = 3 * config_.batch.timeout;
  want(3, TransferKind::backfill);
  std::deque<std::pair<Time, ring::Body>> answers;
  std::size_t questions = 0;
  while (done_.empty()) {
    ASSERT_LT(questions, 5u);
    for (const Transfers::Out& out : tick()) {
      ++questions;
      answers.emplace_back(now_ + way, *answer(out.body));
    }
    now_ += milliseconds(100);
    for (; !answers.empty() && answers.front().first <= now_; answers.pop_front()) hear(answers.front().second);
    note_done();
  }
}

TEST_F(TransfersTest, ARefusedBatchBeginsItsPartitionsAnewAfterAMoment) {
  fill(ours_, 3, 2, 20);
  want(3, TransferKind::backfill);
  hear(*answer(tick().at(0).body));
  const auto out = tick();
  ASSERT_EQ(out.size(), 2u);
  hear(ring::BatchRefused{std::get<ring::Batch>(out[1].body).sequence, {}, {}});
  EXPECT_TRUE(tick_after(milliseconds(199)).empty()) << "the views must agree first";
  const auto again = tick_after(milliseconds(20));
  ASSERT_EQ(again.size(), 1u);
  EXPECT_TRUE(std::holds_alternative<ring::Roots>(again[0].body)) << "from the question on";
  for (const Transfers::Out& next : again) wire_.send(now_, local, remote, next.body);
  run();
  EXPECT_EQ(theirs_.root(3), ours_.root(3));
}

TEST_F(TransfersTest, WhatFoundNoRoomGoesOnFromWhereItWas) {
  fill(ours_, 3, 5, 9);
  want(3, TransferKind::backfill);
  const auto question = tick();
  hear(*answer(question.at(0).body));
  const auto out = tick();
  ASSERT_EQ(out.size(), 2u);
  const auto batch_of = [](const Transfers::Out& next) { return std::get<ring::Batch>(next.body); };
  for (const Transfers::Out& next : out) EXPECT_TRUE(transfers_->pushed_back(remote, batch_of(next).sequence, now_));
  EXPECT_FALSE(transfers_->pushed_back(remote, 999, now_));
  EXPECT_FALSE(transfers_->pushed_back(peer_id(7), batch_of(out[0]).sequence, now_));
  EXPECT_TRUE(tick_after(ring::refusal_wait - milliseconds(1)).empty());
  auto next = tick_after(milliseconds(1));
  ASSERT_EQ(next.size(), 2u);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(batch_of(next[i]).sequence, batch_of(out[i]).sequence);
    EXPECT_EQ(&batch_of(next[i]).records.list(), &batch_of(out[i]).records.list());
  }
  for (; !next.empty(); next = tick())
    for (const Transfers::Out& message : next) {
      ASSERT_TRUE(std::holds_alternative<ring::Batch>(message.body)) << "no new comparison";
      hear(*answer(message.body));
    }
  EXPECT_EQ(transfers_->tasks(), 0u);
  EXPECT_EQ(transfers_->records_sent(), 45u);
  expect_known(3);
}

// The final message comes after all else is acknowledged: it lets the holder fetch, or permits a drop.
TEST_F(TransfersTest, TheLastWordOfWhatIsGivenBackComesLast) {
  for (ring::Partition partition = 0; partition < few_partitions; ++partition) {
    fill(ours_, partition, 1, 20 + partition);
    done_.clear();
    completes_.clear();
    want(partition, TransferKind::return_);
    wire_.set({0, 30, milliseconds(500)});
    for (int step = 0; step < 5'000 && transfers_->tasks() > 0; ++step) {
      const std::size_t known = test::records_of(theirs_, partition).size();
      const bool said = !completes_.empty();
      step_once();
      if (!said && !completes_.empty()) {
        EXPECT_EQ(known, 20u + partition) << "said too early";
      }
    }
    EXPECT_EQ(completes_, std::set<ring::Partition>{partition});
    EXPECT_EQ(done_.size(), 1u);
  }
}

TEST_F(TransfersTest, BadInput_AnswersOfOthersAndToWhatWasNotAskedChangeNothing) {
  fill(ours_, 3, 1, 3);
  want(3, TransferKind::backfill);
  const auto question = tick();
  const std::uint64_t sequence = std::get<ring::Roots>(question.at(0).body).sequence;
  transfers_->compared(peer_id(7), {sequence, {}, {}, {}}, now_);
  transfers_->compared(remote, {sequence + 1, {}, {}, {}}, now_);
  transfers_->compared(remote, {sequence + 1, {3}, {3}, {}}, now_);
  transfers_->leaves_differ(remote, {3, std::string(ring::max_leaves, '\1')});
  EXPECT_TRUE(tick().empty()) << "none of them was the answer";
  hear(*answer(question[0].body));
  const auto batch = tick();
  const std::uint64_t batch_sequence = std::get<ring::Batch>(batch.at(0).body).sequence;
  EXPECT_FALSE(transfers_->acknowledged(peer_id(7), batch_sequence));
  EXPECT_FALSE(transfers_->acknowledged(remote, batch_sequence + 1));
  EXPECT_FALSE(transfers_->refused(peer_id(7), batch_sequence, now_));
  transfers_->leaves_differ(remote, {3, "short"});
  EXPECT_TRUE(done_.empty());
  EXPECT_TRUE(transfers_->acknowledged(remote, batch_sequence));
  EXPECT_FALSE(transfers_->acknowledged(remote, batch_sequence));
  (void)tick();
  EXPECT_EQ(done_.size(), 1u);
}

}  // namespace
}  // namespace orbweaver
