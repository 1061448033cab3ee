// Whether pages may be requested at all: each reason closes the gate and is named (node/scheduling/fetch_gate.h).
#include "node/scheduling/fetch_gate.h"

#include "tests/unit/fetch_rig.h"

namespace orbweaver {
namespace {

class FetchGateTest : public FetchRig {
 protected:
  const FetchGate& gate() const { return parts_->fetches.gate; }
  // The gate is closed, and this is the only reason.
  void expect_closed(const std::string& word) const {
    EXPECT_FALSE(gate().open());
    const std::vector<std::string> reasons = gate().reasons();
    ASSERT_EQ(reasons.size(), 1u);
    EXPECT_NE(reasons[0].find(word), std::string::npos) << reasons[0];
  }
  void expect_open() const {
    EXPECT_TRUE(gate().open());
    EXPECT_EQ(gate().reasons(), std::vector<std::string>{});
    EXPECT_TRUE(gate().may_queue_again());
  }
};

TEST_F(FetchGateTest, OpenWhileNothingKeepsThePeerFromIt) {
  start();
  expect_open();
}

TEST_F(FetchGateTest, ClosedUntilThisPeersPlaceIsConfirmed) {
  start();
  parts_->fence.raise();
  expect_closed("whether its partitions are still its own");
  EXPECT_FALSE(gate().may_queue_again());
  ASSERT_TRUE(parts_->fence.tick(step()));
  expect_open();
}

TEST_F(FetchGateTest, ClosedWhileAnotherPeerKnowsOtherSeedsAndThatOneIsNamed) {
  start();
  add_member(2);
  parts_->directives.compare(step(), rig_id(2), parts_->directives.fingerprint() + 1);
  expect_closed(rig_id(2).brief());
  EXPECT_TRUE(gate().may_queue_again());
  parts_->directives.compare(step(), rig_id(2), parts_->directives.fingerprint());
  expect_open();
}

TEST_F(FetchGateTest, ClosedWhileAnOperatorHasPausedTheCrawl) {
  start();
  ASSERT_TRUE(*parts_->directives.learn(step(), {{"pause", "yes", 1, rig_id(1), now_}}));
  expect_closed("orbweaver resume");
  ASSERT_TRUE(*parts_->directives.learn(step(), {{"pause", "", 2, rig_id(1), now_}}));
  expect_open();
}

TEST_F(FetchGateTest, ClosedWhileTheDiskIsAlmostFull) {
  start();
  parts_->state.disk_low = true;
  expect_closed("min_free_disk");
  parts_->state.disk_low = false;
  expect_open();
}

TEST_F(FetchGateTest, ClosedWhileTooManyWritesWaitForTheirSecondCopy) {
  settings().replicas = 2;
  settings().max_outbox_records_in_memory = 1;
  start();
  add_member(2);
  put("http://a.test/");
  expect_closed("copies_waiting");
  EXPECT_FALSE(gate().may_queue_again()) << "they need copies too";
}

// F12: what waits for a slow peer does not stop the others' pages.
TEST_F(FetchGateTest, OpenHoweverManyOutcomesWait) {
  settings().replicas = 2;
  settings().max_outbox_records_in_memory = 1;
  start();
  add_member(2);
  Replication& replication = parts_->records.replication;
  const storage::UrlKey page = key("http://a.test/");
  for (int i = 0; i < 3; ++i) {
    const Dependents::Id id = replication.dependents.begin(Dependents::Kind::outcome);
    replication.dependents.wait(id);
    replication.replicator.write_after(page.host.partition, page, "record", Time{}, id);
  }
  expect_open();
  EXPECT_TRUE(gate().may_queue_again());
}

TEST_F(FetchGateTest, ClosedWhileCutOffFromMostMembersUnderPauseMinority) {
  for (const OnCut on_cut : {OnCut::continue_, OnCut::pause_minority}) {
    settings().on_cut = on_cut;
    start_fresh();
    add_member(2, ring::MemberState::down);
    add_member(3, ring::MemberState::down);
    if (on_cut == OnCut::continue_) {
      expect_open();
    } else {
      expect_closed("pause-minority");
    }
  }
}

TEST_F(FetchGateTest, ClosedOnceThePeerStops) {
  start();
  parts_->lifecycle.stop();
  expect_closed("stopping");
  EXPECT_FALSE(gate().may_queue_again());
}

TEST_F(FetchGateTest, ClosedWhileThePeerSaysGoodbye) {
  start();
  ASSERT_TRUE(parts_->ends.process.exit(step(), 0, "done"));
  ASSERT_TRUE(parts_->lifecycle.ending());
  expect_closed("stopping");
}

TEST_F(FetchGateTest, APeerThatLeavesFetchesUntilItsPartitionsAreGone) {
  start();
  parts_->ends.process.leave(now_);
  expect_open();
}

TEST_F(FetchGateTest, SeveralReasonsAreAllNamed) {
  start();
  parts_->fence.raise();
  parts_->lifecycle.stop();
  EXPECT_EQ(gate().reasons().size(), 2u);
}

}  // namespace
}  // namespace orbweaver
