// What a peer remembers of its crawl, for charts.
#include "node/peer/history.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace orbweaver {
namespace {

using nlohmann::json;
using std::chrono::seconds;

constexpr std::int64_t began = 1'700'000'100;  // a multiple of 300

class HistoryTest : public testing::Test {
 protected:
  void note(std::int64_t second, std::uint64_t pages, std::uint64_t queued = 0) {
    history_.note(Time{seconds{began + second}}, {.pages = pages, .bytes = 10 * pages, .queued = queued, .failed = 1});
  }
  json fine(std::size_t most = 1000) const { return history_.answer(most)["fine"]; }
  json coarse() const { return history_.answer(1000)["coarse"]; }

  History history_;
};

TEST_F(HistoryTest, NothingYet) {
  EXPECT_EQ(fine()["pages"], json::array());
  EXPECT_EQ(coarse()["queued"], json::array());
}

TEST_F(HistoryTest, PagesAreThoseOfEachIntervalAndTheQueueIsThatAtItsEnd) {
  note(0, 5, 100);
  note(9, 7, 90);
  note(10, 8, 80);
  EXPECT_EQ(fine()["seconds"], 10);
  EXPECT_EQ(fine()["from"], began);
  EXPECT_EQ(fine()["pages"], (json{7, 1}));
  EXPECT_EQ(fine()["bytes"], (json{70, 10}));
  EXPECT_EQ(fine()["queued"], (json{90, 80}));
  EXPECT_EQ(fine()["failed"], (json{1, 1}));
  EXPECT_EQ(coarse()["pages"], json{8});
}

TEST_F(HistoryTest, WhereNothingWasNotedItSaysNothing) {
  note(0, 1);
  note(35, 4);
  EXPECT_EQ(fine()["pages"], (json{1, nullptr, nullptr, 3}));
}

TEST_F(HistoryTest, ItKeepsAnHourAndTwoDaysAndTheNewestOfThem) {
  for (std::int64_t second = 0; second < 3 * 86'400; second += 10) note(second, static_cast<std::uint64_t>(second));
  EXPECT_EQ(fine()["pages"].size(), 360u);
  EXPECT_EQ(fine()["from"], began + 3 * 86'400 - 3600);
  EXPECT_EQ(coarse()["pages"].size(), 576u);
  EXPECT_EQ(coarse()["from"], began + 86'400);
  EXPECT_EQ(fine(2)["from"], began + 3 * 86'400 - 20);
  EXPECT_EQ(fine(2)["pages"], (json{10, 10}));
}

TEST_F(HistoryTest, AfterALongSilenceTheAnswerIsNoLonger) {
  note(0, 1);
  note(10 * 86'400, 2);
  EXPECT_EQ(fine()["pages"].size(), 360u);
  EXPECT_EQ(fine()["pages"].back(), 1);
  EXPECT_EQ(fine()["pages"].front(), nullptr);
}

TEST_F(HistoryTest, ACounterThatFellAndAClockThatWentBackDoNoHarm) {
  note(100, 9);
  note(50, 3);
  EXPECT_EQ(fine()["pages"], json{9});
}

}  // namespace
}  // namespace orbweaver
