// "What do you have of the partitions that I hold?": who is asked, how often, and which partitions wait for whom.
#include "node/replication/record_asks.h"

#include <gtest/gtest.h>

#include "tests/unit/crawl_keys.h"

namespace orbweaver {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using test::peer_id;

class RecordAsksTest : public testing::Test {
 protected:
  static constexpr Duration timeout = seconds(5);

  std::vector<RecordAsks::Out> tick() {
    return asks_.tick(now_, 7, [this] { return next_sequence_++; });
  }
  static std::vector<ring::PeerId> peers(std::size_t count) {
    std::vector<ring::PeerId> made;
    for (std::size_t i = 1; i <= count; ++i) made.push_back(peer_id(i));
    return made;
  }
  bool hear(const ring::PeerId& from, std::uint64_t sequence, bool later = false) {
    const bool taken = asks_.hear(from, {.sequence = sequence, .later = later}, now_);
    if (taken) asks_.done(from);
    return taken;
  }
  bool hear(std::size_t from, std::uint64_t sequence, bool later = false) {
    return hear(peer_id(from), sequence, later);
  }

  RecordAsks asks_{timeout};
  Time now_{seconds(1'000)};
  std::uint64_t next_sequence_ = 1;
};

TEST_F(RecordAsksTest, ARoundEndsWhenAllHaveAnswered) {
  const auto round = asks_.begin(peers(2), now_, {});
  asks_.add(round, 3);
  asks_.add(round, 4);
  const auto asked = tick();
  ASSERT_EQ(asked.size(), 2u);
  EXPECT_EQ(asked[0].question.sum, 7u);
  EXPECT_EQ(asks_.awaited().at(peer_id(2)), (std::vector<ring::Partition>{3, 4}));
  EXPECT_TRUE(hear(asked[0].to, asked[0].question.sequence));
  EXPECT_TRUE(asks_.open(round));
  EXPECT_TRUE(asks_.take_ended().empty());
  EXPECT_TRUE(hear(asked[1].to, asked[1].question.sequence));
  EXPECT_FALSE(asks_.open(round));
  EXPECT_EQ(asks_.take_ended(), (std::vector<ring::Partition>{3, 4}));
  EXPECT_TRUE(tick().empty());
  EXPECT_FALSE(asks_.next_deadline());
}

TEST_F(RecordAsksTest, WithNobodyToAskARoundIsOverAtOnce) {
  const auto round = asks_.begin({}, now_, {});
  asks_.add(round, 3);
  EXPECT_FALSE(asks_.open(round));
  EXPECT_TRUE(tick().empty());
}

TEST_F(RecordAsksTest, ItAsksAgainAfterALongerTimeEachTime_AndOnlyTheLastQuestionCounts) {
  const auto round = asks_.begin(peers(1), now_, {});
  const auto first = tick();
  ASSERT_EQ(first.size(), 1u);
  now_ += timeout;
  ASSERT_EQ(asks_.next_deadline(), now_);
  const auto second = tick();
  ASSERT_EQ(second.size(), 1u);
  now_ += timeout;
  EXPECT_TRUE(tick().empty());
  EXPECT_FALSE(hear(1, first[0].question.sequence));
  EXPECT_FALSE(hear(2, second[0].question.sequence)) << "another peer";
  EXPECT_FALSE(hear(1, 0));
  EXPECT_TRUE(asks_.open(round));
  EXPECT_TRUE(hear(1, second[0].question.sequence));
  EXPECT_FALSE(asks_.open(round));
}

TEST_F(RecordAsksTest, OneThatSaysLaterIsAskedAgainSoon) {
  const auto round = asks_.begin(peers(1), now_, {});
  const auto first = tick();
  EXPECT_FALSE(hear(1, first.at(0).question.sequence, true));
  EXPECT_TRUE(asks_.open(round));
  now_ += milliseconds(200);
  const auto second = tick();
  ASSERT_EQ(second.size(), 1u);
  EXPECT_TRUE(hear(1, second[0].question.sequence));
}

// What it says was true before the second round began.
TEST_F(RecordAsksTest, AnAnswerCountsForTheRoundsThatWereOpenWhenItWasAskedFor) {
  const auto first = asks_.begin(peers(1), now_, {});
  asks_.add(first, 3);
  const auto asked = tick();
  const auto second = asks_.begin(peers(1), now_, {{4, {2, peer_id(9)}}});
  asks_.add(second, 4);
  EXPECT_TRUE(tick().empty()) << "one question to a peer at a time";
  EXPECT_TRUE(asks_.hear(peer_id(1), {.sequence = asked.at(0).question.sequence}, now_));
  EXPECT_TRUE(asks_.awaits(first, peer_id(1)));
  EXPECT_FALSE(asks_.awaits(second, peer_id(1)));
  asks_.done(peer_id(1));
  EXPECT_EQ(asks_.take_ended(), (std::vector<ring::Partition>{3}));
  const auto again = tick();
  ASSERT_EQ(again.size(), 1u);
  EXPECT_EQ(again[0].question.tenures.size(), 1u);
  EXPECT_TRUE(hear(1, again[0].question.sequence));
  EXPECT_EQ(asks_.take_ended(), (std::vector<ring::Partition>{4}));
}

TEST_F(RecordAsksTest, AThousandAreAskedAFewAtATime) {
  const auto round = asks_.begin(peers(1'000), now_, {});
  std::size_t questions = 0;
  while (asks_.open(round)) {
    const auto asked = tick();
    ASSERT_FALSE(asked.empty());
    ASSERT_LE(asked.size(), RecordAsks::max_unanswered);
    questions += asked.size();
    for (const RecordAsks::Out& out : asked) {
      EXPECT_TRUE(asks_.hear(out.to, {.sequence = out.question.sequence}, now_));
      asks_.done(out.to);
    }
  }
  EXPECT_EQ(questions, 1'000u);
}

TEST_F(RecordAsksTest, ThoseThatCannotBeReachedAreForgotten_AndTheSilentGivenUp) {
  const auto round = asks_.begin(peers(3), now_, {});
  asks_.add(round, 3);
  (void)tick();
  asks_.forget_unless([](const ring::PeerId& peer) { return peer != peer_id(1); });
  EXPECT_FALSE(asks_.awaited().contains(peer_id(1)));
  EXPECT_TRUE(asks_.give_up(now_ + seconds(9), seconds(10)).empty());
  const auto silent = asks_.give_up(now_ + seconds(10), seconds(10));
  ASSERT_EQ(silent.size(), 2u);
  EXPECT_EQ(silent[0].second, (std::vector<ring::Partition>{3}));
  EXPECT_EQ(asks_.take_ended(), (std::vector<ring::Partition>{3}));
  EXPECT_FALSE(asks_.any_open());
  EXPECT_TRUE(tick().empty());
}

}  // namespace
}  // namespace orbweaver
