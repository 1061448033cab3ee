// Whether a peer may act on its tenures: it asks first, and only answers to its own question count.
#include "node/coordination/fence.h"

#include <gtest/gtest.h>

#include "tests/unit/peer_rig.h"

namespace orbweaver {
namespace {

class FenceTest : public testing::Test {
 protected:
  FenceTest() { rig_.enter(); }
  // The peer holds all partitions of its ring.
  void hold_everything() {
    storage::Commit commit;
    ASSERT_TRUE(rig_.replication.partition_manager.learn(rig_.replication.partition_manager.make_ring(), commit));
  }
  ring::Sync answer(std::uint64_t nonce, bool confirmed) {
    ring::Sync sync;
    sync.nonce = nonce;
    sync.confirmed = confirmed;
    return sync;
  }
  void tick() { ASSERT_TRUE(fence_.tick(rig_.step())); }

  PeerRig rig_;
  Fence fence_{rig_.state, rig_.members, rig_.messenger, rig_.replication, rig_.farewell};
};

TEST_F(FenceTest, AloneAndHoldingItsRingItNeedsNoAnswer) {
  hold_everything();
  tick();
  EXPECT_TRUE(fence_.confirmed());
  EXPECT_FALSE(fence_.next_deadline());
}

TEST_F(FenceTest, OneConfirmedPeersAnswerIsEnough) {
  hold_everything();
  rig_.add_member(2, ring::MemberState::active);
  rig_.add_member(3, ring::MemberState::active);
  tick();
  EXPECT_FALSE(fence_.confirmed());
  const auto asked = rig_.sent<ring::Sync>();
  ASSERT_EQ(asked.size(), 2u);
  EXPECT_TRUE(asked[0].reply_wanted);
  ASSERT_NE(asked[0].nonce, 0u);
  rig_.replication.plan_due = false;
  fence_.hear(rig_id(2), answer(asked[0].nonce, true));
  EXPECT_TRUE(fence_.confirmed());
  EXPECT_TRUE(rig_.replication.plan_due);
}

TEST_F(FenceTest, OfUnconfirmedOnesAllMustHaveAnswered) {
  hold_everything();
  rig_.add_member(2, ring::MemberState::active);
  rig_.add_member(3, ring::MemberState::active);
  tick();
  const std::uint64_t nonce = rig_.sent<ring::Sync>().front().nonce;
  fence_.hear(rig_id(2), answer(nonce, false));
  tick();
  EXPECT_FALSE(fence_.confirmed());
  fence_.hear(rig_id(3), answer(nonce, false));
  tick();
  EXPECT_TRUE(fence_.confirmed());
}

TEST_F(FenceTest, AnAnswerToAnOlderQuestionDoesNotCount) {
  hold_everything();
  rig_.add_member(2, ring::MemberState::active);
  tick();
  const std::uint64_t old = rig_.sent<ring::Sync>().front().nonce;
  fence_.raise();
  EXPECT_FALSE(fence_.is_answer(answer(old, true)));
  fence_.hear(rig_id(2), answer(old, true));
  fence_.hear(rig_id(2), answer(0, true));
  EXPECT_FALSE(fence_.confirmed());
}

TEST_F(FenceTest, DoubtAsksAgain) {
  hold_everything();
  tick();
  ASSERT_TRUE(fence_.confirmed());
  fence_.raise();
  EXPECT_FALSE(fence_.confirmed());
  EXPECT_TRUE(fence_.next_deadline());
}

TEST_F(FenceTest, WithMembersLostFromItsDirectoryItDoesNotTrustItselfAlone) {
  hold_everything();
  fence_.note_lost_members();
  tick();
  EXPECT_FALSE(fence_.confirmed());
  rig_.now += max_join_wait + std::chrono::seconds{1};
  tick();
  EXPECT_TRUE(rig_.lifecycle.saying_goodbye());
  EXPECT_EQ(rig_.lifecycle.exit().code, static_cast<int>(ErrorCode::unreachable));
}

}  // namespace
}  // namespace orbweaver
