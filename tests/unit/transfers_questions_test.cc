// What a transfer asks before it sends, and asks again.
#include "tests/unit/transfers_fixture.h"

namespace orbweaver {
namespace {

using ring::TransferKind;
using std::chrono::milliseconds;
using test::remote;
using test::TransfersTest;

// The holder awaits a copy again that has answered already, while something else is on its way to it (seed 746).
TEST_F(TransfersTest, WhoIsAwaitedAgainIsAskedAgain) {
  fill(ours_, 3, 1, 4);
  fill(theirs_, 3, 1, 4);
  const Transfers::Extras await{.give = true, .hosts = true, .fill = true};
  transfers_->want({remote, 3}, TransferKind::backfill, await);
  const auto question = tick();
  ASSERT_EQ(question.size(), 1u);
  hear(ring::RootsCompared{std::get<ring::Roots>(question[0].body).sequence, {}, {}, {}});
  EXPECT_EQ(transfers_->take_equal().size(), 1u);
  ASSERT_TRUE(transfers_->wanted({remote, 3})) << "hosts' waits are sent";
  transfers_->want({remote, 3}, TransferKind::backfill, await);
  const auto again = tick();
  EXPECT_TRUE(std::any_of(again.begin(), again.end(), [](const Transfers::Out& out) {
    const auto* const roots = std::get_if<ring::Roots>(&out.body);
    return roots != nullptr && roots->give;
  }));
}

// All was sent before; the transfer only waits for the report that there are enough copies.
TEST_F(TransfersTest, WhatWasToldAsksWithAnEmptyRoot) {
  fill(ours_, 3, 1, 3);
  want(3, TransferKind::release, true);
  later_ = {3};
  const auto first = tick();
  EXPECT_EQ(std::get<ring::Roots>(first.at(0).body).roots.at(0).root, 0u);
  hear(*answer(first[0].body));
  const auto second = tick_after(milliseconds(300));
  ASSERT_EQ(second.size(), 1u);
  EXPECT_EQ(std::get<ring::Roots>(second[0].body).roots.at(0).root, 0u) << "after \"not now\" too";
  hear(ring::RootsCompared{std::get<ring::Roots>(second[0].body).sequence, {}, {}, {}});
  (void)tick();
  ASSERT_EQ(done_.size(), 1u);
  EXPECT_TRUE(done_[0].agreed);
  EXPECT_EQ(transfers_->records_sent(), 0u);
}

// A peer that was taken for dead returns what it has, in the middle of a hand-off.
TEST_F(TransfersTest, WhatComesInDuringAHandOffGoesToo) {
  fill(ours_, 3, 1, 4);
  const std::size_t host = test::hosts_in(3, 1)[0];
  std::size_t next_page = 1'000;
  const auto come_in = [&] {
    test::CommitParts news;
    news.merges.push_back(test::queued_merge(host, next_page++, 1));
    ASSERT_TRUE(ours_.commit(test::commit_of(news)));
  };
  want(3, TransferKind::hand_off);
  for (int i = 0; i < 50 && batches_out_.empty(); ++i) step_once();
  ASSERT_FALSE(batches_out_.empty());
  come_in();
  while (!batches_out_.empty()) step_once();
  EXPECT_TRUE(done_.empty());
  EXPECT_TRUE(transfers_->frozen(3)) << "nothing is fetched from it meanwhile";
  run();
  expect_known(3, TransferKind::hand_off);
  // Links may come all the time: it ends still.
  want(3, TransferKind::hand_off);
  for (int i = 0; i < 2'000 && transfers_->tasks() > 0; ++i) {
    come_in();
    step_once();
  }
  EXPECT_EQ(transfers_->tasks(), 0u);
  EXPECT_EQ(done_.size(), 2u);
}

TEST_F(TransfersTest, ManyPartitionsAreComparedInOneMessageUpToItsBound) {
  config_.roots_a_message = 5;
  start();
  for (ring::Partition partition = 0; partition < 12; ++partition) want(partition, TransferKind::backfill);
  // Empty partitions do not count against max_active.
  std::vector<std::size_t> sizes;
  for (int i = 0; i < 4; ++i)
    for (const Transfers::Out& next : tick_after(milliseconds(20)))
      sizes.push_back(std::get<ring::Roots>(next.body).roots.size());
  EXPECT_EQ(sizes, (std::vector<std::size_t>{5, 5, 2}));
}

TEST_F(TransfersTest, ABatchIsBoundedInBytes) {
  config_.batch.max_records = 1'000;
  config_.batch.max_bytes = 200;
  start();
  fill(ours_, 3, 2, 20);
  want(3, TransferKind::backfill);
  hear(*answer(tick().at(0).body));
  const auto out = tick();
  ASSERT_EQ(out.size(), config_.batch.max_in_flight);
  for (const Transfers::Out& next : out) {
    std::size_t bytes = 0;
    const auto& records = std::get<ring::Batch>(next.body).records;
    for (const ring::BatchRecord& record : records) bytes += record.record.size();
    EXPECT_GE(bytes, 200u);
    EXPECT_LT(bytes - records.list().back().record.size(), 200u) << "the record that fills it is its last";
  }
}

// Seed 6242 of the simulator: another peer returned a page's outcome to the holder meanwhile.
TEST_F(TransfersTest, AHandOffThatFoundAllEqualSendsWhatCameInAfterThat) {
  want(3, TransferKind::hand_off);
  const std::vector<Transfers::Out> asked = tick();
  ASSERT_EQ(asked.size(), 1u);
  const auto equal = answer(asked[0].body);
  fill(ours_, 3, 1, 5);
  hear(*equal);
  run();
  expect_known(3);
  ASSERT_EQ(done_.size(), 1u);
}

}  // namespace
}  // namespace orbweaver
