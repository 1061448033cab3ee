// When pages are visited again: rates that are learned, values that rise, intervals that adapt.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "node/revisit/adaptive_interval.h"
#include "node/revisit/change_rate.h"
#include "node/revisit/crawl_value.h"

namespace orbweaver {
namespace {

constexpr double micros_a_day = 24.0 * 3600 * 1e6;
Duration days(double count) { return Duration(static_cast<std::int64_t>(count * micros_a_day)); }

// The rate that is learned of a page in so many visits, each `gap` days, give or take half, after the one before.
double learned(double rate, double gap, int visits, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  ChangeRate estimate;
  for (int i = 0; i < visits; ++i) {
    const double time = gap * std::uniform_real_distribution<double>(0.5, 1.5)(random);
    estimate.visited(days(time), std::uniform_real_distribution<double>(0, 1)(random) < -std::expm1(-rate * time));
  }
  return estimate.a_day();
}

TEST(ChangeRate, IsLearnedFromChangedOrNotAtUnevenTimes) {
  for (const double rate : {0.02, 0.2, 1.0, 6.0})
    for (const double visits_a_change : {0.5, 2.0}) {
      double log_error = 0;
      constexpr int pages = 200;
      for (int page = 0; page < pages; ++page)
        log_error +=
            std::log(learned(rate, 1 / (rate * visits_a_change), 200, static_cast<std::uint64_t>(page)) / rate);
      EXPECT_NEAR(log_error / pages, 0, 0.1) << rate << " changes a day, " << visits_a_change << " visits a change";
    }
}

TEST(ChangeRate, AFewVisitsGiveTheOrderOfMagnitude) {
  double slow = 0;
  double fast = 0;
  constexpr int pages = 200;
  for (int page = 0; page < pages; ++page) {
    slow += std::log(learned(0.01, 2, 10, static_cast<std::uint64_t>(page)));
    fast += std::log(learned(2.0, 2, 10, static_cast<std::uint64_t>(page)));
  }
  EXPECT_LT(std::exp(slow / pages), 0.06);
  EXPECT_GT(std::exp(fast / pages), 0.5);
}

TEST(ChangeRate, FollowsAPageThatChangesItsWays) {
  ChangeRate rate;
  for (int i = 0; i < 100; ++i) rate.visited(days(1), true);
  EXPECT_GT(rate.a_day(), 1);
  for (int i = 0; i < 100; ++i) rate.visited(days(1), false);
  EXPECT_LT(rate.a_day(), 0.2);
}

TEST(ChangeRate, StaysWithinItsBoundsWhateverComes) {
  ChangeRate rate;
  rate.visited(Duration{}, true);
  rate.visited(days(-3), true);
  EXPECT_DOUBLE_EQ(rate.a_day(), ChangeRate::first_guess) << "no time has passed";
  for (int i = 0; i < 1'000; ++i) rate.visited(Duration{1}, true);
  EXPECT_LE(rate.a_day(), ChangeRate::most * 1.000001);
  for (int i = 0; i < 1'000; ++i) rate.visited(days(36'500), false);
  EXPECT_GE(rate.a_day(), ChangeRate::least * 0.999999);
}

TEST(CrawlValue, RisesFromNothingToImportanceOverRate) {
  double before = 0;
  for (double age = 0.01; age < 100; age *= 1.5) {
    const double value = crawl_value(0.2, 3, age);
    EXPECT_GT(value, before);
    before = value;
  }
  EXPECT_NEAR(before, 3 / 0.2, 1e-3);
  EXPECT_EQ(crawl_value(0.2, 3, 0), 0);
  EXPECT_NEAR(crawl_value(1e-6, 1, 1), 1e-6 / 2, 1e-11) << "a page that hardly changes";
}

// The value is the derivative of the freshness that visits every `days` give, by visits a day: 1 / days.
TEST(CrawlValue, IsWhatOneMoreVisitADayAdds) {
  const auto freshness = [](double rate, double visits_a_day) {
    return visits_a_day / rate * -std::expm1(-rate / visits_a_day);
  };
  for (const double rate : {0.1, 1.0, 5.0})
    for (const double often : {0.2, 1.0, 4.0}) {
      const double step = 1e-5 * often;
      const double added = (freshness(rate, often + step) - freshness(rate, often - step)) / (2 * step);
      EXPECT_NEAR(crawl_value(rate, 1, 1 / often), added, 1e-4);
    }
}

TEST(CrawlValue, HintsMakeAPageOlder) {
  EXPECT_EQ(days_with_hints(0.1, 2, 0, 0.9), 2);
  // Nine of ten hints are true: with one of them the page is unchanged with a tenth of the probability.
  const double age = days_with_hints(0.1, 2, 1, 0.9);
  EXPECT_NEAR(std::exp(-0.1 * age), std::exp(-0.1 * 2) / 10, 1e-12);
  EXPECT_GT(days_with_hints(0.1, 2, 2, 0.9), age);
  EXPECT_EQ(days_with_hints(0.1, 2, 5, 0), 2) << "hints that say nothing";
}

TEST(AdaptiveInterval, GrowsAndShrinksWithinBounds) {
  EXPECT_EQ(next_interval(days(10), false), days(14));
  EXPECT_EQ(next_interval(days(10), true), days(8));
  EXPECT_EQ(next_interval(days(80), false), days(90));
  EXPECT_EQ(next_interval(std::chrono::minutes(61), true), std::chrono::hours(1));
}

}  // namespace
}  // namespace orbweaver
