// Partitions that change hands, where the rules meet the disk and the other peers.
#include "node/replication/partition_moves.h"

#include <gtest/gtest.h>

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
  EXPECT_TRUE(rig_.replication.plan_due);
  rig_.kv.fail_after(0, storage::ErrorKind::io);
  EXPECT_TRUE(moves_.hear(rig_.step(), claim(2))) << "known already: nothing is written";
}

TEST_F(PartitionMovesTest, AStoreThatFailsIsToldOf) {
  hold_everything();
  rig_.kv.fail_after(0, storage::ErrorKind::io);
  EXPECT_FALSE(moves_.hear(rig_.step(), claim(2)));
}

TEST_F(PartitionMovesTest, APeerWithOtherTenuresIsSentTheseOnceInAWhile) {
  hold_everything();
  rig_.add_member(2, ring::MemberState::active);
  moves_.compare(rig_.step(), rig_id(2), rig_.replication.partition_manager.tenures().fingerprint());
  EXPECT_TRUE(rig_.out.empty());
  moves_.compare(rig_.step(), rig_id(2), 1);
  moves_.compare(rig_.step(), rig_id(2), 1);
  const auto sent = rig_.sent<ring::Sync>();
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_EQ(sent[0].tenures.size(), 16u);
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
  moves_.acknowledge(rig_.step(), {"route"}, rig_id(2), 1);
  EXPECT_EQ(rig_.sent<ring::BatchAck>().size(), 1u) << "nothing waits";
  rig_.clear();
  rig_.replication.replicator.write(rig_.members.view(), 3, "record", rig_.now);
  moves_.acknowledge(rig_.step(), {"route"}, rig_id(2), 2);
  EXPECT_TRUE(rig_.sent<ring::BatchAck>().empty());
  EXPECT_TRUE(moves_.acknowledges_later());
}

}  // namespace
}  // namespace orbweaver
