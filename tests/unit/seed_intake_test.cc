// Where seeds come from, and what happens to them: node/links/seed_intake.h, docs/how-to/keywords.md,
// docs/decisions/0006-seeds-wait-for-the-ring.md.
#include "node/links/seed_intake.h"

#include "node/crawl/outside_json.h"
#include "tests/unit/fetch_rig.h"

namespace orbweaver {
namespace {

using nlohmann::json;
using storage::Reason;
using storage::UrlState;
using Texts = std::vector<std::string>;

class SeedIntakeTest : public FetchRig {
 protected:
  SeedIntakeTest() { settings().scope = ScopeKind::host; }
  SeedIntake& intake() { return parts_->intake; }
  // Starts a process with these seeds; it waits until the ring has had this many members.
  void start_with(const Texts& seeds, std::size_t wait_for_peers = 1) {
    start_.seeds = seeds;
    start_.wait_for_peers = wait_for_peers;
    start();
  }
  json ask(const json& body) {
    const Result<json> answer = intake().answer(step(), body);
    EXPECT_TRUE(answer);
    return answer ? *answer : json();
  }
  void tick_intake() { ASSERT_TRUE(intake().tick(step())); }
  std::uint64_t queued() const { return store_->held().queued; }
  // Seeds sent to other members.
  Texts sent_seeds() const {
    Texts all;
    for (const ring::Sync& sync : sent<ring::Sync>()) all.insert(all.end(), sync.seeds.begin(), sync.seeds.end());
    return all;
  }
  void results(const Texts& found) {
    const ResultList page{urls(found)};
    storage::Commit commit;
    intake().add_results(step(), page, commit);
    ASSERT_TRUE(parts_->records.writer.commit(step(), commit));
  }
};

// --- seeds of the start

TEST_F(SeedIntakeTest, SeedsWaitUntilTheRingHasHadSoManyMembers) {
  start_with({"http://a.test/"}, 3);
  EXPECT_TRUE(intake().waits());
  EXPECT_FALSE(intake().idle());
  add_member(2);
  tick_intake();
  EXPECT_EQ(queued(), 0u);
  add_member(3, ring::MemberState::joining);
  tick_intake();
  EXPECT_EQ(queued(), 0u) << "it is not in yet";
  add_member(4);
  tick_intake();
  EXPECT_EQ(parts_->seeds.all(), std::set<std::string>{"http://a.test/"});
  EXPECT_FALSE(intake().waits());
  EXPECT_TRUE(intake().idle());
}

TEST_F(SeedIntakeTest, MembersThatAreDownByNowWereThereToo) {
  start_with({"http://a.test/"}, 2);
  add_member(2, ring::MemberState::down);
  tick_intake();
  EXPECT_EQ(parts_->seeds.size(), 1u);
}

TEST_F(SeedIntakeTest, TheyAreAdmittedOnce) {
  start_with({"http://a.test/"});
  tick_intake();
  EXPECT_EQ(queued(), 1u);
  const std::uint64_t writes = kv_.writes();
  tick_intake();
  EXPECT_EQ(kv_.writes(), writes);
}

TEST_F(SeedIntakeTest, WhoHasWaitedBeforeDoesNotWaitAgainAfterARestart) {
  start_with({"http://a.test/"}, 3);
  add_member(2);
  add_member(3);
  tick_intake();
  EXPECT_EQ(meta(meta_name::waited), "3");
  start_with({"http://a.test/", "http://b.test/"}, 3);
  tick_intake();
  EXPECT_FALSE(intake().waits()) << "the ring may be smaller now";
  EXPECT_TRUE(parts_->seeds.contains("http://b.test/"));
  EXPECT_EQ(meta(meta_name::waited), "3") << "the most that was ever waited for";
  start_with({"http://c.test/"}, 4);
  tick_intake();
  EXPECT_TRUE(intake().waits()) << "it never waited for so many";
}

// Those who were there may have left since.
TEST_F(SeedIntakeTest, APowerCutDoesNotMakeItWaitAgain) {
  kv_.keep_unsynced(100);
  start_with({"http://a.test/"}, 2);
  add_member(2);
  tick_intake();
  EXPECT_FALSE(intake().waits());
  kv_.drop_unsynced(100);
  EXPECT_EQ(meta(meta_name::waited), "2");
}

TEST_F(SeedIntakeTest, ASeedThatTheRingHasIsNotAdmittedOnceMoreAfterARestart) {
  start_with({"http://a.test/"});
  tick_intake();
  add_member(2);
  start_with({"http://a.test/"});
  add_member(2);
  clear();
  tick_intake();
  EXPECT_EQ(sent_seeds(), Texts{});
}

TEST_F(SeedIntakeTest, APeerThatLeavesWaitsForNobody) {
  start_with({"http://a.test/"}, 3);
  parts_->ends.process.leave(now_);
  tick_intake();
  EXPECT_FALSE(intake().waits());
  EXPECT_EQ(parts_->seeds.size(), 1u);
}

TEST_F(SeedIntakeTest, ANewcomerWhoseRingHasSeedsAlreadyWaitsForNobody) {
  start_with({"http://a.test/"}, 3);
  ASSERT_TRUE(parts_->seeds.add(step(), {"http://ring.test/"}));
  tick_intake();
  EXPECT_FALSE(intake().waits());
  EXPECT_EQ(parts_->seeds.size(), 2u);
}

TEST_F(SeedIntakeTest, EverySeedThatIsRefusedAtTheStartIsNamedOrCounted) {
  Texts seeds(150, "mailto:x");
  seeds.emplace_back("http://a.test/");
  start_with(seeds);
  tick_intake();
  EXPECT_EQ(queued(), 1u);
  std::uint64_t reported = 0;
  for (const LogEntry& note : said<LogEntry>()) {
    std::uint64_t these = 1;
    for (const auto& [name, value] : note.fields)
      if (name == "seeds") these = std::stoull(value);
    reported += these;
  }
  EXPECT_EQ(reported, 150u);
}

// --- the question "seed"

TEST_F(SeedIntakeTest, AcceptedSeedsWidenTheScopeEverywhereAndAreQueued) {
  start();
  add_member(2);
  clear();
  const json answer = ask({{"urls", {"HTTP://A.test", "http://a.test/b#c"}}});
  EXPECT_EQ(answer["accepted"], (json{"http://a.test/", "http://a.test/b"})) << "in the canonical form";
  EXPECT_EQ(answer["refused"], json::array());
  EXPECT_EQ(answer["accepted_unlisted"], 0);
  EXPECT_EQ(answer["result_pages"], 0);
  EXPECT_EQ(sent_seeds(), (Texts{"http://a.test/", "http://a.test/b"}));
  EXPECT_TRUE(parts_->seeds.scope().contains(url("http://a.test/other")));
  EXPECT_EQ(meta(meta_name::seeds), "http://a.test/\nhttp://a.test/b\n");
}

TEST_F(SeedIntakeTest, WhatIsNotAUrlIsRefusedWithItsCauseAHundredOfThemOneByOne) {
  start();
  json items = json::array({7, nullptr, "http://", std::string(1000, 'x')});
  for (int i = 0; i < 200; ++i) items.push_back("mailto:" + std::to_string(i));
  items.push_back("http://a.test/");
  const json answer = ask({{"urls", items}});
  EXPECT_EQ(answer["refused"].size(), 100u);
  EXPECT_EQ(answer["refused_unlisted"], 104);
  EXPECT_EQ(answer["accepted"], json{"http://a.test/"}) << "the others are taken all the same";
  for (const json& refused : answer["refused"]) {
    EXPECT_FALSE(refused["why"].get<std::string>().empty());
    EXPECT_LE(refused["url"].get<std::string>().size(), 256u);
  }
}

TEST_F(SeedIntakeTest, MoreThanOneQuestionMayHaveAreRefusedWhole) {
  start();
  json items = json::array();
  for (std::size_t i = 0; i <= ring::max_seeds; ++i) items.push_back("http://a.test/");
  const json answer = ask({{"urls", items}});
  ASSERT_TRUE(answer.contains("error"));
  EXPECT_NE(answer["error"].get<std::string>().find("65536"), std::string::npos) << answer["error"];
  EXPECT_EQ(parts_->seeds.size(), 0u);
}

TEST_F(SeedIntakeTest, TheAnswerIsNoLongerThanAMessageMayBe) {
  start();
  json items = json::array();
  for (int i = 0; i < 1500; ++i) items.push_back("http://a.test/" + std::string(4000, 'x') + std::to_string(i));
  const json answer = ask({{"urls", items}});
  EXPECT_LT(json_text(answer).size(), ring::max_text_bytes);
  EXPECT_EQ(answer["accepted"].size() + answer["accepted_unlisted"].get<std::size_t>(), 1500u);
  EXPECT_GT(answer["accepted_unlisted"], 0);
  EXPECT_EQ(parts_->seeds.size(), 1500u);
}

TEST_F(SeedIntakeTest, AQuestionWithoutAListIsAnErrorOrAsksForNothing) {
  start();
  EXPECT_TRUE(ask({{"urls", "http://a.test/"}}).contains("error"));
  EXPECT_EQ(ask(json::object())["accepted"], json::array());
}

TEST_F(SeedIntakeTest, SeedsGoToAsManyMembersAsTheMemoryForMessagesHasRoomFor) {
  start_.memory.messages_out = 500;
  start();
  for (std::uint8_t peer = 2; peer < 10; ++peer) add_member(peer);
  clear();
  ask({{"urls", {"http://a.test/" + std::string(100, 'x')}}});
  EXPECT_EQ(sent_seeds().size(), 3u) << "some 150 bytes each";
}

TEST_F(SeedIntakeTest, SeedsThatAreResultPagesAreCounted) {
  ASSERT_TRUE(set_setting(settings(), "result_pages", "^http://s[.]test/q"));
  start();
  EXPECT_EQ(ask({{"urls", {"http://s.test/q?x", "http://a.test/"}}})["result_pages"], 1);
  EXPECT_EQ(queued(), 2u);
}

TEST_F(SeedIntakeTest, Scope_ASeedIsInWhateverTheListsSay) {
  settings().url_deny = {"no"};
  start();
  ask({{"urls", {"http://a.test/no"}}});
  expect("http://a.test/no", UrlState::queued, Reason::none);
}

TEST_F(SeedIntakeTest, AStoreThatFailsIsAnError) {
  start_with({"http://a.test/"});
  kv_.fail_after(0, storage::ErrorKind::io);
  EXPECT_FALSE(intake().answer(step(), {{"urls", {"http://b.test/"}}}));
  EXPECT_FALSE(intake().tick(step()));
}

// --- results of a search

TEST_F(SeedIntakeTest, ResultsBecomeSeedsAndTheWordGoesOutAheadOfThem) {
  start();
  add_member(2);
  clear();
  results({"http://a.test/x", "http://b.test/y"});
  EXPECT_EQ(parts_->seeds.size(), 2u);
  EXPECT_EQ(sent_seeds(), (Texts{"http://a.test/x", "http://b.test/y"}));
  EXPECT_TRUE(parts_->seeds.scope().contains(url("http://a.test/other")));
  EXPECT_EQ(parts_->links.follower.found(), 2u);
  EXPECT_EQ(store_->counts().discovered() + store_->counts().outbox, 2u);
}

TEST_F(SeedIntakeTest, OnlyTheListsOfTheScopeKeepAResultOut) {
  settings().url_deny = {"no"};
  start();
  results({"http://a.test/no", "http://b.test/"});
  EXPECT_EQ(parts_->seeds.all(), std::set<std::string>{"http://b.test/"});
  EXPECT_EQ(parts_->links.router.counters().out_of_scope, 1u);
  EXPECT_EQ(queued(), 1u);
}

TEST_F(SeedIntakeTest, NoMoreSeedsByResultsThanResultsMaxAndTheRestIsCountedAndSaid) {
  settings().max_results = 2;
  start();
  results({"http://a.test/"});
  EXPECT_FALSE(logged("results left out"));
  results({"http://a.test/", "http://b.test/", "http://c.test/", "http://d.test/"});
  EXPECT_TRUE(logged("results left out"));
  EXPECT_EQ(parts_->seeds.size(), 2u);
  EXPECT_EQ(parts_->links.router.counters().out_of_scope, 2u);
  EXPECT_EQ(queued(), 2u);
}

}  // namespace
}  // namespace orbweaver
