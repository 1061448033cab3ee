// Reports from a running ring: how they end, whatever its peers answer (node/cli/ring_reader.h).
#include "node/cli/ring_reader.h"

#include <gtest/gtest.h>

#include <deque>

namespace orbweaver {
namespace {

using nlohmann::json;

// A peer's part of an answer: its URLs by number, and where it goes on.
json part(const std::string& id, std::vector<int> urls, const std::string& last) {
  json list = json::array();
  for (const int url : urls) list.push_back({{"url", "http://a.test/" + std::to_string(url)}});
  return {{"id", id}, {"address", id + ".test:7400"}, {"urls", list}, {"looked_at", 2 * urls.size()}, {"last", last}};
}
json answer(std::vector<json> peers) { return {{"peers", std::move(peers)}, {"unreachable", json::array()}}; }

class RingReaderTest : public testing::Test {
 protected:
  Result<UrlsRead> read(std::deque<json> answers, std::size_t most = 1000) {
    RingReader reader(
        [&](const json& question) -> Result<json> {
          asked_.push_back(question);
          if (answers.empty()) return fail(ErrorCode::unreachable, "nobody answers");
          json next = std::move(answers.front());
          answers.pop_front();
          return next;
        },
        RecordFilter{});
    return reader.read(
        [&](const json& url) {
          taken_.push_back(url["url"]);
          return taken_.size() < most;
        },
        [](std::uint64_t) {});
  }
  void expect_error(const Result<UrlsRead>& read, ErrorCode code, const std::string& words) {
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().code, code);
    EXPECT_NE(read.error().message.find(words), std::string::npos) << read.error().message;
  }

  std::vector<json> asked_;
  std::vector<std::string> taken_;
};

TEST_F(RingReaderTest, EachPeerGoesOnWhereItWasAndEndsByItself) {
  const auto read = this->read({answer({part("a", {1, 2}, "http://a.test/2"), part("b", {3}, "")}),
                                answer({part("a", {4}, ""), part("b", {9}, "")})});
  ASSERT_TRUE(read);
  EXPECT_EQ(taken_.size(), 4u) << "b had ended: its second part is not taken";
  EXPECT_EQ(read->looked_at, 8u);
  ASSERT_EQ(asked_.size(), 2u);
  EXPECT_FALSE(asked_[0].contains("after"));
  EXPECT_EQ(asked_[1]["after"], (json{{"a", "http://a.test/2"}}));
}

TEST_F(RingReaderTest, EndsWhenNoMoreIsWanted) {
  const auto read = this->read({answer({part("a", {1, 2, 3}, "http://a.test/3")})}, 2);
  ASSERT_TRUE(read);
  EXPECT_EQ(taken_.size(), 2u);
}

TEST_F(RingReaderTest, APeerThatFallsSilentIsNamedAfterThreeRounds) {
  std::deque<json> answers{answer({part("a", {1}, "http://a.test/1"), part("b", {2}, "")})};
  for (int i = 0; i < 5; ++i) answers.push_back(answer({}));
  const auto read = this->read(answers);
  ASSERT_TRUE(read);
  EXPECT_EQ(asked_.size(), 4u);
  ASSERT_EQ(read->unreachable.size(), 1u);
  EXPECT_EQ(read->unreachable[0]["address"], "a.test:7400");
}

TEST_F(RingReaderTest, WhoIsSilentAtFirstIsAskedThreeTimes) {
  json first = answer({part("a", {1}, "")});
  first["unreachable"].push_back({{"id", "b"}, {"address", "b.test:7400"}});
  EXPECT_EQ(read({first, first, first})->unreachable.size(), 1u);
  EXPECT_EQ(taken_.size(), 1u);
  taken_.clear();
  EXPECT_TRUE(read({first, answer({part("a", {1}, ""), part("b", {2}, "")})})->unreachable.empty());
  EXPECT_EQ(taken_.size(), 2u);
}

TEST_F(RingReaderTest, AnswersWithoutRoomForAllAreAskedForAgainTenTimes) {
  json cut = answer({part("a", {1}, "")});
  cut["left_out"] = 1;
  expect_error(read(std::deque<json>(20, cut)), ErrorCode::unreachable, "too many other questions");
  EXPECT_EQ(asked_.size(), 10u);
}

TEST_F(RingReaderTest, APeerThatRepeatsItsAnswerEndsTheReport) {
  const json same = answer({part("a", {1}, "http://a.test/1")});
  expect_error(read({same, same}), ErrorCode::io, "peer a repeats its answer");
  expect_error(read({answer({part("b", {}, "http://a.test/1"), part("b", {}, "")})}), ErrorCode::io, "repeats");
}

TEST_F(RingReaderTest, AnErrorOrAFieldOfAnotherTypeEndsTheReport) {
  json broken = part("a", {1}, "");
  broken["error"] = "its disk failed";
  expect_error(read({answer({broken})}), ErrorCode::io, "its disk failed");
  for (const char* const field : {"id", "last", "urls", "looked_at"}) {
    json wrong = part("a", {1}, "");
    wrong[field] = json::object();
    EXPECT_FALSE(read({answer({wrong})})) << field;
  }
  EXPECT_FALSE(read({answer({json("no object")})}));
  taken_.clear();
  json strange = part("a", {1}, "");
  strange["urls"].push_back("no object");
  EXPECT_TRUE(read({answer({strange})}));
  EXPECT_EQ(taken_.size(), 1u);
}

TEST_F(RingReaderTest, ARingThatStopsAnsweringEndsTheReport) {
  expect_error(read({answer({part("a", {1}, "http://a.test/1")})}), ErrorCode::unreachable, "nobody answers");
}

}  // namespace
}  // namespace orbweaver
