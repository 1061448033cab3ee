// What a peer is about to do (stop, leave, say goodbye), and which of these ends which.
#include "node/coordination/lifecycle.h"

#include <gtest/gtest.h>

namespace orbweaver {
namespace {

using std::chrono::seconds;

const Time start{seconds{100}};

TEST(Lifecycle, AStopEndsALeave) {
  Lifecycle life;
  EXPECT_TRUE(life.leave(start));
  EXPECT_TRUE(life.leaving());
  EXPECT_FALSE(life.stopping());
  life.stop();
  EXPECT_FALSE(life.leaving());
  EXPECT_TRUE(life.stopping());
}

TEST(Lifecycle, APeerThatStopsDoesNotLeave) {
  Lifecycle life;
  life.stop();
  EXPECT_FALSE(life.leave(start));
  EXPECT_TRUE(life.stopping());
  EXPECT_FALSE(life.leaving());
}

TEST(Lifecycle, ALeaveThatIsOverCancelsWhatIsInFlight) {
  Lifecycle life;
  life.leave_now();
  EXPECT_FALSE(life.stopping()) << "it was not leaving";
  life.leave(start);
  life.leave_now();
  EXPECT_TRUE(life.stopping());
  EXPECT_TRUE(life.leaving());
}

TEST(Lifecycle, ALeaveAndAStopHaveADeadlineAndACancelledFetchHasNone) {
  Lifecycle leaver;
  EXPECT_FALSE(leaver.next_deadline());
  leaver.leave(start);
  EXPECT_EQ(leaver.next_deadline(), start);
  leaver.leave_now();
  EXPECT_FALSE(leaver.next_deadline()) << "a deadline that nothing serves makes a loop that never sleeps";
  Lifecycle stopper;
  stopper.stop();
  EXPECT_FALSE(stopper.next_deadline());
  EXPECT_FALSE(stopper.has_drained(start));
  EXPECT_EQ(stopper.next_deadline(), start + max_drain);
  EXPECT_TRUE(stopper.has_drained(start + max_drain));
  stopper.say_goodbye(Exit{}, start);
  EXPECT_FALSE(stopper.next_deadline());
}

TEST(Lifecycle, OfTwoGoodbyesTheFirstCounts) {
  Lifecycle life;
  life.say_goodbye(Exit{0, "first", false, {}}, start);
  life.say_goodbye(Exit{5, "second", false, {}}, start + seconds(9));
  const Exit* exit = life.end_if_due(start);
  ASSERT_NE(exit, nullptr);
  EXPECT_EQ(exit->message, "first");
  EXPECT_TRUE(life.has_exited());
}

TEST(Lifecycle, TheGoodbyeLastsUntilItsTime) {
  Lifecycle life;
  life.say_goodbye(Exit{}, start);
  EXPECT_EQ(life.end_if_due(start - seconds(1)), nullptr);
  EXPECT_TRUE(life.saying_goodbye());
  life.exit_by(start - seconds(1));
  EXPECT_NE(life.end_if_due(start - seconds(1)), nullptr);
  EXPECT_EQ(life.end_if_due(start + seconds(9)), nullptr) << "it ends once";
}

TEST(Lifecycle, WhileItSaysGoodbyeItIsStillKnownWhy) {
  Lifecycle leaver;
  leaver.leave(start);
  leaver.say_goodbye(Exit{}, start);
  EXPECT_TRUE(leaver.leaving());
  EXPECT_FALSE(leaver.stopping());
  leaver.stop();
  EXPECT_TRUE(leaver.leaving()) << "too late to stop";
  Lifecycle stopper;
  stopper.stop();
  stopper.say_goodbye(Exit{}, start);
  EXPECT_TRUE(stopper.stopping());
}

TEST(Lifecycle, OneThatStaysSaysNothingOfALeave) {
  Lifecycle life;
  life.leave(start);
  life.stay();
  life.say_goodbye(Exit{}, start);
  EXPECT_FALSE(life.leaving());
}

}  // namespace
}  // namespace orbweaver
