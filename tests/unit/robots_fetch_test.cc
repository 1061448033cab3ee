// RFC 9309, 2.3.1 and 2.4: the meaning of the end of a fetch of robots.txt, row by row of the outside table.
#include "node/robots/robots_fetch.h"

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <sstream>

#include "node/robots/robots.h"
#include "tests/unit/suites.h"

namespace orbweaver {
namespace {

using std::chrono::hours;

constexpr Time t0{std::chrono::hours{500'000}};

RobotsStep step_of(int status, bool target = false, std::uint8_t hops = 0, bool may_retry = false) {
  return robots_step({status, target, hops, may_retry});
}

void expect_class(int from, int to, RobotsStep step) {
  for (int status = from; status <= to; ++status) {
    if (status == 429) continue;
    EXPECT_EQ(step_of(status), step) << status;
  }
}

// Each row of fetch_outcomes.tsv, by its first column, with a check of its requirement.
const std::map<std::string, std::function<void()>> rows{
    {"200", [] { expect_class(200, 299, RobotsStep::rules); }},
    {"301-308 chain <=5 incl. other host",
     [] {
       for (int status = 300; status < 400; ++status) {
         for (std::uint8_t hops = 0; hops < 5; ++hops) EXPECT_EQ(step_of(status, true, hops), RobotsStep::follow);
         EXPECT_EQ(step_of(status, true, 5), RobotsStep::allow_all) << "the sixth";
         EXPECT_EQ(step_of(status, false), RobotsStep::allow_all) << "to nowhere";
       }
     }},
    {"401,403",
     [] {
       EXPECT_EQ(step_of(401), RobotsStep::allow_all);
       EXPECT_EQ(step_of(403), RobotsStep::allow_all);
     }},
    {"404,410", [] { expect_class(400, 499, RobotsStep::allow_all); }},
    {"429",
     [] {
       EXPECT_EQ(step_of(429, false, 0, true), RobotsStep::retry) << "waits, as with 5xx";
       EXPECT_EQ(step_of(429), RobotsStep::unreachable);
     }},
    {"500-599",
     [] {
       expect_class(500, 599, RobotsStep::unreachable);
       EXPECT_EQ(step_of(503, false, 0, true), RobotsStep::retry);
       const RobotsState first = robots_state(RobotsStep::unreachable, std::nullopt, t0);
       EXPECT_EQ(first.kind, RobotsKind::unreachable);
       const RobotsState later = robots_state(RobotsStep::unreachable, first, t0 + hours(24 * 29));
       EXPECT_EQ(later.kind, RobotsKind::unreachable);
       EXPECT_EQ(later.unreachable_since, t0);
       EXPECT_EQ(later.fetched, Time{}) << "it never answered";
       const RobotsState month = robots_state(RobotsStep::unreachable, later, t0 + hours(24 * 30));
       EXPECT_EQ(month.kind, RobotsKind::allow_all);
       EXPECT_EQ(robots_state(RobotsStep::unreachable, month, t0 + hours(24 * 31)).kind, RobotsKind::allow_all);
       const RobotsState answered = robots_state(RobotsStep::rules, month, t0 + hours(24 * 32));
       EXPECT_EQ(answered.kind, RobotsKind::rules);
       EXPECT_EQ(answered.fetched, t0 + hours(24 * 32));
       EXPECT_EQ(answered.unreachable_since, Time{});
     }},
    {"timeout, RST, DNS failure, TLS failure",
     [] {
       EXPECT_EQ(step_of(0, false, 0, true), RobotsStep::retry);
       EXPECT_EQ(step_of(0), RobotsStep::unreachable);
       EXPECT_FALSE(RobotsRules::disallow_all().allowed("/"));
     }},
    {"body > 500 KiB",
     [] {
       const std::string rules = "User-agent: *\nDisallow: /a\n";
       const std::string filler(500 * 1024 - 2 * rules.size(), '\n');
       EXPECT_FALSE(RobotsRules::parse(filler + rules + std::string(1 << 20, 'x'), "orbweaver").allowed("/a"));
     }},
    {"empty body / HTML error page with 200",
     [] {
       EXPECT_TRUE(RobotsRules::parse("", "orbweaver").allowed("/a"));
       EXPECT_TRUE(RobotsRules::parse("<!DOCTYPE html><p>Disallow: /\n<p>User-agent: *\n", "orbweaver").allowed("/a"));
     }},
    {"cache",
     [] {
       for (const RobotsStep step : {RobotsStep::rules, RobotsStep::allow_all, RobotsStep::unreachable})
         EXPECT_EQ(robots_state(step, std::nullopt, t0).expires, t0 + hours(24));
       // Unreachable: the older copy stays, and the file is requested just as often.
       const RobotsState before{RobotsKind::rules, t0, t0 + hours(24), false};
       const RobotsState kept = robots_state(RobotsStep::unreachable, before, t0 + hours(25));
       EXPECT_EQ(kept.kind, RobotsKind::rules);
       EXPECT_TRUE(kept.same_body);
       EXPECT_EQ(kept.fetched, t0);
       EXPECT_EQ(kept.expires, t0 + hours(26));
       EXPECT_EQ(robots_state(RobotsStep::unreachable, kept, t0 + hours(24 * 30)).kind, RobotsKind::allow_all);
       EXPECT_FALSE(robots_state(RobotsStep::rules, before, t0 + hours(25)).same_body);
     }},
    {"/robots.txt itself", [] { EXPECT_TRUE(RobotsRules::disallow_all().allowed("/robots.txt")); }},
};

TEST(RobotsFetch, FetchOutcomesTsv_EveryRow) {
  const std::string name = "robots/fetch_outcomes.tsv";
  if (!test::suite_exists(name)) GTEST_SKIP() << "no " << test::suite_path(name) << " (set ORBWEAVER_SUITES)";
  std::istringstream lines(test::read_file(test::suite_path(name)));
  std::string line;
  std::getline(lines, line);  // the columns' names
  std::size_t seen = 0;
  while (std::getline(lines, line)) {
    const auto row = rows.find(line.substr(0, line.find('\t')));
    ASSERT_NE(row, rows.end()) << line;
    SCOPED_TRACE(row->first);
    row->second();
    ++seen;
  }
  EXPECT_EQ(seen, rows.size());
}

TEST(RobotsFetch, EveryStatusHasAStep) {
  for (int status = -1; status < 1000; ++status) {
    const RobotsStep step = step_of(status, true, 9, false);
    const bool allow = (status >= 300 && status < 500 && status != 429);
    const bool rules_in_it = status >= 200 && status < 300;
    EXPECT_EQ(step, rules_in_it ? RobotsStep::rules
                    : allow     ? RobotsStep::allow_all
                                : RobotsStep::unreachable)
        << status;
  }
}

}  // namespace
}  // namespace orbweaver
