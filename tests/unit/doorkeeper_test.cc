// Which peers are let into the ring, and which reason a refused joiner gets.
#include "node/coordination/doorkeeper.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/unit/peer_rig.h"

namespace orbweaver {
namespace {

using std::chrono::seconds;

class DoorkeeperTest : public testing::Test {
 protected:
  DoorkeeperTest() {
    seeds_.make_scope();
    rig_.enter();
  }
  ring::Join join(std::uint8_t number) {
    ring::Join join;
    join.self.id = rig_id(number);
    join.self.address = "10.0.0." + std::to_string(number) + ":7400";
    join.self.incarnation = join.self.started = PeerRig::self().incarnation;
    return join;
  }
  void ask(const ring::Join& join) {
    rig_.clear();
    door_.on_join(rig_.step(), {ring::protocol_version, {}, join.self.id, 0, join}, join, {"route"});
  }
  std::string refusal() {
    const auto refused = rig_.sent<ring::Refuse>();
    return refused.empty() ? "" : refused.front().reason;
  }
  void expect_refused(const ring::Join& from, std::string_view why) {
    const std::uint64_t before = door_.refused();
    ask(from);
    EXPECT_NE(refusal().find(why), std::string::npos) << refusal();
    EXPECT_TRUE(rig_.sent<ring::Welcome>().empty());
    EXPECT_EQ(door_.refused(), before + 1);
  }

  PeerRig rig_;
  Directives directives_{rig_.state, rig_.members, rig_.messenger, rig_.writer, rig_.end};
  SeedSet& seeds_ = directives_.seeds();
  Doorkeeper door_{rig_.state,
                   rig_.members,
                   rig_.messenger,
                   rig_.lifecycle,
                   directives_,
                   rig_.end,
                   rig_.replication.partition_manager.tenures()};
};

TEST_F(DoorkeeperTest, AWelcomeHasTheRingItsSettingsAndItsMembers) {
  rig_.add_member(3, ring::MemberState::left);
  ask(join(2));
  const auto welcomes = rig_.sent<ring::Welcome>();
  ASSERT_EQ(welcomes.size(), 1u);
  EXPECT_EQ(welcomes[0].ring, rig_id(200));
  EXPECT_FALSE(welcomes[0].settings.empty());
  EXPECT_EQ(welcomes[0].members.size(), 2u) << "this peer and the newcomer, none that has left";
  EXPECT_NE(rig_.members.membership().find(rig_id(2)), nullptr);
}

// A peer that was in the ring has most of them on its disk, and compares them by ranges.
TEST_F(DoorkeeperTest, OnlyANewcomerGetsTenuresWithItsWelcome) {
  storage::Commit commit;
  ASSERT_TRUE(rig_.replication.partition_manager.learn({{3, {1, rig_id(1)}}}, commit));
  const auto tenures_for = [&](const ring::RingId& known) {
    ring::Join one = join(2);
    one.ring = known;
    ask(one);
    const auto welcomes = rig_.sent<ring::Welcome>();
    return welcomes.empty() ? std::size_t{99} : welcomes.front().tenures.size();
  };
  EXPECT_EQ(tenures_for({}), 1u);
  EXPECT_EQ(tenures_for(rig_id(200)), 0u);
}

TEST_F(DoorkeeperTest, ADirectoryOfAnotherRingIsRefused) {
  ring::Join other = join(2);
  other.ring = rig_id(201);
  expect_refused(other, "belongs to ring " + rig_id(201).hex());
}

TEST_F(DoorkeeperTest, ASettingThatDiffersIsNamedWithBothValues) {
  ring::Join other = join(2);
  other.given = {{"partitions", "32"}};
  expect_refused(other, "'partitions' is 16 in the ring and 32");
}

TEST_F(DoorkeeperTest, AnIncarnationThatNoPeerReachesIsRefused) {
  ring::Join other = join(2);
  other.self.incarnation = ring::max_first_incarnation + 1;
  expect_refused(other, "its incarnation");
}

TEST_F(DoorkeeperTest, ThisPeersOwnIdentityIsRefusedAtOnce) {
  ring::Join other = join(1);
  other.self.address = "10.0.0.9:7400";
  expect_refused(other, "was its data directory copied?");
}

// It asks for a few seconds. Much later the other process may have been killed a moment ago.
TEST_F(DoorkeeperTest, AJoinerThatGaveUpIsForgotten) {
  rig_.add_member(2, ring::MemberState::active);
  ring::Join other = join(2);
  other.self.address = "10.0.0.9:7400";
  ++other.self.started;
  const auto later = [&](Duration wait) {
    rig_.now += wait;
    rig_.members.membership().heard_from(rig_id(2), PeerRig::self().incarnation, rig_.now);
  };
  later(seconds(1));
  ask(other);
  EXPECT_TRUE(rig_.out.empty());
  later(std::chrono::hours(1));
  ask(other);
  EXPECT_TRUE(rig_.out.empty());
  later(seconds(5));
  expect_refused(other, "was its data directory copied?");
}

TEST_F(DoorkeeperTest, AfterTheEndAJoinerIsToldOfIt) {
  storage::Commit commit;
  rig_.end.remember(ring::Finish{1, "all done", {}}, commit);
  rig_.farewell.finish(rig_.step(), "all done", {});
  ask(join(2));
  EXPECT_EQ(rig_.sent<ring::Finish>().size(), 1u);
  EXPECT_EQ(refusal(), "the crawl has ended");
}

TEST_F(DoorkeeperTest, OneThatIsLeavingForGoodAnswersNothing) {
  ASSERT_TRUE(rig_.farewell.exit(rig_.step(), 0, "stopped"));
  ask(join(2));
  EXPECT_TRUE(rig_.out.empty());
}

TEST_F(DoorkeeperTest, ManySeedsComeInSeveralWelcomes) {
  std::vector<std::string> many;
  for (std::size_t i = 0; i < SeedSet::per_message + 1; ++i) many.push_back("http://a.test/" + std::to_string(i));
  ASSERT_TRUE(seeds_.add(rig_.step(), many));
  ask(join(2));
  EXPECT_EQ(rig_.sent<ring::Welcome>().size(), 2u);
}

}  // namespace
}  // namespace orbweaver
