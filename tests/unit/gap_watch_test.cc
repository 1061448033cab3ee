// Waits between requests, as the fetcher measured them, against what was promised.
#include "node/process/gap_watch.h"

#include <gtest/gtest.h>

namespace orbweaver {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class GapWatchTest : public testing::Test {
 protected:
  // An exchange that begins `gap` after the end of the last one with any host, and takes 100 ms.
  std::optional<Duration> exchange(std::string_view host, Duration gap, Duration promised) {
    const Time started = ended_ + gap;
    ended_ = started + milliseconds{100};
    return watch_.note({host, started, ended_, promised});
  }

  GapWatch watch_;
  Time ended_{seconds{1'000'000}};
};

TEST_F(GapWatchTest, AHostIsLeftAloneFromTheEndOfAnExchangeOn) {
  EXPECT_FALSE(exchange("a.test", {}, seconds{1}));
  EXPECT_EQ(watch_.seen().gaps, 0u) << "the first exchange has none before it";
  EXPECT_FALSE(exchange("a.test", seconds{1}, seconds{1}));
  EXPECT_EQ(exchange("a.test", milliseconds{999}, seconds{1}), milliseconds{999});
  EXPECT_EQ(watch_.seen().gaps, 2u);
  EXPECT_EQ(watch_.seen().too_short, 1u);
}

TEST_F(GapWatchTest, AnExchangeThatBeginsBeforeTheLastOneEndsIsTooShort) {
  exchange("a.test", {}, seconds{1});
  EXPECT_EQ(exchange("a.test", -milliseconds{50}, seconds{1}), -milliseconds{50});
  EXPECT_EQ(watch_.seen().least, -milliseconds{50});
}

TEST_F(GapWatchTest, HostsAreApart) {
  exchange("a.test", {}, seconds{1});
  EXPECT_FALSE(exchange("b.test", {}, seconds{1}));
  EXPECT_FALSE(exchange("a.test", seconds{1}, seconds{1}));
  EXPECT_EQ(watch_.seen().gaps, 1u);
}

TEST_F(GapWatchTest, TheLeastIsTheOneThatIsShortestAgainstItsPromise) {
  for (const char* host : {"a.test", "b.test"}) exchange(host, {}, seconds{host[0] == 'a' ? 1 : 10});
  exchange("a.test", seconds{2}, seconds{1});
  exchange("b.test", seconds{9}, seconds{10});  // 11.1 s after its last
  EXPECT_EQ(watch_.seen().promised, seconds{10});
  EXPECT_EQ(watch_.seen().least, milliseconds{11'100});
  exchange("a.test", milliseconds{1}, seconds{1});  // 9.101 s after its last
  EXPECT_EQ(watch_.seen().promised, seconds{10});
}

TEST_F(GapWatchTest, WhereNothingIsPromisedNothingIsMeasured) {
  exchange("a.test", {}, {});
  exchange("a.test", {}, {});
  EXPECT_EQ(watch_.seen().gaps, 0u);
}

// An operator makes a delay longer or shorter between two exchanges: the wait had begun by then, or is cut.
TEST_F(GapWatchTest, OfTwoPromisesTheShorterCounts) {
  exchange("a.test", {}, seconds{1});
  EXPECT_FALSE(exchange("a.test", seconds{1}, seconds{5}));
  EXPECT_FALSE(exchange("a.test", seconds{2}, seconds{2}));
  EXPECT_TRUE(exchange("a.test", seconds{1}, seconds{2}));
}

TEST_F(GapWatchTest, ItKnowsTheLastHostsAlone) {
  exchange("a.test", {}, seconds{1});
  for (std::size_t i = 0; i < GapWatch::max_hosts / 4; ++i) exchange("h" + std::to_string(i) + ".test", {}, seconds{1});
  EXPECT_TRUE(exchange("a.test", -seconds{3'000'000}, seconds{1})) << "it is one of the last";
  for (std::size_t i = 0; i < GapWatch::max_hosts * 2; ++i) exchange("g" + std::to_string(i) + ".test", {}, seconds{1});
  EXPECT_FALSE(exchange("a.test", -seconds{3'000'000}, seconds{1})) << "it has dropped out";
}

}  // namespace
}  // namespace orbweaver
