// Members of the ring: which are gone for good, which are waited for, and when a side of a split pauses.
#include "node/replication/members.h"

#include <gtest/gtest.h>

#include "tests/unit/peer_rig.h"

namespace orbweaver {
namespace {

using ring::MemberState;

TEST(Members, OneThatIsDownMayComeBackUntilGoneAfter) {
  PeerRig rig;
  rig.enter();
  rig.add_member(2, MemberState::down);
  rig.members.accept_changes(rig.now);
  EXPECT_TRUE(rig.members.away(rig_id(2), rig.now));
  EXPECT_FALSE(rig.members.gone(rig_id(2), rig.now));
  const Time later = rig.now + rig.state.settings.presume_dead_after;
  EXPECT_TRUE(rig.members.gone(rig_id(2), later));
  EXPECT_FALSE(rig.members.away(rig_id(2), later));
  EXPECT_TRUE(rig.members.waited_for(rig_id(2), later))
      << "with one copy of everything it has work that is nowhere else";
}

TEST(Members, WithReplicasOneThatIsGoneIsNotWaitedFor) {
  Settings settings = rig_settings();
  settings.replicas = 2;
  PeerRig rig(settings);
  rig.enter();
  rig.add_member(2, MemberState::down);
  rig.members.accept_changes(rig.now);
  EXPECT_TRUE(rig.members.waited_for(rig_id(2), rig.now));
  EXPECT_FALSE(rig.members.waited_for(rig_id(2), rig.now + settings.presume_dead_after));
}

// Its welcome may have reached it, and no answer came back.
TEST(Members, OneThatFellSilentWhileItJoinedMayComeBackAndIsNotWaitedForOtherwise) {
  PeerRig rig;
  rig.enter();
  rig.add_member(2, MemberState::joining);
  rig.add_member(3, MemberState::active);
  rig.members.accept_changes(rig.now);
  EXPECT_FALSE(rig.members.away(rig_id(2), rig.now));
  for (const std::uint8_t number : {std::uint8_t{2}, std::uint8_t{3}}) {
    ring::Member left = *rig.members.membership().find(rig_id(number));
    left.state = MemberState::left;
    rig.members.membership().merge({left}, rig.now);
  }
  for (int times = 0; times < 2; ++times) {
    rig.members.accept_changes(rig.now);
    EXPECT_TRUE(rig.members.away(rig_id(2), rig.now));
    EXPECT_FALSE(rig.members.away(rig_id(3), rig.now)) << "it has left";
    EXPECT_FALSE(rig.members.waited_for(rig_id(2), rig.now));
  }
  EXPECT_FALSE(rig.members.away(rig_id(2), rig.now + rig.state.settings.presume_dead_after));
  ring::Member back = *rig.members.membership().find(rig_id(2));
  back.state = MemberState::active;
  ++back.incarnation;
  rig.members.membership().merge({back}, rig.now);
  EXPECT_TRUE(rig.members.is_back(rig_id(2)));
  rig.members.accept_changes(rig.now);
  EXPECT_FALSE(rig.members.away(rig_id(2), rig.now));
}

TEST(Members, TheRollSaysWhoIsThereAsSoonAsARecordChanges) {
  PeerRig rig;
  rig.enter();
  using Ids = std::vector<ring::PeerId>;
  EXPECT_EQ(rig.members.others(), Ids{});
  EXPECT_EQ(rig.members.down(), Ids{});
  EXPECT_FALSE(rig.members.any_joins());
  rig.add_member(2, MemberState::joining);
  EXPECT_EQ(rig.members.others(), Ids{rig_id(2)});
  EXPECT_EQ(rig.members.reachable().size(), 2u);
  EXPECT_TRUE(rig.members.any_joins());
  ring::Member gone = *rig.members.membership().find(rig_id(2));
  gone.state = MemberState::down;
  gone.incarnation += 1;
  rig.members.membership().restore({gone}, rig.now);
  EXPECT_EQ(rig.members.others(), Ids{});
  EXPECT_EQ(rig.members.reachable(), Ids{rig.state.id});
  EXPECT_EQ(rig.members.down(), Ids{rig_id(2)});
  EXPECT_FALSE(rig.members.any_joins());
}

TEST(Members, OneThatIsBackIsNotDownSinceBefore) {
  PeerRig rig;
  rig.enter();
  rig.add_member(2, MemberState::down);
  rig.members.accept_changes(rig.now);
  ring::Member back = *rig.members.membership().find(rig_id(2));
  back.state = MemberState::active;
  ++back.incarnation;
  rig.members.membership().merge({back}, rig.now);
  EXPECT_TRUE(rig.members.changed());
  EXPECT_TRUE(rig.members.is_back(rig_id(2)));
  rig.members.accept_changes(rig.now);
  EXPECT_FALSE(rig.members.changed());
  EXPECT_FALSE(rig.members.is_back(rig_id(2)));
  EXPECT_FALSE(rig.members.gone(rig_id(2), rig.now + 10 * rig.state.settings.presume_dead_after));
}

TEST(Members, OwnersChangeWhenAMemberBecomesActiveAndNotWhenItsSuspicionDoes) {
  PeerRig rig;
  rig.members.membership().set_state(MemberState::active, rig.now);
  EXPECT_TRUE(rig.members.accept_changes(rig.now));
  EXPECT_FALSE(rig.members.accept_changes(rig.now));
  rig.add_member(2, MemberState::active);
  EXPECT_TRUE(rig.members.accept_changes(rig.now));
}

TEST(Members, OfAVersionOnlyThatOfMembersIsRemembered) {
  PeerRig rig;
  rig.enter();
  rig.add_member(2, MemberState::active);
  rig.members.note_version(rig_id(2), 2);
  rig.members.note_version(rig_id(9), 2);
  EXPECT_EQ(rig.members.version_of(rig_id(2)), 2);
  EXPECT_EQ(rig.members.version_of(rig_id(9)), 0);
}

TEST(Members, ASideWithFewerThanHalfPausesOnlyWhenItIsAskedTo) {
  for (const OnCut on_cut : {OnCut::continue_, OnCut::pause_minority}) {
    Settings settings = rig_settings();
    settings.on_cut = on_cut;
    PeerRig rig(settings);
    rig.enter();
    rig.add_member(2, MemberState::down);
    rig.members.accept_changes(rig.now);
    EXPECT_FALSE(rig.members.paused()) << "of two halves, the one with the lowest id goes on";
    rig.add_member(3, MemberState::down);
    rig.members.accept_changes(rig.now);
    EXPECT_EQ(rig.members.paused(), on_cut == OnCut::pause_minority);
  }
}

TEST(Members, ThoseThatAreGoneForGoodDoNotCountForThePause) {
  Settings settings = rig_settings();
  settings.on_cut = OnCut::pause_minority;
  PeerRig rig(settings);
  rig.enter();
  rig.add_member(2, MemberState::down);
  rig.add_member(3, MemberState::down);
  rig.members.accept_changes(rig.now);
  EXPECT_TRUE(rig.members.paused());
  rig.state.note_step(rig.now + settings.presume_dead_after);
  EXPECT_FALSE(rig.members.paused());
}

}  // namespace
}  // namespace orbweaver
