// PartitionManagers that compare their partitions with the copies, all in turn, whatever happens (anti-entropy).
#include "tests/unit/partition_manager_fixture.h"

namespace orbweaver {
namespace {

using std::chrono::seconds;
using test::few_partitions;
using test::ManagedNode;

class PartitionCompareTest : public test::PartitionManagerTest {};

TEST_F(PartitionCompareTest, ACopyThatDiffersIsFoundAndMended) {
  begin(1);
  run(seconds(1));
  begin(2);
  run(seconds(3));
  settle();
  const ring::Partition partition = 5;
  ManagedNode& owner = node(node(1).view->owns(partition) ? 1 : 2);
  ManagedNode& replica = node(owner.number == 1 ? 2 : 1);
  ASSERT_TRUE(owner.store->commit(
      test::commit_of({.merges = {test::queued_merge(test::hosts_in(partition, 1)[0], 8'888, 1)}})));
  ASSERT_NE(owner.store->root(partition), replica.store->root(partition));
  const std::uint64_t sent = owner.partition_manager->transfers().records_sent();
  // All partitions are compared in turn, compare_partitions every compare_every.
  run(config_.compare_every * (2 + few_partitions / config_.compare_partitions) + seconds(2));
  EXPECT_EQ(owner.store->root(partition), replica.store->root(partition));
  EXPECT_LE(owner.partition_manager->transfers().records_sent() - sent, owner.store->counts(partition).discovered())
      << "what is equal is not sent";
  // Its copy is lost (a disk lost a part): the same.
  ASSERT_TRUE(*replica.store->drop(partition, 100'000));
  run(config_.compare_every * (2 + few_partitions / config_.compare_partitions) + seconds(2));
  EXPECT_EQ(owner.store->root(partition), replica.store->root(partition));
}

// Questions without an answer come again, each with its own patience: more of them would only make the answers later.
TEST_F(PartitionCompareTest, APeerThatDoesNotAnswerIsNotAskedToCompareMoreAndMore) {
  config_.compare_partitions = 2;
  begin(1);
  run(seconds(1));
  begin(2);
  run(seconds(3));
  settle();
  cut_ = [](std::size_t, std::size_t) { return true; };
  run(config_.compare_every * (2 + few_partitions / config_.compare_partitions) + seconds(2));
  for (const std::size_t number : {1u, 2u}) {
    const std::size_t asked = node(number).partition_manager->transfers().tasks(ring::TransferKind::backfill);
    EXPECT_GE(asked, config_.compare_partitions);
    EXPECT_LT(asked, 2 * config_.compare_partitions);
  }
}

}  // namespace
}  // namespace orbweaver
