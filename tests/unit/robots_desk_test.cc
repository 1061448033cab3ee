// The meaning of an answer to a request for robots.txt, and what is known of an origin's rules:
// node/scheduling/robots_desk.h, node/robots/robots_fetch.h, docs/reference/robots.md, RFC 9309.
#include "node/scheduling/robots_desk.h"

#include "tests/unit/fetch_rig.h"

namespace orbweaver {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;
using storage::Reason;
using storage::UrlState;
using Texts = std::vector<std::string>;

class RobotsDeskTest : public FetchRig {
 protected:
  RobotsDeskTest() {
    settings().robots = true;
    settings().max_retries = 0;
  }
  const RobotsDesk::Counters& counters() const { return parts_->fetches.robots.counters(); }
  // Answers the request for robots.txt that begins now.
  void answer_robots(int status, RobotsRead page = {}) {
    const FetchJob job = begin();
    ASSERT_NE(job.robots(), nullptr) << job.url.text();
    ASSERT_TRUE(answer(job, status, std::move(page)));
  }
  // The same with Retry-After.
  void answer_later(int status, Duration wait) {
    FetchEnded event;
    event.status = status;
    event.retry_after = wait;
    const FetchJob job = begin();
    ASSERT_TRUE(end(job, event));
    ASSERT_TRUE(read(job, done(RobotsRead{})));
  }
  void answer_rules(const std::string& body) { answer_robots(200, robots_page(body)); }
  std::optional<storage::RobotsEntry> stored(const std::string& page) {
    return *store_->robots(key(page).host, std::string(url(page).origin()));
  }
  // The pages of a.test that are requested from now on, each answered with 200.
  Texts pages() {
    Texts found;
    for (int i = 0; i < 8; ++i) {
      clear();
      tick();
      for (const StartFetch& start : said<StartFetch>()) {
        found.push_back(start.job.url.text());
        EXPECT_TRUE(answer(start.job, 200));
      }
      advance(seconds(10));
    }
    return found;
  }
};

TEST_F(RobotsDeskTest, Rfc9309_24_RulesAreKeptForADay) {
  start();
  put("http://a.test/1");
  answer_rules("User-agent: *\nDisallow: /no\n");
  ASSERT_TRUE(stored("http://a.test/1"));
  EXPECT_EQ(stored("http://a.test/1")->expires, now_ + hours(24));
  EXPECT_EQ(stored("http://a.test/1")->body, "User-agent: *\nDisallow: /no\n");
  EXPECT_EQ(counters().fetched, 1u);
  EXPECT_EQ(pages(), Texts{"http://a.test/1"});
  put("http://a.test/2");
  EXPECT_EQ(pages(), Texts{"http://a.test/2"}) << "known";
  advance(hours(24));
  put("http://a.test/3");
  answer_rules("User-agent: *\nDisallow: /3\n");
  EXPECT_EQ(pages(), Texts{});
  expect("http://a.test/3", UrlState::excluded, Reason::robots);
}

TEST_F(RobotsDeskTest, Rfc9309_2313_AClientErrorAllowsAll) {
  for (const int status : {400, 401, 403, 404, 410, 451}) {
    const std::string page = "http://s" + std::to_string(status) + ".test/1";
    start_fresh();
    put(page);
    answer_robots(status);
    EXPECT_EQ(pages(), Texts{page}) << status;
    EXPECT_EQ(stored(page)->kind, static_cast<std::uint8_t>(RobotsKind::allow_all)) << status;
  }
}

TEST_F(RobotsDeskTest, Rfc9309_2314_AServerErrorDisallowsAllForADay) {
  for (const int status : {429, 500, 503, 504, 599}) {
    const std::string page = "http://s" + std::to_string(status) + ".test/1";
    start_fresh();
    put(page);
    answer_robots(status);
    EXPECT_TRUE(logged("robots.txt unreachable"));
    EXPECT_EQ(pages(), Texts{}) << status;
    expect(page, UrlState::excluded, Reason::robots_unreachable, status);
    EXPECT_EQ(stored(page)->expires, stored(page)->unreachable_since + hours(24)) << status;
  }
}

TEST_F(RobotsDeskTest, Rfc9309_2312_FiveRedirectsAreFollowedThenAllIsAllowed) {
  start();
  put("http://a.test/1");
  for (int hop = 0; hop <= 5; ++hop) {
    RobotsRead page;
    page.redirect = url("http://a.test/r" + std::to_string(hop));
    answer_robots(302, std::move(page));
    EXPECT_EQ(stored("http://a.test/1").has_value(), hop == 5) << hop;
    advance(seconds(10));
  }
  EXPECT_EQ(pages(), Texts{"http://a.test/1"});
}

TEST_F(RobotsDeskTest, ARedirectWithoutATargetOrToABadPortAllowsAll) {
  start();
  put("http://a.test/1");
  answer_robots(301);
  EXPECT_EQ(pages(), Texts{"http://a.test/1"});
  put("http://b.test/1");
  RobotsRead page;
  page.redirect = url("http://b.test:22/robots.txt");
  answer_robots(301, std::move(page));
  EXPECT_EQ(pages(), Texts{"http://b.test/1"});
}

TEST_F(RobotsDeskTest, Rfc9309_2312_ARedirectThatComesWhileThePeerStopsSaysNothingOfTheRules) {
  start();
  put("http://a.test/1");
  const FetchJob job = begin();
  parts_->lifecycle.stop();
  RobotsRead page;
  page.redirect = url("http://a.test/r");
  ASSERT_TRUE(answer(job, 301, std::move(page)));
  EXPECT_FALSE(stored("http://a.test/1")) << "the next process must ask again, not take all for allowed";
}

TEST_F(RobotsDeskTest, AFailedTryIsRepeatedWhileTheHostWaits) {
  settings().max_retries = 2;
  start();
  put("http://a.test/1");
  answer_robots(503);
  EXPECT_FALSE(stored("http://a.test/1"));
  clear();
  advance(seconds(4));
  tick();
  EXPECT_EQ(asked(), Texts{});
  advance(seconds(1));
  ASSERT_TRUE(fail_with(begin(), FetchError::dns));
  advance(seconds(9));
  clear();
  tick();
  EXPECT_EQ(asked(), Texts{}) << "the wait doubles";
  advance(seconds(1));
  answer_rules("");
  EXPECT_EQ(pages(), Texts{"http://a.test/1"});
  EXPECT_EQ(counters().fetched, 3u);
}

TEST_F(RobotsDeskTest, RetryAfterIsObeyed) {
  settings().max_retries = 1;
  start();
  put("http://a.test/1");
  answer_later(429, minutes(20));
  advance(minutes(19));
  clear();
  tick();
  EXPECT_EQ(asked(), Texts{});
  advance(minutes(1));
  EXPECT_NE(begin().robots(), nullptr);
}

TEST_F(RobotsDeskTest, TheWaitOfAHostIsWrittenAndOutlivesTheProcess) {
  settings().max_retries = 1;
  start();
  put("http://a.test/1");
  answer_later(503, minutes(20));
  const auto clock = *store_->clock(key("http://a.test/1").host);
  ASSERT_TRUE(clock);
  EXPECT_EQ(clock->next_allowed, now_ + minutes(20));
  EXPECT_EQ(clock->host, "a.test");
}

TEST_F(RobotsDeskTest, TheWaitAfterARedirectIsWrittenToo) {
  start();
  put("http://a.test/1");
  RobotsRead page;
  page.redirect = url("http://a.test/r");
  answer_robots(301, std::move(page));
  const auto clock = *store_->clock(key("http://a.test/1").host);
  ASSERT_TRUE(clock) << "another peer may ask for the rest";
  EXPECT_GT(clock->next_allowed, now_);
}

TEST_F(RobotsDeskTest, Rfc9309_2314_WithAnOlderCopyThatStaysInUseAndTheFileIsAskedForEveryHour) {
  start();
  put("http://a.test/1");
  answer_rules("User-agent: *\nDisallow: /no\n");
  pages();
  advance(hours(24));
  put("http://a.test/2");
  put("http://a.test/no");
  answer_robots(500);
  EXPECT_EQ(stored("http://a.test/1")->expires, now_ + hours(1));
  EXPECT_EQ(pages(), Texts{"http://a.test/2"});
  expect("http://a.test/no", UrlState::excluded, Reason::robots);
  advance(hours(1));
  put("http://a.test/3");
  EXPECT_NE(begin().robots(), nullptr);
}

TEST_F(RobotsDeskTest, Rfc9309_2314_After30DaysWithoutAnAnswerAllIsAllowed) {
  start();
  put("http://a.test/1");
  answer_rules("User-agent: *\nDisallow: /\n");
  pages();
  advance(hours(24 * 30));
  put("http://a.test/2");
  answer_robots(500);
  EXPECT_EQ(pages(), Texts{"http://a.test/2"});
}

TEST_F(RobotsDeskTest, Rfc9309_2314_AFirstFileThatStaysOutOfReachIsForgivenAfter30DaysToo) {
  start();
  put("http://a.test/1");
  answer_robots(500);
  const Time first = now_;
  while (now_ < first + hours(24 * 29)) {
    pages();
    advance(hours(25));
    put("http://a.test/" + std::to_string(now_.time_since_epoch().count()));
    answer_robots(500);
    ASSERT_EQ(stored("http://a.test/1")->unreachable_since, first) << "the first time counts";
  }
  pages();
  advance(hours(48));
  put("http://a.test/last");
  answer_robots(500);
  EXPECT_EQ(pages(), Texts{"http://a.test/last"});
}

TEST_F(RobotsDeskTest, ThisPeersOwnRefusalIsNotTheHostsWordAndNotStored) {
  for (const FetchError error : {FetchError::address_refused, FetchError::address_denied, FetchError::no_contact}) {
    const std::string page = "http://e" + std::to_string(static_cast<int>(error)) + ".test/1";
    start_fresh();
    put(page);
    ASSERT_TRUE(fail_with(begin(), error));
    EXPECT_FALSE(stored(page));
    EXPECT_EQ(counters().fetched, 0u);
    advance(seconds(10));
    const FetchJob job = begin();
    EXPECT_EQ(job.url.text(), page) << "its page fails as robots.txt did";
    ASSERT_TRUE(fail_with(job, error));
    advance(minutes(2));
    put(page + "2");
    EXPECT_NE(begin().robots(), nullptr) << "asked for again after a minute";
  }
}

TEST_F(RobotsDeskTest, Rfc9309_2314_ARedirectToWhatThisPeerMayNotAskIsNoAnswer) {
  start();
  put("http://a.test/1");
  RobotsRead page;
  page.redirect = url("http://private.test/robots.txt");
  answer_robots(302, std::move(page));
  advance(seconds(10));
  ASSERT_TRUE(fail_with(begin(), FetchError::address_refused));
  EXPECT_EQ(pages(), Texts{}) << "its pages would be fetched without its rules";
  expect("http://a.test/1", UrlState::excluded, Reason::robots_unreachable);
}

TEST_F(RobotsDeskTest, CrawlDelayIsObeyedUpToItsBound) {
  settings().max_crawl_delay = seconds(60);
  start();
  put("http://a.test/1");
  answer_rules("User-agent: *\nCrawl-delay: 20\n");
  clear();
  advance(seconds(19));
  tick();
  EXPECT_EQ(asked(), Texts{}) << "after robots.txt too";
  advance(seconds(1));
  EXPECT_EQ(begin().url.text(), "http://a.test/1");
  put("http://b.test/1");
  tick();
  ASSERT_TRUE(answer(said<StartFetch>().back().job, 200, robots_page("User-agent: *\nCrawl-delay: 3600\n")));
  EXPECT_EQ(host("http://b.test/1").crawl_delay, seconds(60));
}

TEST_F(RobotsDeskTest, AfterARestartRulesAreReadBackAndTheDelayPassesBeforeTheFirstPage) {
  start();
  put("http://a.test/1");
  answer_rules("User-agent: *\nCrawl-delay: 20\n");
  advance(hours(1));
  start();
  advance(seconds(2));
  tick();
  EXPECT_EQ(asked(), Texts{});
  EXPECT_EQ(counters().parsed_again, 1u);
  advance(seconds(18));
  EXPECT_EQ(begin().url.text(), "http://a.test/1");
  EXPECT_EQ(counters().fetched, 0u);
}

TEST_F(RobotsDeskTest, WhyAFileWasOutOfReachIsReadBackToo) {
  start();
  put("http://a.test/1");
  answer_robots(503);
  put("http://b.test/1");
  ASSERT_TRUE(fail_with(begin(), FetchError::timeout));
  start();
  advance(hours(1));
  tick();
  expect("http://a.test/1", UrlState::excluded, Reason::robots_unreachable, 503);
  expect("http://b.test/1", UrlState::excluded, Reason::robots_timeout);
}

TEST_F(RobotsDeskTest, RulesThatHadToMakeRoomInMemoryAreReadBackFromTheStore) {
  start_.memory.robots = 1;  // the rules that were put last stay
  start();
  for (const char* page : {"http://a.test/1", "http://a.test/2", "http://b.test/1", "http://b.test/2"}) put(page);
  for (int i = 0; i < 20; ++i) {
    clear();
    tick();
    for (const StartFetch& start : said<StartFetch>()) {
      const std::string no = start.job.url.host() == "a.test" ? "/2" : "/1";
      EXPECT_TRUE(answer(start.job, 200,
                         start.job.robots() != nullptr ? done(robots_page("User-agent: *\nDisallow: " + no + "\n"))
                                                       : done(PageRead{})));
    }
    advance(seconds(10));
  }
  expect("http://a.test/1", UrlState::fetched, Reason::none, 200);
  expect("http://a.test/2", UrlState::excluded, Reason::robots);
  expect("http://b.test/1", UrlState::excluded, Reason::robots);
  expect("http://b.test/2", UrlState::fetched, Reason::none, 200);
  EXPECT_EQ(counters().fetched, 2u) << "each once";
  EXPECT_GT(counters().parsed_again, 0u);
  EXPECT_GT(parts_->fetches.robots.cache().dropped(), 0u);
}

TEST_F(RobotsDeskTest, UnderPartitionByUrlAHostsPartsShareAFile) {
  settings().partition_by = PartitionBy::url;
  start();
  Texts parts;
  for (int i = 0; parts.size() < 2; ++i) {
    const std::string page = "http://a.test/" + std::to_string(i);
    if (parts.empty() || key(page).host != key(parts[0]).host) parts.push_back(page);
  }
  for (const std::string& page : parts) put(page);
  Texts found;
  for (int i = 0; i < 10; ++i) {
    clear();
    tick();
    for (const StartFetch& start : said<StartFetch>()) {
      found.push_back(start.job.url.text());
      ASSERT_TRUE(answer(
          start.job, 200,
          start.job.robots() != nullptr ? done(robots_page("User-agent: *\nDisallow: /no\n")) : done(PageRead{})));
    }
    advance(seconds(3));
  }
  std::sort(found.begin(), found.end());
  Texts wanted = {parts[0], parts[1], "http://a.test/robots.txt"};
  std::sort(wanted.begin(), wanted.end());
  EXPECT_EQ(found, wanted) << "asked for once";
}

TEST_F(RobotsDeskTest, RulesBeyondTheBoundAreToldAndCounted) {
  start();
  put("http://a.test/1");
  std::string body = "User-agent: *\n";
  for (int i = 0; i < 20'003; ++i) body += "Disallow: /x" + std::to_string(i) + "\n";
  answer_rules(body);
  EXPECT_TRUE(logged("robots.txt has more rules than are kept"));
  EXPECT_EQ(counters().rules_left_out, 3u);
}

TEST_F(RobotsDeskTest, OfAHostsManyPortsSixteenAreRemembered) {
  start();
  BenchHost host;
  for (int i = 0; i < 20; ++i) RobotsDesk::slot(host, "http://a.test:" + std::to_string(8000 + i)).attempts = 1;
  EXPECT_EQ(host.robots.size(), 16u);
  EXPECT_EQ(RobotsDesk::slot(host, "http://a.test:8019").attempts, 1);
  EXPECT_EQ(RobotsDesk::slot(host, "http://a.test:8000").attempts, 0) << "the first is forgotten";
}

TEST_F(RobotsDeskTest, WhatItsPartitionBringsWaitsForSitemapsOfOtherPeers) {
  settings().sitemaps = SitemapUse::robots;
  settings().replicas = 2;
  start();
  const std::string page = "http://a.test/";
  put(page);
  const FetchJob job = begin();
  add_member(2);
  std::string other = "http://b.test/";
  while (parts_->members.view().owns(key(other).host.partition)) other.insert(7, 1, 'b');
  RobotsRead read = robots_page("User-agent: *\nAllow: /\n");
  read.sitemaps = urls({other + "map.xml"});
  ASSERT_TRUE(answer(job, 200, std::move(read)));
  EXPECT_EQ(store_->counts().outbox, 1u);
  EXPECT_TRUE(parts_->records.replication.sitemaps_wait(key(page).host.partition));
}

TEST_F(RobotsDeskTest, SitemapsThatTheFileNamesAreQueuedWithIt) {
  settings().sitemaps = SitemapUse::robots;
  start();
  put("http://a.test/1");
  RobotsRead page = robots_page("Sitemap: http://a.test/map.xml\n");
  page.sitemaps = urls({"http://a.test/map.xml"});
  answer_robots(200, std::move(page));
  expect("http://a.test/map.xml", UrlState::queued, Reason::none);
  EXPECT_EQ(record("http://a.test/map.xml").depth, 1);
}

TEST_F(RobotsDeskTest, AStoreThatFailsIsAnErrorAndTheRulesAreNotUsed) {
  start();
  put("http://a.test/1");
  const FetchJob job = begin();
  kv_.fail_after(0, storage::ErrorKind::io);
  EXPECT_FALSE(answer(job, 200, robots_page("")));
  EXPECT_EQ(parts_->fetches.robots.cache().files(), 0u);
}

TEST_F(RobotsDeskTest, AnAnswerForAHostThatIsGoneIsNothing) {
  start();
  put("http://a.test/1");
  const FetchJob job = begin();
  ASSERT_TRUE(end(job, [] {
    FetchEnded event;
    event.status = 200;
    return event;
  }()));
  give_partition("http://a.test/1", 2);
  EXPECT_TRUE(read(job, done(robots_page(""))));
  EXPECT_TRUE(parts_->fetches.jobs.empty());
  EXPECT_FALSE(parts_->records.bench.partition_busy(key("http://a.test/1").host.partition));
}

}  // namespace
}  // namespace orbweaver
