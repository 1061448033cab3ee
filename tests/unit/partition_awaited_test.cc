// For whom a holder that has started again, or has taken over, waits before it fetches
// (docs/decisions/0026-after-a-restart.md, point 4).
#include "tests/unit/partition_restart_fixture.h"

namespace orbweaver {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using test::few_partitions;
using test::ManagedNode;

using PartitionAwaitedTest = test::PartitionRestartTest;

TEST_F(PartitionAwaitedTest, AHolderDoesNotFetchBeforeItsReplicaHasAnsweredOrIsGone) {
  form(2);
  const ring::Partition partition = held_by(1);
  kill(1);
  run(milliseconds(100));
  lost_ = [](std::size_t from, const Transfers::Out&) { return from == 1; };
  begin(1);
  run(seconds(60));
  EXPECT_TRUE(node(1).partition_manager->holds(partition));
  EXPECT_FALSE(node(1).partition_manager->fetches(partition));
  EXPECT_FALSE(node(1).partition_manager->at_rest());
  kill(2);
  bury(2);
  run(seconds(1));
  EXPECT_TRUE(node(1).partition_manager->fetches(partition));
}

// Seed 13462: the replica was slow to return what it had. A newcomer took its role meanwhile, and it was waited for no
// longer. The holder fetched what it had fetched.
TEST_F(PartitionAwaitedTest, AReplicaIsAwaitedThoughANewcomerHasItsRoleNow) {
  form(2);
  for (ring::Partition partition = 0; partition < few_partitions; ++partition)
    if (node(1).partition_manager->holds(partition)) known_to(node(2), partition);
  kill(1);
  run(milliseconds(100));
  lost_ = [](std::size_t from, const Transfers::Out&) { return from == 2; };
  begin(1);
  run(seconds(1));
  begin(3);
  run(seconds(25));
  std::size_t others = 0;
  for (ring::Partition partition = 0; partition < few_partitions; ++partition) {
    if (!node(1).partition_manager->holds(partition) || node(2).view->keeps(partition)) continue;
    ++others;
    EXPECT_FALSE(node(1).partition_manager->fetches(partition)) << partition;
  }
  EXPECT_GT(others, 0u);
  lost_ = nullptr;
  settle();
  check_settled();
}

// Seed 15885: the replica was returning something when the power failed. It went on with what the earlier process had
// lacked, and the holder took that for all that it lacked now.
TEST_F(PartitionAwaitedTest, AReturnThatBeganBeforeThePowerFailedIsNotAllOfIt) {
  form(2);
  const ring::Partition partition = held_by(1);
  const storage::Merge lost = known_to(node(2), partition);
  const ring::PartitionTenure tenure{partition, node(1).partition_manager->tenures().of(partition)};
  kill(1);
  run(milliseconds(100));
  lost_ = [](std::size_t, const Transfers::Out&) { return true; };
  begin(1);
  run(seconds(1));
  const auto expect_waits = [&] {
    run(seconds(1));
    EXPECT_FALSE(node(1).partition_manager->fetches(partition));
  };
  const ring::Batch complete{.sequence = 1, .tenures = {tenure}, .complete = {partition}};
  node(1).partition_manager->completed(node(2).id, complete);
  expect_waits();
  const ring::Roots sent_already{
      .sequence = 1, .kind = ring::TransferKind::release, .roots = {{partition, 0}}, .tenures = {tenure}};
  EXPECT_TRUE(node(1).partition_manager->on_roots(node(2).id, sent_already, *node(1).view).differ.empty());
  expect_waits();
  // It has been asked now, and the return that answers has not begun.
  lost_ = [](std::size_t from, const Transfers::Out&) { return from == 2; };
  run(seconds(3));
  node(1).partition_manager->completed(node(2).id, complete);
  expect_waits();
  lost_ = nullptr;
  for (int i = 0; i < 1'000 && !node(1).partition_manager->fetches(partition); ++i) step();
  EXPECT_TRUE(*node(1).store->find(lost.key)) << "it comes before its host is asked";
  settle();
  check_settled();
}

// Two that were started again at once ask each other; neither waits for the other to be done.
TEST_F(PartitionAwaitedTest, ThoseThatStartTogetherAnswerEachOther) {
  form(3);
  for (const std::size_t number : {1u, 2u, 3u}) kill(number);
  for (const std::size_t number : {1u, 2u, 3u}) {
    begin(number);
    node(number).confirmed = true;  // each has heard the others' tenures; they are what it knew
  }
  settle();
  check_settled();
}

// A member that keeps no copy of a partition may have records of it from an earlier time.
TEST_F(PartitionAwaitedTest, AMemberWithoutACopyGivesWhatItHas) {
  form(3);
  const ring::Partition partition = held_by(1);
  ManagedNode& other = node(node(2).view->keeps(partition) ? 3 : 2);
  ASSERT_FALSE(other.view->keeps(partition));
  kill(1);
  const storage::Merge kept = known_to(other, partition);
  begin(1);
  settle();
  EXPECT_TRUE(*node(1).store->find(kept.key));
  check_settled();
}

// One that keeps no copy and never answers is not waited for without end.
TEST_F(PartitionAwaitedTest, AMemberWithoutACopyThatIsSilentIsAwaitedForALimitedTime) {
  config_.unknown_wait = seconds(2);
  form(3);
  const ring::Partition partition = held_by(1);
  const std::size_t silent = node(2).view->keeps(partition) ? 3 : 2;
  kill(1);
  run(milliseconds(100));
  const std::set<std::size_t> pair = {1, silent};
  cut_ = [pair](std::size_t from, std::size_t to) { return pair.contains(from) && pair.contains(to); };
  begin(1);
  run(seconds(1));
  EXPECT_FALSE(node(1).partition_manager->fetches(partition));
  run(seconds(3));
  EXPECT_TRUE(node(1).partition_manager->fetches(partition));
}

// Seed 13783 of the simulator: the next owner had promised what it had, was killed, and started again before anybody
// took it for dead. It knew of no promise, and the holder waited for it forever.
TEST_F(PartitionAwaitedTest, WhoForgetsItsPromiseInARestartIsAskedAgain) {
  form(2);
  unsettle(1);
  begin(3);
  run(seconds(10));
  ring::Partition partition = 0;
  while (!node(1).partition_manager->holds(partition) || !node(3).view->owns(partition)) ++partition;
  kill(1);
  run(milliseconds(100));
  const storage::Merge kept = known_to(node(3), partition);
  lost_ = [](std::size_t from, const Transfers::Out& out) {
    return from == 3 && std::holds_alternative<ring::Batch>(out.body);
  };
  begin(1);
  unsettle(1);
  run(seconds(5));
  ASSERT_TRUE(node(1).partition_manager->awaited().contains(node(3).id));
  kill(3);
  run(milliseconds(100));
  begin(3);
  lost_ = {};
  run(seconds(60));
  EXPECT_TRUE(*node(1).store->find(kept.key));
  EXPECT_TRUE(node(1).partition_manager->awaited().empty());
  move(1);
  settle();
  check_settled();
}

}  // namespace
}  // namespace orbweaver
