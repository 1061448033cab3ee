// A minimum average speed, against servers that send just enough to avoid the standstill limit (issue 11, 3).
#include "node/fetch/average_speed.h"

#include <gtest/gtest.h>

namespace orbweaver {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr Duration begun = std::chrono::hours{5};

// 100 bytes per second: above the usual limit for a standstill, and 80 s for a page of 8 KB.
TEST(AverageSpeed, ADripIsTooSlowOnceItHasHadItsTime) {
  AverageSpeed speed(1024, seconds{20});
  EXPECT_FALSE(speed.too_slow(begun)) << "nothing has come yet";
  for (int second = 0; second <= 20; ++second) {
    speed.came(100, begun + seconds{second});
    EXPECT_FALSE(speed.too_slow(begun + seconds{second})) << second;
  }
  EXPECT_TRUE(speed.too_slow(begun + milliseconds{20'001}));
}

TEST(AverageSpeed, AFastBeginningBuysNoMoreThanItsTime) {
  AverageSpeed speed(1024, seconds{20});
  speed.came(60 * 1024, begun);
  EXPECT_FALSE(speed.too_slow(begun + seconds{59}));
  EXPECT_TRUE(speed.too_slow(begun + seconds{61}));
}

TEST(AverageSpeed, WaitingForMemoryIsNotTheServersFault) {
  AverageSpeed speed(1024, seconds{20});
  speed.came(21 * 1024, begun);
  speed.pause(begun + seconds{1});
  speed.pause(begun + seconds{30});
  speed.go_on(begun + seconds{101});
  EXPECT_FALSE(speed.too_slow(begun + seconds{120}));
  EXPECT_TRUE(speed.too_slow(begun + seconds{122}));
}

TEST(AverageSpeed, WithoutALimitNothingIsTooSlow) {
  AverageSpeed speed(0, seconds{20});
  speed.came(1, begun);
  EXPECT_FALSE(speed.too_slow(begun + std::chrono::hours{1}));
}

}  // namespace
}  // namespace orbweaver
