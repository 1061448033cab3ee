// What is requested next, and what delays a page: node/scheduling/fetch_scheduler.h,
// docs/reference/politeness.md and robots.md.
#include "node/scheduling/fetch_scheduler.h"

#include "tests/unit/fetch_rig.h"

namespace orbweaver {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;
using storage::Reason;
using storage::UrlState;
using Texts = std::vector<std::string>;

class FetchSchedulerTest : public FetchRig {
 protected:
  std::optional<Time> next() const { return parts_->fetches.scheduler.next_deadline(now_); }
  void order(const std::string& name, const std::string& value = "yes") {
    ASSERT_TRUE(*parts_->directives.learn(step(), {{name, value, ++order_, rig_id(1), now_}}));
  }
  std::uint64_t order_ = 0;
  // Ten tries in a row without an answer, each with another URL.
  void take_down(const std::string& host) {
    for (int i = 0; i < 10; ++i) {
      put(host + std::to_string(i));
      ASSERT_TRUE(fail_with(begin(), FetchError::timeout));
      advance(minutes(5));
    }
  }
  // Answers the request for robots.txt, then waits until the host may be asked again.
  void answer_robots(int status, const std::string& body = "") {
    const FetchJob job = begin();
    ASSERT_NE(job.robots(), nullptr);
    ASSERT_TRUE(answer(job, status, robots_page(body)));
    advance(minutes(10));
  }
};

TEST_F(FetchSchedulerTest, AHostIsAskedOnceItsAddressIsKnown) {
  start();
  put("http://a.test:8080/");
  tick_once();
  const auto questions = said<ResolveHost>();
  ASSERT_EQ(questions.size(), 1u);
  EXPECT_EQ(questions[0].name, "a.test");
  EXPECT_EQ(questions[0].port, 8080);
  EXPECT_EQ(asked(), Texts{});
  tick_once();
  EXPECT_EQ(said<ResolveHost>().size(), 1u) << "the host stays acquired";
  resolve();
  tick_once();
  EXPECT_EQ(asked(), Texts{"http://a.test:8080/"});
}

// --- operators' orders (docs/how-to/steer.md)

TEST_F(FetchSchedulerTest, APausedHostIsAskedWhenItIsResumed) {
  start();
  put("http://a.test/");
  put("http://b.test/");
  order("pause a.test");
  tick();
  EXPECT_EQ(asked(), Texts{"http://b.test/"});
  ASSERT_TRUE(next());
  advance(minutes(1));
  tick();
  EXPECT_EQ(asked(), Texts{"http://b.test/"});
  order("pause a.test", "");
  advance(seconds(2));
  tick();
  EXPECT_EQ(asked(), (Texts{"http://b.test/", "http://a.test/"}));
}

TEST_F(FetchSchedulerTest, APausedRingAsksForNothingAndHasNothingDue) {
  start();
  put("http://a.test/");
  order("pause");
  tick();
  EXPECT_EQ(asked(), Texts{});
  EXPECT_EQ(next(), std::nullopt);
  order("pause", "");
  tick();
  EXPECT_EQ(asked(), Texts{"http://a.test/"});
}

TEST_F(FetchSchedulerTest, ABlockedHostsUrlsAreExcludedAndItsRobotsTxtIsNotAskedFor) {
  settings().robots = true;
  start();
  put("http://a.test/");
  put("http://a.test:8080/x");
  order("block a.test");
  tick();
  EXPECT_EQ(asked(), Texts{});
  expect("http://a.test/", UrlState::excluded, Reason::operator_block);
  expect("http://a.test:8080/x", UrlState::excluded, Reason::operator_block);
}

TEST_F(FetchSchedulerTest, AnOrderedDelayComesBeforeThatOfTheSettings) {
  settings().delay = seconds(1);
  start();
  order("delay a.test", "7000000");
  put("http://a.test/1");
  put("http://a.test/2");
  ASSERT_TRUE(answer(begin(), 200));
  advance(seconds(6));
  tick();
  EXPECT_TRUE(asked().size() == 1u);
  advance(seconds(1));
  tick();
  EXPECT_EQ(asked().size(), 2u);
}

TEST_F(FetchSchedulerTest, AHostWithoutAnAddressIsAskedAllTheSame_TheFetchSaysWhy) {
  start();
  addresses_["a.test"] = "";
  put("http://a.test/");
  tick();
  EXPECT_EQ(asked(), Texts{"http://a.test/"});
}

TEST_F(FetchSchedulerTest, AnAnswerOfTheResolverForAHostThatIsNotThereIsNothing) {
  start();
  HostResolved late{key("http://a.test/").host, {10, 0, 0, 1}};
  parts_->fetches.scheduler.on_resolved(now_, late);
  EXPECT_EQ(parts_->records.bench.hosts(), 0u);
}

TEST_F(FetchSchedulerTest, AHostGetsOneRequestAtATimeADelayApart) {
  start();
  put("http://a.test/1");
  put("http://a.test/2");
  const FetchJob first = begin();
  advance(milliseconds(50));
  tick();
  EXPECT_EQ(asked().size(), 1u) << "the first is under way";
  ASSERT_TRUE(answer(first, 200));
  tick();
  EXPECT_EQ(asked().size(), 1u);
  EXPECT_EQ(next(), now_ + seconds(1));
  advance(seconds(1));
  tick();
  EXPECT_EQ(asked(), (Texts{"http://a.test/1", "http://a.test/2"}));
  EXPECT_EQ(parts_->fetches.scheduler.counters().fetches, 2u);
}

TEST_F(FetchSchedulerTest, TheLeastDepthFirstThenAsAdmittedAndWhatFailedBeforeLast) {
  start();
  storage::UrlRecord failed;
  failed.attempts = 1;
  failed.not_before = now_;
  put("http://a.test/failed", failed);
  storage::UrlRecord deep;
  deep.depth = 2;
  put("http://a.test/deep", deep);
  put("http://a.test/1");
  put("http://a.test/2");
  Texts order;
  for (int i = 0; i < 4; ++i) {
    const FetchJob job = begin();
    order.push_back(job.url.text());
    ASSERT_TRUE(answer(job, 200));
    advance(minutes(1));
  }
  EXPECT_EQ(order, (Texts{"http://a.test/1", "http://a.test/2", "http://a.test/deep", "http://a.test/failed"}));
}

TEST_F(FetchSchedulerTest, AUrlIsNotTriedAgainBeforeItsTime) {
  settings().retry_delay = seconds(5);
  start();
  storage::UrlRecord failed;
  failed.attempts = 4;  // the wait after so many is 40 s
  failed.not_before = now_ + seconds(30);
  put("http://a.test/", failed);
  tick();
  EXPECT_EQ(asked(), Texts{});
  EXPECT_EQ(said<ResolveHost>().size(), 0u);
  EXPECT_EQ(next(), now_ + seconds(30));
  advance(seconds(30));
  tick();
  EXPECT_EQ(asked(), Texts{"http://a.test/"});
}

// The clock was set back since, or was another peer's.
TEST_F(FetchSchedulerTest, AUrlWaitsNoLongerThanAfterSoManyTries) {
  settings().retry_delay = seconds(5);
  start();
  storage::UrlRecord failed;
  failed.attempts = 2;
  failed.not_before = now_ + std::chrono::hours(24 * 365);
  put("http://a.test/", failed);
  tick();
  EXPECT_EQ(next(), now_ + seconds(10));
  advance(seconds(10));
  tick();
  EXPECT_EQ(asked(), Texts{"http://a.test/"});
  EXPECT_EQ(record("http://a.test/").not_before, failed.not_before) << "the row stays as the copies have it";
}

TEST_F(FetchSchedulerTest, NoMoreFetchesThanTheSettingAllows) {
  settings().max_fetches = 2;
  start();
  for (const char* host : {"http://a.test/", "http://b.test/", "http://c.test/"}) put(host);
  tick();
  EXPECT_EQ(asked().size(), 2u);
  EXPECT_EQ(next(), std::nullopt) << "what ends calls";
}

TEST_F(FetchSchedulerTest, WhileTheGateIsClosedNothingIsAskedFor) {
  start();
  put("http://a.test/");
  parts_->lifecycle.stop();
  tick();
  EXPECT_TRUE(out.empty());
  EXPECT_EQ(next(), std::nullopt);
}

TEST_F(FetchSchedulerTest, HostsOfAPartitionThatIsNotFetchedHereAreNotAsked) {
  start();
  put("http://a.test/");
  give_partition("http://a.test/", 2);
  tick();
  EXPECT_TRUE(out.empty());
  give_partition("http://a.test/", 1);
  advance(minutes(1));
  tick();
  EXPECT_EQ(asked(), Texts{"http://a.test/"});
}

TEST_F(FetchSchedulerTest, OutsideItsHoursASiteIsNotAsked) {
  settings().sites = {"a.test hours=06:00-07:00"};
  start();
  put("http://a.test/");
  tick();
  EXPECT_TRUE(out.empty()) << "not for its address either";
  EXPECT_EQ(next(), now_ + hours(6));
  advance(hours(6));
  tick();
  EXPECT_EQ(asked(), Texts{"http://a.test/"});
}

TEST_F(FetchSchedulerTest, ABadPortIsExcludedUnlessItIsAllowed) {
  settings().allow_ports = {"25"};
  start();
  put("http://a.test:22/");
  put("http://b.test:25/");
  tick();
  expect("http://a.test:22/", UrlState::excluded, Reason::bad_port);
  EXPECT_EQ(asked(), Texts{"http://b.test:25/"});
}

TEST_F(FetchSchedulerTest, APageThatWasAtWorkAtTwoUncleanEndsFailsAndItsRowGoes) {
  start();
  at_work_ = {key("http://a.test/")};
  start();
  put("http://a.test/");
  put("http://b.test/");
  start();
  advance(minutes(1));
  tick();
  expect("http://a.test/", UrlState::failed, Reason::crashes_crawler);
  EXPECT_EQ(asked(), Texts{"http://b.test/"});
  EXPECT_EQ(parts_->records.writer.outcomes().in(UrlState::failed), 1u);
  const auto rows = store_->meta_rows(std::string(meta_name::crashed));
  ASSERT_TRUE(rows);
  for (const auto& [name, ends] : *rows) EXPECT_EQ(ends, "") << name;
}

TEST_F(FetchSchedulerTest, AHostThatIsDownFailsItsPagesForAnHourThenOneIsTried) {
  settings().max_retries = 0;
  start();
  take_down("http://a.test/");
  put("http://a.test/x");
  put("http://a.test/y");
  clear();
  tick();
  EXPECT_EQ(asked(), Texts{});
  expect("http://a.test/x", UrlState::failed, Reason::host_down);
  expect("http://a.test/y", UrlState::failed, Reason::host_down);
  advance(hours(1));
  put("http://a.test/v");
  put("http://a.test/w");
  ASSERT_TRUE(fail_with(begin(), FetchError::timeout));
  advance(minutes(5));
  tick();
  expect("http://a.test/v", UrlState::failed, Reason::timeout);
  expect("http://a.test/w", UrlState::failed, Reason::host_down);  // the hour starts again
}

TEST_F(FetchSchedulerTest, AHostThatAnswersAgainIsWell) {
  settings().max_retries = 0;
  start();
  take_down("http://a.test/");
  advance(hours(1));
  put("http://a.test/v");
  put("http://a.test/w");
  ASSERT_TRUE(answer(begin(), 404));
  advance(minutes(5));
  EXPECT_EQ(begin().url.text(), "http://a.test/w");
}

TEST_F(FetchSchedulerTest, Rfc9309_RobotsTxtIsAskedForBeforeTheFirstPageOfAnOrigin) {
  settings().robots = true;
  start();
  put("http://a.test/1");
  const FetchJob robots = begin();
  EXPECT_NE(robots.robots(), nullptr);
  EXPECT_EQ(robots.url.text(), "http://a.test/robots.txt");
  EXPECT_EQ(robots.robots()->origin, "http://a.test");
  EXPECT_EQ(parts_->fetches.scheduler.counters().fetches, 0u) << "robots.txt is not a page";
  ASSERT_TRUE(answer(robots, 200, robots_page("")));
  advance(seconds(1));
  const FetchJob page = begin();
  EXPECT_EQ(page.url.text(), "http://a.test/1");
  ASSERT_TRUE(answer(page, 200));
  put("http://a.test:8080/");
  advance(seconds(1));
  EXPECT_EQ(begin().url.text(), "http://a.test:8080/robots.txt") << "another port is another origin";
}

TEST_F(FetchSchedulerTest, Rfc9309_WhatIsDisallowedIsExcludedWithoutAFetch) {
  settings().robots = true;
  start();
  put("http://a.test/no/1");
  put("http://a.test/yes");
  answer_robots(200, "User-agent: *\nDisallow: /no/\n");
  EXPECT_EQ(begin().url.text(), "http://a.test/yes");
  expect("http://a.test/no/1", UrlState::excluded, Reason::robots);
}

TEST_F(FetchSchedulerTest, Rfc9309_2314_UnreachableRobotsTxtExcludesWithItsCause) {
  settings().robots = true;
  settings().max_retries = 0;
  start();
  put("http://a.test/");
  answer_robots(503);
  put("http://b.test/");
  tick();
  expect("http://a.test/", UrlState::excluded, Reason::robots_unreachable, 503);
  const FetchJob b = said<StartFetch>().back().job;
  ASSERT_EQ(b.url.text(), "http://b.test/robots.txt");
  ASSERT_TRUE(fail_with(b, FetchError::dns));
  advance(minutes(10));
  tick();
  expect("http://b.test/", UrlState::excluded, Reason::robots_dns);
}

TEST_F(FetchSchedulerTest, AHostThatIsDownIsNotAskedForRobotsTxt) {
  settings().max_retries = 0;
  start();
  take_down("http://a.test/");
  parts_->state.settings.robots = true;
  put("http://a.test/x");
  clear();
  tick();
  EXPECT_EQ(asked(), Texts{});
  expect("http://a.test/x", UrlState::failed, Reason::host_down);
}

TEST_F(FetchSchedulerTest, ABudgetThatIsSpentExcludesWhatRobotsTxtAllows) {
  settings().robots = true;
  settings().max_pages_per_host = 1;
  start();
  for (const char* page : {"http://a.test/1", "http://a.test/2", "http://a.test/no"}) put(page);
  answer_robots(200, "User-agent: *\nDisallow: /no\n");
  ASSERT_TRUE(answer(begin(), 200));
  advance(minutes(1));
  clear();
  tick();
  EXPECT_TRUE(out.empty()) << "its address is not looked up either";
  expect("http://a.test/2", UrlState::excluded, Reason::budget);
  expect("http://a.test/no", UrlState::excluded, Reason::robots);
}

TEST_F(FetchSchedulerTest, BeyondThePageAllowanceNothingIsAskedFor) {
  settings().max_pages = 10;
  start();
  put("http://a.test/");
  put("http://b.test/");
  tick();
  EXPECT_TRUE(out.empty()) << "nothing is granted yet";
  EXPECT_EQ(next(), std::nullopt);
  parts_->fetches.allowance.grant(1);
  tick();
  EXPECT_EQ(asked().size(), 1u);
  advance(minutes(1));
  tick();
  EXPECT_EQ(asked().size(), 1u);
}

TEST_F(FetchSchedulerTest, AHostBeyondItsDomainsShareIsHeldAndGoesOnWhenATransferEnds) {
  settings().max_fetches = 8;  // a domain's share is 1, and 1 is the reserve
  start();
  for (int i = 1; i <= 8; ++i) put("http://h" + std::to_string(i) + ".slow.test/");
  tick();
  EXPECT_EQ(asked().size(), 7u) << "who is alone uses all but the reserve";
  EXPECT_EQ(parts_->fetches.jobs.shares().waiting(), 1u);
  put("http://late.test/");
  tick();
  EXPECT_EQ(asked().size(), 8u) << "who comes late finds the reserve";
  ASSERT_EQ(asked().back(), "http://late.test/");
  const std::vector<StartFetch> begun = said<StartFetch>();
  ASSERT_TRUE(answer(begun[7].job, 200));
  tick();
  EXPECT_EQ(asked().size(), 8u) << "seven of the domain are under way";
  ASSERT_TRUE(answer(begun[0].job, 200));
  tick();
  EXPECT_EQ(asked().size(), 9u);
  EXPECT_EQ(parts_->fetches.jobs.shares().waiting(), 0u);
}

TEST_F(FetchSchedulerTest, HostsOfOneAddressAreAskedADelayApart) {
  start();
  addresses_["a.test"] = addresses_["b.test"] = {10, 0, 0, 1};
  put("http://a.test/");
  put("http://b.test/");
  tick();
  EXPECT_EQ(asked().size(), 1u);
  ASSERT_TRUE(next());
  EXPECT_EQ(*next(), now_ + parts_->state.settings.address_delay);
  advance(parts_->state.settings.address_delay);
  tick();
  EXPECT_EQ(asked().size(), 2u);
}

TEST_F(FetchSchedulerTest, AHostWithManyUrlsToExcludeLeavesOthersTheirTurnAfterEach256) {
  settings().max_host_queue_in_memory = 1000;
  settings().max_hosts_in_memory = 10;  // so that all of them are in memory
  start();
  for (int i = 0; i < 600; ++i) put("http://a.test:22/" + std::to_string(i));
  const std::uint64_t before = kv_.writes();
  tick();
  EXPECT_EQ(store_->held().excluded, 600u);
  EXPECT_EQ(kv_.writes() - before, 3u) << "256, 256 and 88";
}

TEST_F(FetchSchedulerTest, AHostWithVeryManyUrlsToExcludeDoesNotSilenceThePeer) {
  start();
  for (int i = 0; i < 5000; ++i) put("http://a.test:22/" + std::to_string(i));
  std::uint64_t before = 0;
  for (int steps = 0; store_->held().queued > 0; ++steps) {
    ASSERT_LT(steps, 10);
    tick();
    EXPECT_LE(store_->held().excluded - before, 2000u) << "in one step";
    EXPECT_GT(store_->held().excluded, before);
    before = store_->held().excluded;
    EXPECT_TRUE(store_->held().queued == 0 || next() <= now_) << "the rest is done at once";
  }
}

TEST_F(FetchSchedulerTest, Rfc9309_2312_ARobotsRedirectIsTheHostsNextRequestAfterItsDelay) {
  settings().robots = true;
  start();
  put("http://a.test/");
  RobotsRead redirect;
  redirect.redirect = url("http://b.test/r.txt");
  ASSERT_TRUE(answer(begin(), 301, std::move(redirect)));
  clear();
  tick();
  EXPECT_EQ(asked(), Texts{}) << "not at once";
  advance(seconds(1));
  const FetchJob next = begin();
  EXPECT_NE(next.robots(), nullptr);
  EXPECT_EQ(next.url.text(), "http://b.test/r.txt");
  EXPECT_EQ(next.robots()->origin, "http://a.test");
  EXPECT_EQ(next.robots()->hops, 1);
  ASSERT_TRUE(answer(next, 200, robots_page("User-agent: *\nDisallow: /\n")));
  advance(seconds(1));
  tick();
  expect("http://a.test/", UrlState::excluded, Reason::robots);
}

TEST_F(FetchSchedulerTest, AStoreThatFailsIsAnError) {
  start();
  put("http://a.test:22/");
  kv_.fail_after(0, storage::ErrorKind::io);
  EXPECT_FALSE(parts_->fetches.scheduler.tick(step()));
}

TEST_F(FetchSchedulerTest, OnALaterVisitTheValidatorGoesAlong) {
  start();
  storage::UrlRecord known;
  known.validator = "\"e1\"";
  put("http://a.test/", known);
  EXPECT_EQ(begin().page()->validator, "") << "the first visit asks for all of it";
  known.visit = 1;
  put("http://b.test/", known);
  EXPECT_EQ(begin().page()->validator, "\"e1\"");
}

TEST_F(FetchSchedulerTest, AUrlThatItsServerRedirectsWithinTheFormIsAskedForByThatForm) {
  settings().join_www = true;
  start();
  put("http://a.test/");
  PageRead page;
  page.canonical_redirect = url("http://www.a.test/");
  ASSERT_TRUE(answer(begin(), 301, std::move(page)));
  advance(minutes(1));
  clear();
  tick_once();
  ASSERT_EQ(said<ResolveHost>().size(), 1u) << "it is another name";
  EXPECT_EQ(said<ResolveHost>()[0].name, "www.a.test");
  resolve();
  tick();
  EXPECT_EQ(asked(), Texts{"http://www.a.test/"});
}

class LongRobotsTest : public FetchSchedulerTest {
 protected:
  static constexpr int hosts = 17;
  // Each host has a page to request, and a stored robots.txt that is too long for the core to parse.
  LongRobotsTest() {
    settings().robots = true;
    start();
    for (int i = 0; i < hosts; ++i) put(page(i));
    tick();
    for (const StartFetch& start : said<StartFetch>())
      EXPECT_TRUE(answer(start.job, 200, robots_page(std::string(20'000, '#') + "\nUser-agent: *\nDisallow: /no\n")));
    start();
    advance(seconds(1));
    tick();
  }
  static std::string page(int host) { return "http://h" + std::to_string(host) + ".test/no"; }
  void parsed(const ParseRobots& order) { ASSERT_TRUE(read(order.job, done(robots_page(order.body)))); }
};

TEST_F(LongRobotsTest, AWorkerParsesIt_SixteenAtMostAtOnce) {
  const std::vector<ParseRobots> orders = said<ParseRobots>();
  ASSERT_EQ(orders.size(), 16u);
  EXPECT_EQ(asked(), Texts{});
  EXPECT_EQ(store_->held().queued, 17u) << "pages wait for their rules";
  EXPECT_FALSE(parts_->fetches.robots.parsing_may_start());
  clear();
  parsed(orders[0]);
  EXPECT_EQ(next(), now_) << "a host that waited may go on";
  tick();
  EXPECT_EQ(said<ParseRobots>().size(), 1u) << "the seventeenth's turn";
  EXPECT_EQ(store_->held().excluded, 1u);
}

TEST_F(LongRobotsTest, EachIsJudgedByItsRulesOnceTheyHaveCome) {
  for (const ParseRobots& order : said<ParseRobots>()) parsed(order);
  clear();
  tick();
  for (const ParseRobots& order : said<ParseRobots>()) parsed(order);
  tick();
  for (int i = 0; i < hosts; ++i) expect(page(i), UrlState::excluded, Reason::robots);
  EXPECT_TRUE(parts_->fetches.jobs.empty());
}

TEST_F(LongRobotsTest, WhenTheGateClosesNoHostStaysHeld) {
  const std::vector<ParseRobots> orders = said<ParseRobots>();
  add_member(2);
  parts_->directives.compare(step(), rig_id(2), 1);
  ASSERT_FALSE(parts_->fetches.gate.open());
  for (const ParseRobots& order : orders) parsed(order);
  tick();
  for (int i = 0; i < hosts; ++i)
    EXPECT_FALSE(parts_->records.bench.partition_busy(key(page(i)).host.partition)) << page(i);
}

TEST_F(FetchSchedulerTest, ASlotIsNotAskedForLongBeforeItsHostIsDue) {
  start();
  put("http://a.test/1");
  BenchHost* const taken = parts_->records.bench.take(now_).value();
  ASSERT_NE(taken, nullptr);
  parts_->records.bench.resume(*taken, now_);
  taken->next_allowed = now_ + std::chrono::hours{1};  // as another peer knew it
  tick_once();
  EXPECT_FALSE(taken->busy) << "it would keep all other hosts of its address waiting";
  parts_->fetches.access.tick(step());
  EXPECT_EQ(asked(), Texts{});
  EXPECT_TRUE(sent<ring::SlotRequest>().empty());
}

}  // namespace
}  // namespace orbweaver
