// Suspects: which URL is one, how many are admitted, and what a host's memory of bodies shows (docs/how-to/traps.md).
#include "node/links/trap_judge.h"

#include <gtest/gtest.h>

#include "tests/unit/verdict_rig.h"

namespace orbweaver {
namespace {

using storage::Reason;
using storage::UrlState;

class TrapJudgeTest : public VerdictRig {
 protected:
  TrapJudgeTest() {
    settings_.trap_rules = {"deep_chain", "same_content", "mirror"};
    settings_.trap_depth = 5;
    settings_.trap_budget = 2;
    settings_.trap_same_content = 3;
    settings_.trap_mirror_pages = 2;
    build();
  }
  // Judges a link to a page of a host, and stores the result.
  storage::UrlRecord admit(std::size_t host, std::size_t page, std::uint16_t depth,
                           std::optional<TrapRule> found = std::nullopt) {
    storage::Merge merge = test::queued_merge(host, page, depth);
    traps_->judge(merge.key, *CanonicalUrl::parse(merge.record.url), merge.record, found);
    EXPECT_TRUE(store_.commit(test::commit_of({.merges = {merge}})));
    return merge.record;
  }
  bool admitted(std::size_t host, std::size_t page, std::uint16_t depth, std::optional<TrapRule> found = std::nullopt) {
    const storage::UrlRecord record = admit(host, page, depth, found);
    EXPECT_EQ(record.reason, record.state == UrlState::queued ? Reason::none : Reason::trap);
    return record.state == UrlState::queued;
  }
};

TEST_F(TrapJudgeTest, OfARuleAndHostSoManySuspectsAreAdmitted) {
  EXPECT_TRUE(admitted(1, 1, 6));
  EXPECT_TRUE(admitted(1, 2, 6));
  EXPECT_FALSE(admitted(1, 3, 6));
  EXPECT_TRUE(admitted(1, 4, 5)) << "not a suspect";
  EXPECT_TRUE(admitted(2, 1, 6)) << "another host";
  EXPECT_TRUE(admitted(1, 5, 1, TrapRule::same_content)) << "another rule";
}

TEST_F(TrapJudgeTest, WhatIsKnownWasJudgedWhenItWasNew) {
  EXPECT_TRUE(admitted(1, 1, 6));
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(admitted(1, 1, 6));
  EXPECT_TRUE(admitted(1, 2, 6)) << "the same link again used nothing up";
  EXPECT_FALSE(admitted(1, 3, 6));
  EXPECT_FALSE(admitted(1, 3, 6)) << "what is excluded as a trap stays so";
}

TEST_F(TrapJudgeTest, ASeedIsNeverASuspect) {
  settings_.trap_budget = 0;
  EXPECT_TRUE(admitted(1, 1, 0, TrapRule::same_content));
  EXPECT_FALSE(admitted(1, 2, 1, TrapRule::same_content));
}

TEST_F(TrapJudgeTest, WithoutRulesNothingIsJudged) {
  settings_.trap_rules = {};
  settings_.trap_budget = 0;
  build();
  EXPECT_FALSE(traps_->any_rule());
  EXPECT_TRUE(admitted(1, 1, 100, TrapRule::same_content));
}

TEST_F(TrapJudgeTest, AfterARestartTheHostsRecordsSayWhatWasAdmitted) {
  EXPECT_TRUE(admitted(1, 1, 6));
  EXPECT_TRUE(admitted(1, 2, 6));
  EXPECT_TRUE(admitted(1, 3, 1, TrapRule::same_content));
  EXPECT_TRUE(admitted(1, 4, 1, TrapRule::same_content));
  EXPECT_FALSE(admitted(1, 5, 1, TrapRule::same_content));
  build();
  EXPECT_FALSE(admitted(1, 6, 6));
  EXPECT_TRUE(admitted(1, 7, 1, TrapRule::same_content)) << "its URL does not tell: the budget is whole again";
}

TEST_F(TrapJudgeTest, AMirrorsLinksAreSuspectUnlessTheirPageSaysMore) {
  ASSERT_TRUE(store_.commit(test::commit_of({.meta = {{"mirror/" + test::host_text(1), "o.test"}}})));
  const CanonicalUrl url = *CanonicalUrl::parse(test::url_text(1, 1));
  EXPECT_EQ(traps_->suspicion(url, 1), TrapRule::mirror);
  EXPECT_EQ(traps_->suspicion(url, 6), TrapRule::deep_chain) << "the first rule that speaks counts";
  EXPECT_TRUE(admitted(1, 1, 1));
  EXPECT_TRUE(admitted(1, 2, 1));
  EXPECT_FALSE(admitted(1, 3, 1));
  EXPECT_TRUE(admitted(1, 4, 1, TrapRule::same_content)) << "it counts as the page's rule says";
}

TEST_F(TrapJudgeTest, ABodyIsACopyOfManyOnceItsHostHasSentItSoOften) {
  BenchHost host;
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(traps_->copy_of_many(host, 42)) << i;
  EXPECT_TRUE(traps_->copy_of_many(host, 42));
  EXPECT_FALSE(traps_->copy_of_many(host, 43));
  EXPECT_FALSE(traps_->copy_of_many(host, 0)) << "no fingerprint";
}

TEST_F(TrapJudgeTest, TheBodySeenLeastMakesRoom) {
  BenchHost host;
  for (int i = 0; i < 4; ++i) traps_->copy_of_many(host, 42);
  for (std::uint64_t body = 100; body < 200; ++body) traps_->copy_of_many(host, body);
  EXPECT_EQ(host.contents.size(), 32u);
  EXPECT_TRUE(traps_->copy_of_many(host, 42));
}

}  // namespace
}  // namespace orbweaver
