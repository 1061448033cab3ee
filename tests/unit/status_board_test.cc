// The status is made when somebody asks for it, and for nobody.
#include "node/control/status_board.h"

#include <gtest/gtest.h>

#include <future>

namespace orbweaver {
namespace {

using std::chrono::seconds;

class StatusBoardTest : public testing::Test {
 protected:
  void answer(const std::string& text) { board_.show(text, text + " in numbers", now_); }
  Time now_{Duration{seconds{1'000}}};
  std::size_t woken_ = 0;
  std::promise<void> wakes_;
  StatusBoard board_{[this] { return now_; },
                     [this] {
                       ++woken_;
                       wakes_.set_value();
                     }};
};

TEST_F(StatusBoardTest, WhoAsksWaitsForWhatTheLoopShows) {
  answer("old");
  now_ += 2 * StatusBoard::fresh;
  EXPECT_FALSE(board_.take_asked()) << "nobody asks";
  auto asked = std::async(std::launch::async, [this] { return board_.text(StatusBoard::Page::status); });
  wakes_.get_future().wait();
  EXPECT_TRUE(board_.take_asked());
  EXPECT_FALSE(board_.take_asked());
  answer("new");
  EXPECT_EQ(asked.get(), "new");
}

TEST_F(StatusBoardTest, WhatIsFreshIsNotMadeAgain) {
  answer("new");
  now_ += StatusBoard::fresh;
  EXPECT_EQ(board_.text(StatusBoard::Page::metrics), "new in numbers");
  EXPECT_EQ(woken_, 0u);
  EXPECT_FALSE(board_.take_asked());
}

TEST_F(StatusBoardTest, ABusyLoopShowsWhatItShowedLast) {
  answer("old");
  now_ += seconds{5};
  EXPECT_EQ(board_.text(StatusBoard::Page::status), "old");
  EXPECT_EQ(woken_, 1u);
  EXPECT_TRUE(board_.take_asked()) << "for the next who asks";
}

TEST_F(StatusBoardTest, ALoopThatDoesNotLookIsNotHealthy) {
  EXPECT_FALSE(board_.healthy());
  board_.note_look(now_);
  EXPECT_TRUE(board_.healthy());
  now_ += StatusBoard::max_healthy;
  EXPECT_FALSE(board_.healthy());
}

}  // namespace
}  // namespace orbweaver
