// A robots.txt that is on another host is asked for in that host's turn, whichever peer holds it
// (docs/reference/politeness.md; RFC 9309, 2.3.1.2).
#include "tests/unit/fetch_rig.h"

namespace orbweaver {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;
using storage::Reason;
using storage::UrlState;

class RobotsElsewhereTest : public FetchRig {
 protected:
  RobotsElsewhereTest() {
    settings().robots = true;
    settings().delay = seconds{10};
    settings().delay_factor = 0;
    settings().address_delay = Duration{};
  }
  RobotsRead moved_to(const std::string& text) {
    RobotsRead read;
    read.redirect = url(text);
    return read;
  }
  // a.test's robots.txt is at b.test.
  void redirect() {
    put("http://a.test/1");
    const FetchJob job = begin();
    EXPECT_EQ(job.url.text(), "http://a.test/robots.txt");
    ASSERT_TRUE(answer(job, 302, moved_to("http://b.test/robots.txt")));
    advance(seconds{20});
  }
  LeaseDesk& leases() { return parts_->fetches.access.leases(); }
  ring::LeaseAsk turn_of(const std::string& host, ring::LeaseAction action = ring::LeaseAction::take,
                         std::uint64_t id = 5) {
    return {.id = id, .action = action, .host = ring::md5(host), .delay = 1'000'000, .name = host};
  }
  // What peer 2 is answered.
  ring::Lease ask(const ring::LeaseAsk& ask) {
    clear();
    leases().on_request(step(), rig_id(2), {{ask}}, {"route"});
    const auto answers = sent<ring::LeaseAnswer>();
    EXPECT_EQ(answers.size(), 1u);
    return answers.empty() || answers[0].leases.empty() ? ring::Lease{} : answers[0].leases[0];
  }
  // Asks for all that may be asked for during this time, in small steps.
  std::vector<FetchJob> begun_within(Duration time) {
    clear();
    for (const Time end = now_ + time; now_ < end; advance(milliseconds{100})) tick();
    std::vector<FetchJob> found;
    for (const StartFetch& start : said<StartFetch>()) found.push_back(start.job);
    return found;
  }
};

TEST_F(RobotsElsewhereTest, WaitsForARequestOfTheOtherHostAndItsDelay) {
  start();
  redirect();
  put("http://b.test/1");
  std::vector<FetchJob> begun = begun_within(seconds{1});
  // Which of the two goes first is open; they go one after the other, a delay apart.
  ASSERT_EQ(begun.size(), 1u);
  ASSERT_EQ(begun[0].url.text(), "http://b.test/robots.txt");
  const bool own_first = begun[0].robots()->origin == "http://b.test";
  EXPECT_TRUE(begun_within(seconds{30}).empty()) << "it is asked now";
  ASSERT_TRUE(answer(begun[0], 200, robots_page("User-agent: *\nDisallow: /2\n")));
  EXPECT_TRUE(begun_within(seconds{9}).empty());
  begun = begun_within(seconds{3});
  ASSERT_EQ(begun.size(), own_first ? 1u : 2u);
  for (const FetchJob& job : begun)
    if (job.url.host() == "b.test") {
      EXPECT_NE(job.robots() != nullptr && job.robots()->origin == "http://b.test", own_first);
    }
}

TEST_F(RobotsElsewhereTest, OfAnotherPeerIsLentAndReturned) {
  start();
  add_member(2);
  give_partition("http://a.test/", 1);
  give_partition("http://b.test/", 2);
  advance(seconds{60});
  redirect();
  clear();
  tick();
  EXPECT_TRUE(asked().empty());
  const auto requests = sent<ring::LeaseRequest>();
  ASSERT_EQ(requests.size(), 1u);
  const ring::LeaseAsk take = requests[0].asks[0];
  EXPECT_EQ(take.name, "b.test");
  EXPECT_EQ(take.action, ring::LeaseAction::take);
  leases().on_answer(now_, {{{.id = take.id, .given = true}}});
  clear();
  tick();
  const std::vector<StartFetch> begun = said<StartFetch>();
  ASSERT_EQ(begun.size(), 1u);
  EXPECT_EQ(begun[0].job.url.text(), "http://b.test/robots.txt");
  FetchEnded ended;
  ended.status = 503;
  ended.retry_after = seconds{100};
  ASSERT_TRUE(end(begun[0].job, std::move(ended)));
  clear();
  parts_->fetches.access.tick(step());
  const auto returns = sent<ring::LeaseRequest>();
  ASSERT_EQ(returns.size(), 1u);
  EXPECT_EQ(returns[0].asks[0].action, ring::LeaseAction::return_);
  EXPECT_EQ(returns[0].asks[0].wait, 100'000'000u) << "as it asked";
  EXPECT_EQ(host("http://a.test/").failures, 0u);
  EXPECT_LT(host("http://a.test/").next_allowed, now_ + seconds{1}) << "the other host is slow, not this one";
}

TEST_F(RobotsElsewhereTest, ALentHostIsNotAskedUntilItIsReturnedAndHasRested) {
  start();
  put("http://b.test/1");
  EXPECT_TRUE(ask(turn_of("b.test")).given);
  EXPECT_TRUE(ask(turn_of("b.test")).given) << "asked again under the same number";
  EXPECT_TRUE(begun_within(seconds{8}).empty());
  EXPECT_TRUE(ask(turn_of("b.test", ring::LeaseAction::renew)).given);
  EXPECT_FALSE(ask(turn_of("b.test", ring::LeaseAction::take, 6)).given) << "it is lent";
  EXPECT_TRUE(parts_->records.bench.partition_busy(key("http://b.test/").host.partition)) << "no hand-over meanwhile";
  ring::LeaseAsk back = turn_of("b.test", ring::LeaseAction::return_);
  back.wait = 20'000'000;
  EXPECT_TRUE(ask(back).given);
  EXPECT_TRUE(ask(back).given);
  EXPECT_FALSE(parts_->records.bench.partition_busy(key("http://b.test/").host.partition));
  EXPECT_TRUE(begun_within(seconds{19}).empty());
  EXPECT_EQ(begun_within(seconds{3}).size(), 1u);
}

TEST_F(RobotsElsewhereTest, ALentHostOfAPeerThatIsGoneComesBack) {
  start();
  put("http://b.test/1");
  EXPECT_TRUE(ask(turn_of("b.test")).given);
  EXPECT_TRUE(begun_within(seconds{19}).empty()) << "the lease, and the delay";
  EXPECT_EQ(begun_within(seconds{3}).size(), 1u);
}

TEST_F(RobotsElsewhereTest, ABusyHostIsLentAfterItsDelayAndItsOwnPagesLeaveRoom) {
  settings().robots = false;
  start();
  put("http://b.test/1");
  put("http://b.test/2");
  const FetchJob own = begin();
  EXPECT_FALSE(ask(turn_of("b.test")).given) << "it is being asked";
  ASSERT_TRUE(answer(own, 200));
  const ring::Lease later = ask(turn_of("b.test"));
  EXPECT_FALSE(later.given);
  EXPECT_EQ(later.wait, 10'000'000u);
  EXPECT_TRUE(begun_within(seconds{10} + milliseconds{300}).empty()) << "it leaves room for the other";
  EXPECT_TRUE(ask(turn_of("b.test")).given);
  EXPECT_TRUE(begun_within(seconds{3}).empty());
}

TEST_F(RobotsElsewhereTest, AHostThatNobodyCrawlsIsLentAndRests) {
  start();
  EXPECT_TRUE(ask(turn_of("b.test")).given);
  put("http://b.test/1");
  EXPECT_TRUE(begun_within(seconds{5}).empty());
  EXPECT_TRUE(ask(turn_of("b.test", ring::LeaseAction::return_)).given);
  EXPECT_FALSE(ask(turn_of("b.test", ring::LeaseAction::take, 6)).given) << "it rests";
  EXPECT_TRUE(begun_within(seconds{9}).empty());
  EXPECT_EQ(begun_within(seconds{3}).size(), 1u);
}

// Seed 44248 of the simulator: a robots.txt was at a host that was not in memory. After a restart with the clock set
// back by a year, each question was answered with the host's stored wait from then on, so its turn never came. And
// whoever had waited was followed by the same wait again.
TEST_F(RobotsElsewhereTest, AClockThatWasSetBackIsWaitedForOnce) {
  start();
  storage::Commit commit;
  commit.clocks.emplace_back(
      key("http://b.test/").host,
      storage::HostClock{.next_allowed = now_ + std::chrono::hours{24 * 365}, .host = "b.test", .wait = minutes{10}});
  ASSERT_TRUE(store_->commit(commit));
  EXPECT_EQ(ask(turn_of("b.test")).wait, 600'000'000u);
  ASSERT_TRUE(parts_->fetches.outcomes.store_clocks(step()));
  advance(minutes{4});
  EXPECT_EQ(ask(turn_of("b.test")).wait, 360'000'000u);
  ASSERT_TRUE(parts_->fetches.outcomes.store_clocks(step()));
  advance(minutes{6});
  EXPECT_TRUE(ask(turn_of("b.test")).given);
  EXPECT_TRUE(ask(turn_of("b.test", ring::LeaseAction::return_)).given);
  EXPECT_LE(ask(turn_of("b.test", ring::LeaseAction::take, 6)).wait, 11'000'000u) << "its delay, no more";
}

TEST_F(RobotsElsewhereTest, OfAHostThatAnotherPeerHoldsItSaysNothing) {
  start();
  add_member(2);
  give_partition("http://b.test/", 2);
  clear();
  leases().on_request(step(), rig_id(3), {{turn_of("b.test")}}, {"route"});
  EXPECT_TRUE(sent<ring::LeaseAnswer>().empty());
}

// By URL, the lease of the other host is returned as that of a host that was asked, though its delay is nothing.
TEST_F(RobotsElsewhereTest, Contract3_WithoutADelayOfTheCrawlTheCrawlDelayCountsAfterIt) {
  settings().partition_by = PartitionBy::url;
  settings().delay = Duration{};
  start();
  put("http://b.test/1");
  ASSERT_TRUE(answer(begin(), 200, robots_page("User-agent: *\nCrawl-delay: 30\n")));
  for (const char* const page : {"http://b.test/2", "http://b.test/3", "http://a.test/1"}) put(page);
  const FetchJob first = begin();
  ASSERT_EQ(first.url.text(), "http://a.test/robots.txt");
  ASSERT_TRUE(answer(first, 302, moved_to("http://b.test/robots.txt")));
  bool turn_passed = false;
  for (int requests = 0; requests < 4; ++requests) {
    EXPECT_TRUE(begun_within(seconds{29}).empty());
    const std::vector<FetchJob> begun = begun_within(seconds{4});
    ASSERT_EQ(begun.size(), 1u);
    ASSERT_EQ(begun[0].url.host(), "b.test");
    if (begun[0].page() != nullptr) {
      ASSERT_TRUE(answer(begun[0], 200));
    } else {
      turn_passed = requests < 3;
      ASSERT_TRUE(answer(begun[0], 200, robots_page("User-agent: *\nDisallow: /\n")));
    }
  }
  EXPECT_TRUE(turn_passed) << "a page after it";
}

// The file was read by an earlier process: at the other host's turn its rules were not in memory.
TEST_F(RobotsElsewhereTest, Contract3_ACrawlDelayThatIsReadBackCountsAfterIt) {
  start();
  put("http://b.test/1");
  ASSERT_TRUE(answer(begin(), 200, robots_page("User-agent: *\nCrawl-delay: 30\n")));
  start();
  advance(seconds{60});
  EXPECT_TRUE(ask(turn_of("b.test")).given);
  EXPECT_TRUE(ask(turn_of("b.test", ring::LeaseAction::return_)).given);
  EXPECT_TRUE(begun_within(seconds{29}).empty());
  EXPECT_EQ(begun_within(seconds{3}).size(), 1u);
}

// Seed 14776 of the simulator: it was told to come again soon, and the request that was under way had ended by then.
TEST_F(RobotsElsewhereTest, Contract3_ATurnWaitsForAShortDelayAfterARequestThatWasUnderWay) {
  settings().robots = false;
  settings().delay = milliseconds{400};
  start();
  put("http://b.test/1");
  put("http://b.test/2");
  const FetchJob own = begin();
  const ring::Lease busy = ask(turn_of("b.test"));
  EXPECT_FALSE(busy.given);
  ASSERT_LT(busy.wait, 400'000u);
  ASSERT_TRUE(answer(own, 200));
  advance(Duration(static_cast<std::int64_t>(busy.wait)));
  const ring::Lease later = ask(turn_of("b.test"));
  EXPECT_FALSE(later.given);
  EXPECT_EQ(later.wait, 400'000u - busy.wait);
  advance(Duration(static_cast<std::int64_t>(later.wait)));
  EXPECT_TRUE(ask(turn_of("b.test")).given);
}

// Each waits for a turn of the other.
TEST_F(RobotsElsewhereTest, TwoHostsThatRedirectToEachOtherBothGetTheirs) {
  start();
  put("http://a.test/1");
  put("http://b.test/1");
  for (int i = 0; i < 600; ++i) {
    for (const FetchJob& job : begun_within(milliseconds{100})) {
      const std::string other = job.url.host() == "a.test" ? "b.test" : "a.test";
      if (job.page() != nullptr) {
        ASSERT_TRUE(answer(job, 200));
      } else if (job.url.path() == "/robots.txt") {
        ASSERT_TRUE(answer(job, 302, moved_to("http://" + other + "/of-" + std::string(job.url.host()))));
      } else {
        ASSERT_TRUE(answer(job, 200, robots_page("User-agent: *\nDisallow: /2\n")));
      }
    }
  }
  expect("http://a.test/1", UrlState::fetched, Reason::none, 200);
  expect("http://b.test/1", UrlState::fetched, Reason::none, 200);
}

}  // namespace
}  // namespace orbweaver
