// The end of the crawl at one peer of the ring: agreed to, decided, durable, taken back.
#include "node/coordination/ending.h"

#include <gtest/gtest.h>

#include "node/crawl/meta_names.h"
#include "tests/unit/peer_rig.h"

namespace orbweaver {
namespace {

using ring::EndStage;
using std::chrono::minutes;
using std::chrono::seconds;

class EndingTest : public testing::Test {
 protected:
  EndingTest() {
    rig_.enter();
    state_.passive = true;
    state_.tenures_fingerprint = 4;
    state_.directives_fingerprint = 5;
    own_.rests = true;
    own_.reply = [this] { return state_; };
    own_.queued = [] { return 0; };
  }
  bool hear(std::uint8_t from, std::uint64_t wave, std::uint64_t grant_wave = 0, std::uint64_t pages = 0) {
    granted_.reset();
    ring::WaveProbe probe;
    probe.wave = wave;
    probe.grant_wave = grant_wave;
    probe.grant_pages = pages;
    return ending_.hear(rig_.now, rig_id(from), probe, granted_);
  }

  void answer_wave(std::uint8_t to, std::uint64_t wave) {
    ring::WaveReply reply = state_;
    reply.wave = wave;
    ending_.note_reply(rig_id(to), reply);
  }
  Result<void> bring(std::uint8_t from, const ring::Finish& end) {
    rig_.clear();
    return ending_.hear(rig_.step(), rig_id(from), end, {"route"}, own_);
  }
  ring::Finish end_of(std::uint8_t by, std::uint64_t wave, EndStage stage) const {
    return {.wave = wave,
            .reason = "all done",
            .totals = {{"fetched", 3}},
            .stage = stage,
            .by = rig_id(by),
            .tenures_fingerprint = state_.tenures_fingerprint,
            .directives_fingerprint = state_.directives_fingerprint};
  }
  std::string row() { return rig_.store.meta(std::string(meta_name::ended))->value_or(""); }

  static Settings that_end() {
    Settings settings = rig_settings();
    settings.stop_when_done = true;
    return settings;
  }

  PeerRig rig_{that_end()};
  Ending ending_{rig_.state, rig_.members, rig_.messenger, rig_.lifecycle, rig_.writer, rig_.end, rig_.farewell};
  std::optional<std::uint64_t> granted_;
  ring::WaveReply state_;
  Ending::Own own_;
};

// What this peer answered to a wave is what an end is found on.
TEST_F(EndingTest, OneThatIsAsItAnsweredAgreesAndTakesNoMoreFromCommands) {
  rig_.add_member(2, ring::MemberState::active);
  answer_wave(2, 5);
  ASSERT_TRUE(bring(2, end_of(2, 5, EndStage::proposed)));
  ASSERT_EQ(rig_.sent<ring::FinishAck>().size(), 1u);
  EXPECT_TRUE(rig_.sent<ring::FinishAck>()[0].agrees);
  EXPECT_NE(row(), "") << "on disk first";
  EXPECT_TRUE(rig_.end.closed());
  EXPECT_FALSE(rig_.end.announced());
  EXPECT_FALSE(rig_.lifecycle.ending());
  ASSERT_TRUE(bring(2, end_of(2, 5, EndStage::decided)));
  EXPECT_TRUE(rig_.end.announced());
  EXPECT_TRUE(rig_.lifecycle.crawl_finished());
  EXPECT_EQ(rig_.lifecycle.exit().totals.at("fetched"), 3u);
}

// Seed 9455 of the simulator: the others ended, and this peer went on with work that they had done.
TEST_F(EndingTest, APowerCutDoesNotMakeItForgetWhatItAgreedTo) {
  rig_.kv.keep_unsynced(100);
  rig_.add_member(2, ring::MemberState::active);
  rig_.members.accept_changes(rig_.now);
  answer_wave(2, 5);
  ASSERT_TRUE(bring(2, end_of(2, 5, EndStage::proposed)));
  const std::string agreed = row();
  rig_.kv.drop_unsynced(100);
  EXPECT_NE(agreed, "");
  EXPECT_EQ(row(), agreed);
}

TEST_F(EndingTest, OneThatHasNewWorkDoesNotAgreeAndSaysSo) {
  rig_.add_member(2, ring::MemberState::active);
  answer_wave(2, 5);
  state_.directives_fingerprint = 99;  // a seed came since
  ASSERT_TRUE(bring(2, end_of(2, 5, EndStage::proposed)));
  ASSERT_EQ(rig_.sent<ring::FinishAck>().size(), 1u);
  EXPECT_FALSE(rig_.sent<ring::FinishAck>()[0].agrees);
  EXPECT_EQ(rig_.sent<ring::FinishAck>()[0].reason, "it has new work");
  EXPECT_EQ(row(), "");
  EXPECT_FALSE(rig_.end.closed());
}

TEST_F(EndingTest, TwoAnswersToOneWaveThatDifferAreNone) {
  rig_.add_member(2, ring::MemberState::active);
  answer_wave(2, 5);
  state_.sent = 7;
  answer_wave(2, 5);
  ASSERT_TRUE(bring(2, end_of(2, 5, EndStage::proposed)));
  EXPECT_FALSE(rig_.sent<ring::FinishAck>().at(0).agrees) << "the waves may have counted the other one";
}

TEST_F(EndingTest, AnEndOfOthersDoesNotEndAPeerThatHasWork) {
  rig_.add_member(2, ring::MemberState::active);
  state_.passive = false;
  own_.rests = false;
  ASSERT_TRUE(bring(2, end_of(2, 5, EndStage::decided)));
  EXPECT_FALSE(rig_.sent<ring::FinishAck>().at(0).agrees);
  EXPECT_FALSE(rig_.lifecycle.ending());
  EXPECT_EQ(row(), "");
}

TEST_F(EndingTest, AnEndOfOthersEndsAPeerThatIsInTheSameState) {
  rig_.add_member(2, ring::MemberState::active);
  ring::Finish end = end_of(2, 5, EndStage::decided);
  end.tenures_fingerprint = 8;
  ASSERT_TRUE(bring(2, end));
  EXPECT_FALSE(rig_.lifecycle.ending()) << "partitions have changed hands";
  end.tenures_fingerprint = state_.tenures_fingerprint;
  ASSERT_TRUE(bring(2, end));
  EXPECT_TRUE(rig_.lifecycle.crawl_finished());
}

TEST_F(EndingTest, ANewcomerThatHasNothingEndsWithTheOthers) {
  rig_.add_member(2, ring::MemberState::active);
  state_.passive = false;
  own_.starting = own_.holds_nothing = true;
  own_.rests = false;
  ASSERT_TRUE(bring(2, end_of(2, 5, EndStage::decided)));
  EXPECT_TRUE(rig_.lifecycle.crawl_finished());
}

TEST_F(EndingTest, WhatIsTakenBackIsOverAndCommandsMayBringWorkAgain) {
  rig_.add_member(2, ring::MemberState::active);
  answer_wave(2, 5);
  ASSERT_TRUE(bring(2, end_of(2, 5, EndStage::proposed)));
  ASSERT_TRUE(bring(2, end_of(2, 4, EndStage::taken_back)));
  EXPECT_TRUE(rig_.end.closed()) << "another end";
  ASSERT_TRUE(bring(2, end_of(2, 5, EndStage::taken_back)));
  EXPECT_FALSE(rig_.end.closed());
  EXPECT_EQ(row(), "");
}

TEST_F(EndingTest, WhenTheStoreFailsNothingIsAcknowledged) {
  rig_.kv.fail_after(0, storage::ErrorKind::io);
  EXPECT_FALSE(bring(2, end_of(2, 5, EndStage::decided)));
  EXPECT_TRUE(rig_.sent<ring::FinishAck>().empty());
  EXPECT_FALSE(rig_.lifecycle.ending());
}

TEST_F(EndingTest, ANewcomerThatWasLetInMeanwhileIsToldUntilItAcknowledges) {
  rig_.add_member(2, ring::MemberState::active);
  const ring::Finish end = end_of(3, 5, EndStage::decided);
  ASSERT_TRUE(bring(3, end));
  rig_.clear();
  ending_.tell_newcomer(rig_.step(), rig_id(2), {"route"});
  EXPECT_EQ(rig_.sent<ring::Finish>().size(), 1u);
  ASSERT_TRUE(ending_.hear(rig_.step(), rig_id(2), ring::FinishAck{end.wave, end.stage, end.by}, {"route"}));
  rig_.clear();
  ending_.tell_newcomer(rig_.step(), rig_id(2), {"route"});
  EXPECT_TRUE(rig_.sent<ring::Finish>().empty());
}

TEST_F(EndingTest, AloneInARingThatHadEndedItEndsAgainWithTheSameWords) {
  storage::Commit commit;
  rig_.end.remember(ring::Finish{1, "all done", {{"fetched", 3}}}, commit);
  own_.starting = true;
  own_.rests = false;
  ASSERT_TRUE(ending_.tick(rig_.step(), own_));
  EXPECT_FALSE(rig_.lifecycle.ending()) << "it does not know yet whether there is new work";
  own_.starting = false;
  own_.rests = true;
  ASSERT_TRUE(ending_.tick(rig_.step(), own_));
  EXPECT_TRUE(rig_.lifecycle.crawl_finished());
  EXPECT_EQ(rig_.lifecycle.exit().message, "all done");
}

// It was away when the end was decided, and has only some of the records: what it counts alone is less.
TEST_F(EndingTest, AloneAfterAnEndThatItAgreedToItEndsWithTheTotalsOfAll) {
  storage::Commit commit;
  rig_.end.agree(end_of(2, 5, EndStage::proposed), commit);
  own_.sends_waves = true;
  state_.ring_fingerprint = rig_.members.view().ring().fingerprint();
  state_.counts = {{"partitions", rig_.state.settings.partitions}, {"fetched", 1}};
  for (int tries = 0; tries < 60 && !rig_.lifecycle.ending(); ++tries) {
    ASSERT_TRUE(ending_.tick(rig_.step(), own_));
    rig_.now += seconds(1);
  }
  ASSERT_TRUE(rig_.lifecycle.crawl_finished());
  EXPECT_EQ(rig_.lifecycle.exit().totals.at("fetched"), 3u);
  EXPECT_EQ(rig_.lifecycle.exit().message, "all done");
}

// The others have ended, and one that was away stays with it.
TEST_F(EndingTest, WithAnotherThatWasAwayItEndsWithTheTotalsOfAllToo) {
  rig_.add_member(2, ring::MemberState::active);
  storage::Commit commit;
  rig_.end.agree(end_of(3, 5, EndStage::proposed), commit);
  own_.sends_waves = true;
  state_.ring_fingerprint = rig_.members.view().ring().fingerprint();
  state_.counts = {{"partitions", rig_.state.settings.partitions / 2}, {"fetched", 1}};
  const auto proposed = [&] { return rig_.sent<ring::Finish>(); };
  for (int tries = 0; tries < 60 && proposed().empty(); ++tries) {
    ASSERT_TRUE(ending_.tick(rig_.step(), own_));
    for (const ring::WaveProbe& probe : rig_.sent<ring::WaveProbe>()) {
      ring::WaveReply reply = state_;
      reply.wave = probe.wave;
      ending_.hear(rig_id(2), reply);
    }
    rig_.now += seconds(1);
  }
  ASSERT_FALSE(proposed().empty());
  EXPECT_EQ(proposed()[0].totals.at("fetched"), 3u);
}

// New work takes the agreement back. Then its own count is the better one: pages that were visited again are gone, say.
TEST_F(EndingTest, AnEndAfterNewWorkHasItsOwnTotals) {
  storage::Commit commit;
  rig_.end.agree(end_of(2, 5, EndStage::proposed), commit);
  own_.rests = false;
  ASSERT_TRUE(ending_.tick(rig_.step(), own_));
  EXPECT_FALSE(rig_.end.known());
  own_.rests = true;
  own_.sends_waves = true;
  state_.ring_fingerprint = rig_.members.view().ring().fingerprint();
  state_.counts = {{"partitions", rig_.state.settings.partitions}, {"fetched", 2}, {"failed", 1}};
  for (int tries = 0; tries < 60 && !rig_.lifecycle.ending(); ++tries) {
    ASSERT_TRUE(ending_.tick(rig_.step(), own_));
    rig_.now += seconds(1);
  }
  ASSERT_TRUE(rig_.lifecycle.crawl_finished());
  EXPECT_EQ(rig_.lifecycle.exit().totals.at("fetched"), 2u);
}

// A peer that is gone may have accepted work after this one agreed, of which a copy is here.
TEST_F(EndingTest, WhatIsQueuedOfAMissingHolderTakesAnAgreementBack) {
  storage::Commit commit;
  rig_.end.agree(end_of(2, 5, EndStage::proposed), commit);
  own_.queued = [] { return 1; };
  ASSERT_TRUE(ending_.tick(rig_.step(), own_));
  EXPECT_FALSE(rig_.end.known());
  EXPECT_FALSE(rig_.lifecycle.ending());
}

// Under a limit, an end leaves URLs queued.
TEST_F(EndingTest, AnEndByALimitStandsWithUrlsQueued) {
  ring::Finish end = end_of(2, 5, EndStage::proposed);
  end.totals["queued"] = 7;
  storage::Commit commit;
  rig_.end.agree(end, commit);
  own_.queued = [] { return 1; };
  ASSERT_TRUE(ending_.tick(rig_.step(), own_));
  EXPECT_TRUE(rig_.lifecycle.crawl_finished());
}

// A peer that may come back holds up the decision, not the question: one that has work says so at once.
TEST_F(EndingTest, WhileAMemberIsAwayTheLowestAsksTheOthersAndDecidesNothing) {
  rig_.add_member(2, ring::MemberState::active);
  rig_.add_member(3, ring::MemberState::down);
  storage::Commit commit;
  rig_.end.agree(end_of(3, 5, EndStage::proposed), commit);
  ASSERT_TRUE(ending_.tick(rig_.step(), own_));
  ASSERT_EQ(rig_.sent<ring::Finish>().size(), 1u);
  ASSERT_TRUE(ending_.hear(rig_.step(), rig_id(2), ring::FinishAck{5, EndStage::proposed, rig_id(3)}, {"route"}));
  ASSERT_TRUE(ending_.tick(rig_.step(), own_));
  EXPECT_FALSE(rig_.end.announced());
  ring::FinishAck refusal{5, EndStage::proposed, rig_id(3)};
  refusal.agrees = false;
  ASSERT_TRUE(ending_.hear(rig_.step(), rig_id(2), refusal, {"route"}));
  EXPECT_FALSE(rig_.end.known());
}

TEST_F(EndingTest, APeerThatGoesKeepsWhatItAgreedTo) {
  storage::Commit commit;
  rig_.end.agree(end_of(2, 5, EndStage::proposed), commit);
  rig_.lifecycle.stop();
  ASSERT_TRUE(ending_.tick(rig_.step(), own_));
  EXPECT_TRUE(rig_.end.agreed());
  EXPECT_FALSE(rig_.lifecycle.crawl_finished());
}

// Refused by a peer that had ended, it exits. Its objection would take back an end that others have ended by.
TEST_F(EndingTest, APeerWhoseProcessEndsForAnotherReasonSaysNothingToAnEnd) {
  rig_.add_member(2, ring::MemberState::active);
  storage::Commit commit;
  rig_.end.agree(end_of(2, 5, EndStage::proposed), commit);
  Exit refused;
  refused.code = 4;
  rig_.lifecycle.say_goodbye(refused, rig_.now + seconds(1));
  own_.starting = true;
  own_.rests = false;
  ASSERT_TRUE(bring(2, end_of(2, 5, EndStage::decided)));
  EXPECT_TRUE(rig_.sent<ring::FinishAck>().empty());
  EXPECT_TRUE(rig_.end.agreed());
}

// Its partitions cannot go before the end is decided, and the others wait for its word: so it asks them.
TEST_F(EndingTest, TheLowestBringsItsAgreementAlsoWhenItLeaves) {
  rig_.add_member(2, ring::MemberState::active);
  storage::Commit commit;
  rig_.end.agree(end_of(2, 5, EndStage::proposed), commit);
  ASSERT_TRUE(rig_.lifecycle.leave(rig_.now + std::chrono::minutes(10)));
  ASSERT_TRUE(ending_.tick(rig_.step(), own_));
  ASSERT_EQ(rig_.sent<ring::Finish>().size(), 1u);
  ASSERT_TRUE(ending_.hear(rig_.step(), rig_id(2), ring::FinishAck{5, EndStage::proposed, rig_id(2)}, {"route"}));
  ASSERT_TRUE(ending_.tick(rig_.step(), own_));
  EXPECT_TRUE(rig_.end.announced());
  ASSERT_TRUE(ending_.hear(rig_.step(), rig_id(2), ring::FinishAck{5, EndStage::decided, rig_id(2)}, {"route"}));
  ASSERT_TRUE(ending_.tick(rig_.step(), own_));
  EXPECT_TRUE(rig_.lifecycle.crawl_finished());
}

TEST_F(EndingTest, NewWorkAfterARestartTakesTheEndBack) {
  storage::Commit commit;
  rig_.end.remember(ring::Finish{1, "all done", {}}, commit);
  own_.rests = false;
  ASSERT_TRUE(ending_.tick(rig_.step(), own_));
  EXPECT_FALSE(rig_.end.announced());
  EXPECT_FALSE(rig_.lifecycle.ending());
}

// Started again after the decision: whoever is still there is asked once more, and then told.
TEST_F(EndingTest, ADecisionOfAnEarlierLifeIsBroughtToTheMembersAgain) {
  rig_.add_member(2, ring::MemberState::active);
  storage::Commit commit;
  const ring::Finish end = end_of(1, 5, EndStage::decided);
  rig_.end.remember(end, commit);
  ASSERT_TRUE(ending_.tick(rig_.step(), own_));
  ASSERT_EQ(rig_.sent<ring::Finish>().size(), 1u);
  EXPECT_EQ(rig_.sent<ring::Finish>()[0].stage, EndStage::proposed);
  rig_.clear();
  ASSERT_TRUE(ending_.hear(rig_.step(), rig_id(2), ring::FinishAck{5, EndStage::proposed, end.by}, {"route"}));
  ASSERT_TRUE(ending_.tick(rig_.step(), own_));
  ASSERT_EQ(rig_.sent<ring::Finish>().size(), 1u);
  EXPECT_EQ(rig_.sent<ring::Finish>()[0].stage, EndStage::decided);
  EXPECT_FALSE(rig_.lifecycle.ending());
  ASSERT_TRUE(ending_.hear(rig_.step(), rig_id(2), ring::FinishAck{5, EndStage::decided, end.by}, {"route"}));
  ASSERT_TRUE(ending_.tick(rig_.step(), own_));
  EXPECT_TRUE(rig_.lifecycle.crawl_finished());
}

// Those that have ended are gone, and their answers were lost. Where answers are often late, that they are down is
// known only after minutes.
TEST_F(EndingTest, WhoIsSilentForLongAfterTheDecisionIsNotWaitedFor) {
  rig_.add_member(2, ring::MemberState::active);
  storage::Commit commit;
  const ring::Finish end = end_of(1, 5, EndStage::decided);
  rig_.end.remember(end, commit);
  ASSERT_TRUE(ending_.tick(rig_.step(), own_));
  ASSERT_TRUE(ending_.hear(rig_.step(), rig_id(2), ring::FinishAck{5, EndStage::proposed, end.by}, {"route"}));
  ASSERT_TRUE(ending_.tick(rig_.step(), own_));
  const Duration patience = rig_.state.settings.presume_dead_after;  // with one copy of everything
  ring::Membership& membership = rig_.members.membership();
  const Time decided = rig_.now;
  rig_.now = decided + patience;
  ASSERT_TRUE(ending_.tick(rig_.step(), own_));
  EXPECT_FALSE(rig_.lifecycle.ending()) << "it answers probes";
  while (!membership.find(rig_id(2))->suspect) {
    ASSERT_LT(rig_.now, decided + 2 * patience);
    rig_.now += seconds(1);
    std::vector<ring::Send> sends;
    membership.tick(rig_.now, sends);
  }
  ASSERT_TRUE(ring::reachable(*membership.find(rig_id(2))));
  ASSERT_TRUE(ending_.tick(rig_.step(), own_));
  EXPECT_TRUE(rig_.lifecycle.crawl_finished());
}

TEST_F(EndingTest, OneThatDoesNotAgreeTakesTheEndBackForAll) {
  rig_.add_member(2, ring::MemberState::active);
  rig_.add_member(3, ring::MemberState::active);
  storage::Commit commit;
  rig_.end.remember(end_of(1, 5, EndStage::decided), commit);
  ASSERT_TRUE(ending_.tick(rig_.step(), own_));
  rig_.clear();
  ASSERT_TRUE(ending_.hear(rig_.step(), rig_id(3), ring::FinishAck{5, EndStage::proposed, rig_id(1), false, "no"}, {}));
  ASSERT_EQ(rig_.sent<ring::Finish>().size(), 2u);
  for (const ring::Finish& told : rig_.sent<ring::Finish>()) EXPECT_EQ(told.stage, EndStage::taken_back);
  EXPECT_TRUE(rig_.logged("the end is taken back"));
  EXPECT_FALSE(rig_.end.announced());
}

TEST_F(EndingTest, AQuestionAboutAnEndThatIsNotKnownHereIsAnsweredThatItIsTakenBack) {
  rig_.add_member(2, ring::MemberState::active);
  ring::FinishAck question{5, EndStage::proposed, rig_id(3)};
  question.asks = true;
  ASSERT_TRUE(ending_.hear(rig_.step(), rig_id(2), question, {"route"}));
  ASSERT_EQ(rig_.sent<ring::Finish>().size(), 1u);
  EXPECT_EQ(rig_.sent<ring::Finish>()[0].stage, EndStage::taken_back);
}

TEST_F(EndingTest, OneThatAgreedLearnsOfTheDecisionFromAnotherThatKnowsIt) {
  rig_.add_member(2, ring::MemberState::active);
  storage::Commit commit;
  rig_.end.agree(end_of(3, 5, EndStage::proposed), commit);
  ring::FinishAck question{5, EndStage::decided, rig_id(3)};
  question.asks = true;
  ASSERT_TRUE(ending_.hear(rig_.step(), rig_id(2), question, {"route"}));
  EXPECT_TRUE(rig_.end.announced());
}

TEST_F(EndingTest, AGrantCountsOnce) {
  EXPECT_TRUE(hear(2, 9));
  EXPECT_TRUE(hear(2, 10, 9, 100));
  EXPECT_EQ(granted_, 100u);
  EXPECT_TRUE(hear(2, 10, 9, 100)) << "the same wave, sent again, is answered again";
  EXPECT_FALSE(granted_);
}

TEST_F(EndingTest, ALateCopyOfAnOlderWaveIsPassedOver) {
  EXPECT_TRUE(hear(2, 10));
  EXPECT_FALSE(hear(2, 9));
  rig_.now += minutes(2);
  EXPECT_TRUE(hear(2, 9)) << "no transport holds a message for this long";
}

TEST_F(EndingTest, AGrantFromAReplyThatIsNotTheLastIsVoid) {
  EXPECT_TRUE(hear(2, 9));
  EXPECT_TRUE(hear(2, 10));
  EXPECT_TRUE(hear(2, 11, 9, 100)) << "it knows nothing of the reply to wave 10";
  EXPECT_FALSE(granted_);
}

// The peer has told the next initiator what it has; what an earlier one meant to give may be with others.
TEST_F(EndingTest, ALateGrantOfAnEarlierInitiatorIsVoid) {
  EXPECT_TRUE(hear(2, 9));
  EXPECT_TRUE(hear(1, 3));
  EXPECT_TRUE(hear(2, 10, 9, 100));
  EXPECT_FALSE(granted_);
  EXPECT_TRUE(hear(1, 4, 3, 50)) << "a wave later its own initiator gives again";
  EXPECT_FALSE(granted_);
  EXPECT_TRUE(hear(1, 5, 4, 50));
  EXPECT_EQ(granted_, 50u);
}

TEST_F(EndingTest, AWaveOfALifeThatItsSenderHasNotIsRefusedWithItsReason) {
  rig_.add_member(2, ring::MemberState::active);
  const std::uint64_t life = rig_.members.membership().find(rig_id(2))->incarnation / ring::incarnations_a_life;
  EXPECT_FALSE(ending_.fault(rig_id(2), {.wave = RisingNumber(life).next()}));
  EXPECT_TRUE(ending_.fault(rig_id(2), {.wave = RisingNumber(life + 1).next()}));
  EXPECT_NE(ending_.fault(rig_id(2), {.wave = ~0ull}).value_or("").find("later life"), std::string::npos);
}

}  // namespace
}  // namespace orbweaver
