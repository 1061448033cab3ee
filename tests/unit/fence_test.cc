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
  static ring::TenuresCompared answer(std::uint64_t nonce, bool confirmed, bool more = false) {
    return {.nonce = nonce, .confirmed = confirmed, .more = more};
  }
  void hear(std::uint8_t from, const ring::TenuresCompared& answer) { fence_.hear(rig_.now, rig_id(from), answer); }
  std::vector<ring::CompareTenures> asked() { return rig_.sent<ring::CompareTenures>(); }
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
  const auto questions = asked();
  ASSERT_EQ(questions.size(), 2u);
  ASSERT_NE(questions[0].nonce, 0u);
  EXPECT_TRUE(questions[0].sums.empty());
  EXPECT_EQ(questions[0].members.size(), 1u);
  rig_.replication.plan_due = false;
  hear(2, answer(questions[0].nonce, true, true));
  EXPECT_FALSE(fence_.confirmed()) << "it has more to say";
  hear(2, answer(questions[0].nonce, true));
  EXPECT_TRUE(fence_.confirmed());
  EXPECT_TRUE(rig_.replication.plan_due);
}

// Its directory may be a copy of one that another process uses.
TEST_F(FenceTest, OneThatMovedAsksNobodyBeforeTheOtherWasHeardOf) {
  hold_everything();
  rig_.add_member(2, ring::MemberState::active);
  fence_.note_moved("10.0.0.9:7400");
  tick();
  EXPECT_TRUE(asked().empty());
  EXPECT_FALSE(fence_.confirmed());
  // Who is at the address that it had is told of it, again and again.
  const Time until = rig_.state.started + rig_.state.settings.suspicion_time;
  std::size_t told = 0;
  while (rig_.now < until) {
    for (const Command& command : rig_.out)
      if (const auto* send = std::get_if<SendMessage>(&command)) {
        EXPECT_EQ(send->address, "10.0.0.9:7400");
        const auto* sync = std::get_if<ring::Sync>(&send->message.body);
        ASSERT_NE(sync, nullptr);
        EXPECT_TRUE(sync->reply_wanted);
        ASSERT_EQ(sync->members.size(), 1u);
        EXPECT_EQ(sync->members[0].id, rig_id(1));
        ++told;
      }
    rig_.clear();
    ASSERT_TRUE(fence_.next_deadline());
    ASSERT_GT(*fence_.next_deadline(), rig_.now);
    rig_.now = *fence_.next_deadline();
    tick();
  }
  EXPECT_GT(told, 10u);
  const auto questions = asked();
  ASSERT_EQ(questions.size(), 1u);
  hear(2, answer(questions[0].nonce, true));
  EXPECT_TRUE(fence_.confirmed());
}

TEST_F(FenceTest, OneThatMovedAndIsAloneWaitsForNobody) {
  hold_everything();
  fence_.note_moved("10.0.0.9:7400");
  tick();
  EXPECT_TRUE(fence_.confirmed());
}

TEST_F(FenceTest, OfUnconfirmedOnesAllMustHaveAnswered) {
  hold_everything();
  rig_.add_member(2, ring::MemberState::active);
  rig_.add_member(3, ring::MemberState::active);
  tick();
  const std::uint64_t nonce = asked().front().nonce;
  hear(2, answer(nonce, false));
  tick();
  EXPECT_FALSE(fence_.confirmed());
  hear(3, answer(nonce, false));
  tick();
  EXPECT_TRUE(fence_.confirmed());
}

// It may have come back, and taken over, while this peer was down itself.
TEST_F(FenceTest, OneThatItKnowsAsDownIsAskedBeforeItTrustsItselfAlone) {
  hold_everything();
  rig_.add_member(2, ring::MemberState::down);
  tick();
  EXPECT_FALSE(fence_.confirmed());
  const auto questions = asked();
  ASSERT_EQ(questions.size(), 1u);
  hear(2, answer(questions[0].nonce, true));
  tick();
  EXPECT_FALSE(fence_.confirmed()) << "it would take over from one that is there";
  rig_.add_member(2, ring::MemberState::active, true);
  tick();
  EXPECT_TRUE(fence_.confirmed());
}

// Seed 2598 of the simulator.
TEST_F(FenceTest, OneThatAnswersAndIsNoMemberHoldsItUpForTheSuspicionTimeOnly) {
  hold_everything();
  rig_.add_member(2, ring::MemberState::down);
  tick();
  hear(2, answer(asked().front().nonce, true));
  rig_.now += rig_.state.settings.suspicion_time;
  tick();
  EXPECT_TRUE(fence_.confirmed());
}

TEST_F(FenceTest, OneThatIsDownStillHoldsItUpForTheSuspicionTimeOnly) {
  hold_everything();
  rig_.add_member(2, ring::MemberState::down);
  for (const bool again : {false, true}) {
    if (again) {
      rig_.now += max_join_wait;
      fence_.raise();
    }
    const Time began = rig_.now;
    while (!fence_.confirmed() && rig_.now < began + std::chrono::minutes{1}) {
      tick();
      if (fence_.next_deadline()) rig_.now = *fence_.next_deadline();
    }
    EXPECT_GE(rig_.now, began + rig_.state.settings.suspicion_time);
    EXPECT_LE(rig_.now, began + rig_.state.settings.suspicion_time + std::chrono::milliseconds{300});
    EXPECT_FALSE(rig_.lifecycle.saying_goodbye());
  }
}

TEST_F(FenceTest, AnAnswerToAnOlderQuestionDoesNotCount) {
  hold_everything();
  rig_.add_member(2, ring::MemberState::active);
  tick();
  const std::uint64_t old = asked().front().nonce;
  fence_.raise();
  EXPECT_FALSE(fence_.is_answer(answer(old, true)));
  hear(2, answer(old, true));
  hear(2, answer(0, true));
  EXPECT_FALSE(fence_.confirmed());
}

// In a ring of a thousand, three answers are enough: only those who do not know more are asked in larger groups.
TEST_F(FenceTest, ItAsksAFewAndOthersOnlyWhenTheseDoNotAnswerOrDoNotKnow) {
  hold_everything();
  for (std::uint8_t number = 2; number < 42; ++number) rig_.add_member(number, ring::MemberState::active);
  const auto groups = [&] {
    const auto questions = asked();
    rig_.clear();
    return questions.size();
  };
  tick();
  ASSERT_EQ(groups(), 3u);
  tick();
  EXPECT_EQ(groups(), 0u) << "they have not had the time to answer";
  rig_.now += std::chrono::milliseconds{300};
  tick();
  EXPECT_EQ(groups(), 6u);
  rig_.now += std::chrono::seconds{1};
  tick();
  EXPECT_EQ(groups(), 12u);
}

TEST_F(FenceTest, ThoseThatAreDownHaveThePlacesThatTheOthersLeave) {
  hold_everything();
  for (std::uint8_t number = 2; number < 42; ++number) rig_.add_member(number, ring::MemberState::down);
  for (std::uint8_t number = 42; number < 46; ++number) rig_.add_member(number, ring::MemberState::active);
  const auto asked_of_active = [&] {
    std::size_t found = 0;
    for (const Command& command : rig_.out)
      if (const auto* sent = std::get_if<SendMessage>(&command))
        for (std::uint8_t number = 42; number < 46; ++number)
          found += rig_.members.membership().find(rig_id(number))->address == sent->address ? 1 : 0;
    return found;
  };
  tick();
  EXPECT_EQ(asked().size(), 3u);
  EXPECT_EQ(asked_of_active(), 3u);
  rig_.clear();
  rig_.now += std::chrono::milliseconds{300};
  tick();
  EXPECT_EQ(asked().size(), 6u);
  EXPECT_EQ(asked_of_active(), 4u);
}

// In a ring whose members are all silent, one that is known as down may be the one that took over.
TEST_F(FenceTest, ThoseThatAreDownAreAskedThoughTheOthersFillEachGroup) {
  hold_everything();
  rig_.add_member(2, ring::MemberState::down);
  for (std::uint8_t number = 3; number < 203; ++number) rig_.add_member(number, ring::MemberState::active);
  const std::string address = rig_.members.membership().find(rig_id(2))->address;
  bool asked_it = false;
  for (int round = 0; round < 20 && !asked_it; ++round) {
    rig_.clear();
    tick();
    for (const Command& command : rig_.out)
      if (const auto* sent = std::get_if<SendMessage>(&command)) asked_it = asked_it || sent->address == address;
    rig_.now += std::chrono::milliseconds{300};
  }
  EXPECT_TRUE(asked_it);
}

TEST_F(FenceTest, WhenAllThatItAskedHaveAnsweredItAsksOthersAtOnce) {
  hold_everything();
  for (std::uint8_t number = 2; number < 12; ++number) rig_.add_member(number, ring::MemberState::active);
  std::set<ring::PeerId> whom;
  for (const std::size_t expected : {3u, 6u, 1u}) {
    rig_.clear();
    tick();
    const auto questions = asked();
    ASSERT_EQ(questions.size(), expected);
    for (const Command& command : rig_.out) {
      const auto* sent = std::get_if<SendMessage>(&command);
      for (std::uint8_t number = 2; number < 12 && sent != nullptr; ++number)
        if (rig_.members.membership().find(rig_id(number))->address == sent->address) {
          EXPECT_TRUE(whom.insert(rig_id(number)).second) << "nobody twice";
          hear(number, answer(questions[0].nonce, false));
        }
    }
  }
  tick();
  EXPECT_TRUE(fence_.confirmed()) << "all have answered";
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
