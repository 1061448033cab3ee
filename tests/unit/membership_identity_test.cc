// One identity, two processes: which of them continues, and what must not look like two (Member::started).
#include <gtest/gtest.h>

#include "tests/unit/membership_calls.h"

namespace orbweaver::ring {
namespace {

using std::chrono::seconds;

class Identity : public MembershipCalls {
 protected:
  // The process of this identity with this incarnation, at its own address.
  static Member process(std::uint64_t incarnation) {
    Member member = sim_member(0, incarnation);
    member.address = "10.0.1.1:" + std::to_string(incarnation);
    return member;
  }
  Membership first{process(1000), config, 1};
  Membership second{process(2000), config, 2};
};

TEST_F(Identity, AProcessIsKnownByItsFirstIncarnation) {
  EXPECT_EQ(first.self().started, 1000u);
  EXPECT_EQ(first.self().protocol, protocol_version);
  first.set_state(MemberState::leaving, start);
  EXPECT_GT(first.self().incarnation, 1000u);
  EXPECT_EQ(first.self().started, 1000u);
}

TEST_F(Identity, OfTwoProcessesTheSecondEnds) {
  Membership third(sim_member(1, 500), config, 3);
  third.merge({first.self()}, start);
  third.merge({second.self()}, start);  // the copy came later, so its record is valid for now
  second.merge(third.member_list(), start);
  EXPECT_EQ(second.duplicate(), std::nullopt);
  first.merge(third.member_list(), start);
  EXPECT_EQ(first.duplicate(), std::nullopt);
  EXPECT_GT(first.self().incarnation, 2000u) << "the first refutes";
  third.merge(first.member_list(), start);
  EXPECT_EQ(third.find(sim_id(0))->address, "10.0.1.1:1000");
  second.merge(third.member_list(), start);
  EXPECT_EQ(second.duplicate(), "10.0.1.1:1000");
  EXPECT_EQ(second.self().incarnation, 2000u) << "it does not answer: the first one's word stands";
}

TEST_F(Identity, AMessageFromTheOtherShowsItToo) {
  first.merge({second.self()}, start);
  std::vector<Send> out;
  second.on_ping(sim_id(0), Ping{1, {first.self()}, 0}, start, out);
  EXPECT_TRUE(out.empty());
  EXPECT_EQ(second.duplicate(), "10.0.1.1:1000");
}

TEST_F(Identity, WhatIsLeftOfAnEarlierProcessIsNoDuplicate) {
  Member earlier = process(1000);
  earlier.started = 1000;
  earlier.incarnation = 1900;
  second.merge({earlier}, start);  // older than the first incarnation of the second
  EXPECT_EQ(second.self().incarnation, 2000u);
  earlier.incarnation = 2500;  // its clock was ahead; it is dead, and the others have found out
  for (const MemberState state : {MemberState::active, MemberState::down, MemberState::left}) {
    earlier.state = state;
    earlier.suspect = state == MemberState::active;
    second.merge({earlier}, start);
    EXPECT_EQ(second.self().incarnation, earlier.incarnation + 1) << "refuted";
    earlier.incarnation += 10;
  }
  EXPECT_EQ(second.duplicate(), std::nullopt);
}

TEST_F(Identity, AnAccusationOfThisProcessIsNoDuplicate) {
  Member accused = second.self();
  accused.suspect = true;
  second.merge({accused}, start);
  accused.incarnation = 5000;
  accused.suspect = false;
  second.merge({accused}, start);
  Member of_unknown_start = process(6000);
  second.merge({of_unknown_start}, start);
  EXPECT_EQ(second.duplicate(), std::nullopt);
  EXPECT_EQ(second.self().incarnation, 6001u);
}

TEST_F(Identity, TheOwnRecordOfTheLastRunIsRefuted) {
  Member last_run = process(1000);
  last_run.started = 1000;
  last_run.incarnation = 9000;
  second.restore({last_run}, start);
  EXPECT_EQ(second.duplicate(), std::nullopt);
  EXPECT_EQ(second.self().incarnation, 9001u);
  EXPECT_EQ(second.self().started, 2000u);
}

class LivesElsewhere : public MembershipCalls {
 protected:
  void SetUp() override {
    MembershipCalls::SetUp();
    known = record(1, 500, MemberState::active);
    known.started = 500;
    peer.merge({known}, start);
    peer.heard_from(sim_id(1), known.incarnation, start);
    joiner = known;
    joiner.address = "10.0.1.1:9";
    joiner.started = joiner.incarnation = 900;
  }
  Member known;
  Member joiner;
};

TEST_F(LivesElsewhere, AMemberHeardFromLatelyAtAnotherAddress) {
  EXPECT_TRUE(peer.lives_elsewhere(joiner, start));
  EXPECT_TRUE(peer.lives_elsewhere(joiner, start + 3 * config.probe_every));
  EXPECT_FALSE(peer.lives_elsewhere(joiner, start + 3 * config.probe_every + Duration(1)));
  peer.heard_from(sim_id(1), known.incarnation, start + seconds(10));
  EXPECT_TRUE(peer.lives_elsewhere(joiner, start + seconds(10)));
}

// It has started again elsewhere, and speaks with the members that it remembers, while this peer knows where it was.
TEST_F(LivesElsewhere, NotForTheJoinersOwnMessages) {
  const Time later = start + seconds(10);
  peer.heard_from(sim_id(1), joiner.incarnation, later);
  EXPECT_FALSE(peer.lives_elsewhere(joiner, later));
  peer.heard_from(sim_id(1), known.incarnation, later);
  EXPECT_TRUE(peer.lives_elsewhere(joiner, later)) << "the other one speaks too";
}

TEST_F(LivesElsewhere, NotWhoStartedAgainAtItsAddress_NorWhoAsksAgain_NorAStranger) {
  joiner.address = known.address;
  EXPECT_FALSE(peer.lives_elsewhere(joiner, start));
  joiner.address = "10.0.1.1:9";
  joiner.started = known.started;
  EXPECT_FALSE(peer.lives_elsewhere(joiner, start));
  EXPECT_FALSE(peer.lives_elsewhere(record(7, 5, MemberState::joining), start));
}

TEST_F(LivesElsewhere, NotWhenTheOtherIsSuspectOrGone) {
  known.suspect = true;
  peer.merge({known}, start);
  EXPECT_FALSE(peer.lives_elsewhere(joiner, start));
  known.state = MemberState::left;
  peer.merge({known}, start);
  EXPECT_FALSE(peer.lives_elsewhere(joiner, start));
}

TEST_F(LivesElsewhere, NotWhenItWasOnlyHeardOf) {
  Member other = record(2, 500, MemberState::active);
  other.started = 500;
  peer.merge({other}, start);
  other.address = "10.0.1.1:9";
  other.started = 900;
  EXPECT_FALSE(peer.lives_elsewhere(other, start));
}

TEST_F(LivesElsewhere, ThisPeerItself) {
  Member copy = peer.self();
  EXPECT_FALSE(peer.lives_elsewhere(copy, start));
  copy.started = 7;
  EXPECT_TRUE(peer.lives_elsewhere(copy, start));
}

}  // namespace
}  // namespace orbweaver::ring
