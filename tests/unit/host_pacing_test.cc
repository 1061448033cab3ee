// Politeness to one host, answer by answer: node/crawl/host_pacing.h rule by rule.
#include "node/crawl/host_pacing.h"

#include <gtest/gtest.h>

#include <random>

namespace orbweaver {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

const PacingRules usual_rules{seconds{1}, 5, seconds{30}};

Answer good(Duration took) { return {took, true, false}; }
Answer too_much() { return {milliseconds{10}, true, true}; }

TEST(HostPacing, TheLongestOfDelayCrawlDelayAndLatency) {
  HostPacing host;
  EXPECT_EQ(next_delay(usual_rules, {}, good(milliseconds{20}), host), seconds{1});
  EXPECT_EQ(next_delay(usual_rules, seconds{7}, good(milliseconds{20}), host), seconds{7});
  EXPECT_EQ(next_delay(usual_rules, {}, good(milliseconds{700}), host), milliseconds{3500});
  EXPECT_EQ(next_delay(usual_rules, {}, good(seconds{40}), host), seconds{30}) << "up to max_delay";
  EXPECT_EQ(next_delay(usual_rules, seconds{60}, good(seconds{40}), host), seconds{60}) << "Crawl-delay in full";
}

TEST(HostPacing, TooMuchDoublesAndGoodAnswersRecoverSlowly) {
  HostPacing host;
  EXPECT_EQ(next_delay(usual_rules, {}, too_much(), host), seconds{2});
  EXPECT_EQ(next_delay(usual_rules, {}, too_much(), host), seconds{4});
  for (int i = 0; i < 10; ++i) next_delay(usual_rules, {}, too_much(), host);
  EXPECT_EQ(next_delay(usual_rules, {}, too_much(), host), seconds{30});
  int answers = 0;
  Duration before = seconds{30};
  for (Duration wait = before; wait > seconds{1}; ++answers) {
    wait = next_delay(usual_rules, {}, good(milliseconds{10}), host);
    EXPECT_LT(wait, before);
    EXPECT_GE(wait, before - before / 8 - Duration{1});
    before = wait;
    ASSERT_LT(answers, 100);
  }
  EXPECT_GT(answers, 20);
  EXPECT_EQ(host.pace, Duration{});
}

TEST(HostPacing, RisingLatencySlowsDown_OnceSlowForAllIsUsual) {
  HostPacing host;
  const PacingRules rules{seconds{1}, 0, seconds{30}};
  for (int i = 0; i < 20; ++i) EXPECT_EQ(next_delay(rules, {}, good(milliseconds{100}), host), seconds{1});
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(next_delay(rules, {}, good(seconds{2}), host), seconds{1}) << "three may be chance";
  EXPECT_EQ(next_delay(rules, {}, good(seconds{4}), host), seconds{2});
  for (int i = 0; i < 200; ++i) next_delay(rules, {}, good(seconds{4}), host);
  EXPECT_EQ(host.pace, Duration{});
  EXPECT_EQ(next_delay(rules, {}, good(seconds{4}), host), seconds{1});
}

TEST(HostPacing, OneSlowPageAmongManyIsNoRise) {
  HostPacing host;
  const PacingRules rules{seconds{1}, 0, seconds{30}};
  for (int i = 0; i < 100; ++i)
    EXPECT_EQ(next_delay(rules, {}, good(i % 4 == 0 ? seconds{5} : seconds{0}), host), seconds{1});
}

TEST(HostPacing, NoAnswerNeitherRecoversNorSlows) {
  HostPacing host;
  next_delay(usual_rules, {}, too_much(), host);
  const HostPacing before = host;
  next_delay(usual_rules, {}, Answer{seconds{10}, false, false}, host);
  EXPECT_EQ(host, before);
}

TEST(HostPacing, OnesOwnServersAreAskedAsFastAsTheyAnswer) {
  HostPacing host;
  const PacingRules rules{Duration{}, 5, seconds{30}};
  EXPECT_EQ(next_delay(rules, {}, good(seconds{3}), host), Duration{});
  EXPECT_EQ(next_delay(rules, {}, too_much(), host), Duration{});
  EXPECT_EQ(next_delay(rules, seconds{2}, good(seconds{3}), host), seconds{2});
}

TEST(HostPacing, NeverBelowTheDelayAndNeverAboveTheBounds) {
  std::mt19937_64 random(1);
  for (int run = 0; run < 200; ++run) {
    const PacingRules rules{milliseconds{1 + random() % 5000}, static_cast<std::uint32_t>(random() % 20),
                            milliseconds{random() % 60000}};
    const Duration crawl_delay = milliseconds{random() % 3 == 0 ? random() % 10000 : 0};
    HostPacing host;
    host.pace = std::chrono::hours{random() % 1000};
    for (int i = 0; i < 200; ++i) {
      const Answer answer{milliseconds{random() % 20000}, random() % 8 != 0, random() % 5 == 0};
      const Duration wait = next_delay(rules, crawl_delay, answer, host);
      EXPECT_GE(wait, std::max(rules.delay, crawl_delay));
      EXPECT_LE(wait, std::max({rules.delay, crawl_delay, rules.max_delay}));
    }
  }
}

}  // namespace
}  // namespace orbweaver
