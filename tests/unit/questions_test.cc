// Questions to a peer and to the whole ring: which peers are asked, what is answered and when, what is refused.
#include "node/peer/questions.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "node/config/settings_table.h"
#include "node/replication/members.h"
#include "node/settings/settings.h"
#include "storage/memory_kv.h"
#include "tests/unit/crawl_keys.h"

namespace orbweaver {
namespace {

using nlohmann::json;
using std::chrono::seconds;

// Peer 1 of a ring with 2 and 3.
class QuestionsTest : public testing::Test {
 protected:
  QuestionsTest() { membership_.merge({test::active_member(2), test::active_member(3)}, Time{}); }

  Result<void> ask(const std::string& verb, const std::string& body = "", bool for_ring = true) {
    ring::Message message;
    message.from = test::peer_id(9);
    return questions_.on_ask({now_, out_}, message, {7, verb, body, for_ring}, {"asker"});
  }
  void answer(std::size_t from, std::uint64_t sequence, const std::string& body) {
    ring::Message message;
    message.from = test::peer_id(from);
    questions_.on_answer({now_, out_}, message, {sequence, body});
  }
  // The answer that the asker got; null: none yet.
  json reported() const {
    for (const Command& command : out_)
      if (const auto* reply = std::get_if<ReplyMessage>(&command)) {
        EXPECT_EQ(reply->path.route, "asker");
        const auto& body = std::get<ring::Answer>(reply->message.body);
        EXPECT_EQ(body.sequence, 7u);
        return json::parse(body.body);
      }
    return nullptr;
  }
  // Questions passed on to other peers, by address.
  std::map<std::string, ring::Ask> passed_on() const {
    std::map<std::string, ring::Ask> asked;
    for (const Command& command : out_)
      if (const auto* sent = std::get_if<SendMessage>(&command))
        asked[sent->address] = std::get<ring::Ask>(sent->message.body);
    return asked;
  }
  static std::string address(std::size_t peer) { return test::active_member(peer).address; }

  Settings settings_ = default_settings();
  storage::MemoryKv kv_;
  storage::Store store_{*storage::Store::open(kv_)};
  PeerState state_{settings_, MemoryPlan{}, store_, test::active_member(1).id, {}};
  Members members_{state_, ring::Membership(test::active_member(1), {}, 1)};
  ring::Membership& membership_ = members_.membership();
  ring::Tenures tenures_{test::few_partitions};
  Messenger messenger_{state_, members_, tenures_};
  ring::RingId ring_ = test::peer_id(100);
  MemoryPlan memory_ = plan_memory({}, std::uint64_t{2} << 30);
  Canonicaliser canonicaliser_{settings_};
  std::optional<ring::PeerId> knows_;
  std::optional<Error> failure_;
  std::vector<std::pair<std::string, json>> asked_own_;
  std::vector<std::string> refused_;
  Time now_{seconds{1000}};
  Commands out_;
  Questions questions_{
      {.membership = membership_,
       .ring = ring_,
       .messenger = messenger_,
       .memory = memory_,
       .canonicaliser = canonicaliser_,
       .who_knows = [this](const CanonicalUrl&) { return knows_; },
       .complete = [](const Step&, const std::string& verb, json& body) -> Result<void> {
         if (verb != "order") return {};
         if (body.contains("fault")) return fail(ErrorCode::invalid_input, "it is at fault");
         body = json{{"stamped", true}};
         return {};
       },
       .answer_own = [this](const Step&, const std::string& verb, const json& body) -> Result<json> {
         asked_own_.emplace_back(verb, body);
         if (failure_) return tl::make_unexpected(*failure_);
         return json{{"id", "me"}, {"counts", {{"fetched", 1}}}};
       },
       .refuse = [this](const Step&, const ring::Message&, const std::string& cause) { refused_.push_back(cause); },
       .sequences = RisingNumber(1)}};
};

TEST_F(QuestionsTest, OneThatIsNotForTheRingIsAnsweredAtOnce) {
  EXPECT_TRUE(ask("status", "", false));
  EXPECT_EQ(reported()["id"], "me");
  EXPECT_TRUE(passed_on().empty());
}

TEST_F(QuestionsTest, AllMembersAreAskedAndTheirCountsAddedUp) {
  EXPECT_TRUE(ask("status"));
  const auto asked = passed_on();
  ASSERT_EQ(asked.size(), 2u);
  EXPECT_FALSE(asked.at(address(2)).for_ring);
  EXPECT_EQ(questions_.next_deadline(), now_ + seconds{2});
  answer(2, asked.at(address(2)).sequence, R"({"id":"two","counts":{"fetched":10}})");
  EXPECT_EQ(reported(), nullptr);
  answer(3, asked.at(address(3)).sequence, R"({"id":"three","counts":{"fetched":100}})");
  EXPECT_EQ(reported()["totals"]["fetched"], 111);
  EXPECT_EQ(reported()["peers"].size(), 3u);
  EXPECT_EQ(reported()["unreachable"].size(), 0u);
  EXPECT_EQ(reported()["ring"], ring_.hex());
  EXPECT_FALSE(questions_.next_deadline());
}

TEST_F(QuestionsTest, WhoIsSilentIsNamedWhenTheTimeIsUp) {
  EXPECT_TRUE(ask("stop"));
  answer(2, passed_on().at(address(2)).sequence, "{}");
  questions_.tick({now_ + seconds{1}, out_});
  EXPECT_EQ(reported(), nullptr);
  questions_.tick({now_ + seconds{2}, out_});
  ASSERT_EQ(reported()["unreachable"].size(), 1u);
  EXPECT_EQ(reported()["unreachable"][0]["address"], address(3));
}

TEST_F(QuestionsTest, AMemberThatIsDownIsNotAskedAndIsNamed) {
  ring::Member down = test::active_member(4);
  down.state = ring::MemberState::down;
  membership_.welcome({down}, now_);
  EXPECT_TRUE(ask("status"));
  const auto asked = passed_on();
  ASSERT_EQ(asked.size(), 2u);
  for (const std::size_t peer : {2u, 3u}) answer(peer, asked.at(address(peer)).sequence, "{}");
  ASSERT_EQ(reported()["unreachable"].size(), 1u);
  EXPECT_EQ(reported()["unreachable"][0]["id"], test::peer_id(4).hex());
}

TEST_F(QuestionsTest, OnlyTheOneThatWasAskedMayAnswerAndOnce) {
  EXPECT_TRUE(ask("status"));
  const auto asked = passed_on();
  answer(3, asked.at(address(2)).sequence, "{}");
  answer(2, asked.at(address(2)).sequence, "no JSON");
  EXPECT_EQ(refused_.size(), 2u);
  answer(2, asked.at(address(2)).sequence, "{}");
  answer(2, asked.at(address(2)).sequence, "{}");
  answer(2, 12345, "{}");
  EXPECT_EQ(reported(), nullptr) << "3 has not answered";
  EXPECT_EQ(refused_.size(), 2u) << "a late one is passed over";
}

TEST_F(QuestionsTest, ExplainGoesToTheOneThatKnows) {
  knows_ = test::peer_id(2);
  EXPECT_TRUE(ask("explain", R"({"url":"http://a.test/"})"));
  EXPECT_TRUE(asked_own_.empty());
  answer(2, passed_on().at(address(2)).sequence, R"({"state":"fetched"})");
  EXPECT_EQ(reported()["state"], "fetched");
}

TEST_F(QuestionsTest, ExplainIsThisPeersWhereItKnowsOrTheUrlIsNone) {
  EXPECT_TRUE(ask("explain", R"({"url":"http://a.test/"})"));
  EXPECT_EQ(asked_own_.size(), 1u);
  knows_ = test::peer_id(2);
  EXPECT_TRUE(ask("explain", R"({"url":"mailto:x"})"));
  EXPECT_EQ(asked_own_.size(), 2u);
  EXPECT_TRUE(passed_on().empty());
}

TEST_F(QuestionsTest, ExplainWithoutAnAnswerNamesTheOwner) {
  knows_ = test::peer_id(2);
  EXPECT_TRUE(ask("explain", R"({"url":"http://a.test/"})"));
  questions_.tick({now_ + seconds{2}, out_});
  EXPECT_TRUE(reported().contains("error"));
  EXPECT_EQ(reported()["owner"][0]["address"], address(2));
}

TEST_F(QuestionsTest, AnOrderIsCompleteBeforeItIsPassedOn) {
  EXPECT_TRUE(ask("order", R"({"kind":"pause"})"));
  EXPECT_EQ(asked_own_.at(0).second, (json{{"stamped", true}}));
  EXPECT_EQ(json::parse(passed_on().at(address(2)).body), (json{{"stamped", true}}));
}

TEST_F(QuestionsTest, AnOrderAtFaultIsAnsweredAndNotPassedOn) {
  EXPECT_TRUE(ask("order", R"({"fault":1})"));
  EXPECT_EQ(reported()["error"], "it is at fault");
  EXPECT_TRUE(passed_on().empty());
  EXPECT_TRUE(refused_.empty()) << "a person's slip, not a broken message";
}

TEST_F(QuestionsTest, EachMemberHearsOnlyWhereItIsToGoOn) {
  const json after = {{test::peer_id(2).hex(), "http://a.test/"}, {test::peer_id(3).hex(), "http://b.test/"}};
  EXPECT_TRUE(ask("traps", json{{"after", after}}.dump()));
  const json body = json::parse(passed_on().at(address(2)).body);
  EXPECT_EQ(body["after"].size(), 1u);
  EXPECT_EQ(body["after"][test::peer_id(2).hex()], "http://a.test/");
}

TEST_F(QuestionsTest, WhatCannotBeReadIsRefusedAndAnswered) {
  EXPECT_TRUE(ask("status", "{\"a\":"));
  EXPECT_EQ(refused_.size(), 1u);
  EXPECT_TRUE(reported().contains("error"));
  EXPECT_TRUE(ask("explain", R"({"url":7})"));
  EXPECT_EQ(refused_.size(), 2u);
  EXPECT_TRUE(asked_own_.empty());
}

TEST_F(QuestionsTest, MoreThanTheyMayBeAreRefused) {
  for (int i = 0; i < 256; ++i) EXPECT_TRUE(ask("status"));
  EXPECT_TRUE(refused_.empty());
  EXPECT_TRUE(ask("status"));
  EXPECT_EQ(refused_.size(), 1u);
  questions_.tick({now_ + seconds{2}, out_});
  EXPECT_TRUE(ask("status"));
  EXPECT_EQ(refused_.size(), 1u);
}

TEST_F(QuestionsTest, AnswersBeyondWhatAMessageHoldsAreCounted) {
  EXPECT_TRUE(ask("status"));
  const auto asked = passed_on();
  answer(2, asked.at(address(2)).sequence, json{{"text", std::string(ring::max_text_bytes - 100'000, 'x')}}.dump());
  answer(3, asked.at(address(3)).sequence, json{{"text", std::string(100'000, 'x')}}.dump());
  EXPECT_EQ(reported()["left_out"], 1);
  EXPECT_EQ(reported()["peers"].size(), 2u);
}

TEST_F(QuestionsTest, AStoreThatFailsIsAnErrorAndNothingIsAnswered) {
  failure_ = Error{ErrorCode::io, "the disk"};
  EXPECT_FALSE(ask("status"));
  EXPECT_FALSE(ask("seed", "", false));
  EXPECT_EQ(reported(), nullptr);
}

}  // namespace
}  // namespace orbweaver
