// `orbweaver lab revisit`: recorded histories are read, and policies are judged as the literature says they should be.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "node/lab/revisit.h"

namespace orbweaver {
namespace {

ChangingWeb web_of(double days, const std::vector<double>& rates, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  ChangingWeb web;
  web.days = days;
  for (const double rate : rates) {
    ChangingPage& page = web.pages.emplace_back();
    page.rate = rate;
    std::exponential_distribution<double> gap(rate);
    for (double at = gap(random); at < days; at += gap(random)) page.changes.push_back(at);
    page.hints = page.changes;
  }
  return web;
}

std::vector<double> many_rates(std::size_t pages) {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> spread(std::log(0.003), std::log(10.0));
  std::vector<double> rates;
  for (std::size_t i = 0; i < pages; ++i) rates.push_back(std::exp(spread(random)));
  return rates;
}

TEST(LabRevisit, ReadsAHistory) {
  const auto web = read_history("http://a.test/x 86400\nhttp://b.test/ 259200\n\nhttp://a.test/x 172800.0\n");
  ASSERT_TRUE(web);
  EXPECT_DOUBLE_EQ(web->days, 2);
  ASSERT_EQ(web->pages.size(), 2u);
  EXPECT_EQ(web->pages[0].changes, (std::vector<double>{0, 1}));
  EXPECT_DOUBLE_EQ(web->pages[0].rate, 1);
  for (const char* bad : {"http://a.test/", "http://a.test/ soon", " 5", "http://a.test/ 5 x", "a nan", "a 1e999"}) {
    const auto read = read_history("b 1\n" + std::string(bad));
    ASSERT_FALSE(read) << bad;
    EXPECT_EQ(read.error().message, "line 2 is not \"URL SECONDS\"");
  }
  EXPECT_FALSE(read_history(""));
  EXPECT_FALSE(read_history("a 5\nb 5"));
}

// A page that changes once a day and is visited once a day is fresh for (1 - e^-1) of the time.
TEST(LabRevisit, CountsTheTimeThatACopyIsFresh) {
  const ChangingWeb web = web_of(2'000, std::vector<double>(20, 1.0), 3);
  const RevisitResult result = visit_again(web, RevisitPolicy::equal, 1, 0);
  EXPECT_NEAR(result.freshness, 0.632, 0.01);
  EXPECT_NEAR(result.found, 0.632, 0.01);
  EXPECT_NEAR(result.visits_a_day, 1, 0.001);
  // The integral of e^-s (1 - s)^2 / 2 over a day.
  EXPECT_NEAR(result.age_days, 0.132, 0.01);
}

// Cho and Garcia-Molina (2003): visits in proportion to the changes are worse than visits equally often.
TEST(LabRevisit, EveryPolicyMakesAsManyVisitsAndValueIsTheFreshest) {
  const ChangingWeb web = web_of(300, many_rates(300), 5);
  const auto run = [&](RevisitPolicy policy) { return visit_again(web, policy, 0.2, 0.99); };
  const RevisitResult same = run(RevisitPolicy::equal);
  const RevisitResult adaptive = run(RevisitPolicy::adaptive);
  const RevisitResult value = run(RevisitPolicy::value);
  const RevisitResult hinted = run(RevisitPolicy::hinted);
  const RevisitResult known = run(RevisitPolicy::known);
  for (const RevisitResult& one : {same, adaptive, value, hinted, known}) EXPECT_NEAR(one.visits_a_day, 0.2, 0.002);
  EXPECT_LT(adaptive.freshness, same.freshness);
  EXPECT_GT(value.freshness, same.freshness);
  EXPECT_GT(known.freshness, value.freshness);
  EXPECT_GT(hinted.freshness, known.freshness) << "all changes are told";
}

TEST(LabRevisit, NoPageIsGivenUp) {
  std::vector<double> rates(50, 0.05);
  rates.push_back(500);  // never fresh for long, whatever is done
  const ChangingWeb web = web_of(300, rates, 9);
  for (const RevisitPolicy policy : {RevisitPolicy::value, RevisitPolicy::known})
    EXPECT_LT(visit_again(web, policy, 0.1, 0).age_days, 5);
}

TEST(LabRevisit, ItsReportHasARowForEachPolicy) {
  RevisitOptions options;
  options.pages = 20;
  options.days = 30;
  const auto report = lab_revisit(options);
  ASSERT_TRUE(report);
  EXPECT_EQ(report->tables[0].rows.size(), 5u);
  EXPECT_EQ(report->plots[0].series.size(), 5u);
  options.history = "/no/such/file";
  EXPECT_FALSE(lab_revisit(options));
}

}  // namespace
}  // namespace orbweaver
