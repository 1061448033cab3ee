// What holds a peer's fetching back: node/scheduling/fetch_limit.h.
#include "node/scheduling/fetch_limit.h"

#include <set>

#include "tests/unit/fetch_rig.h"

namespace orbweaver {
namespace {

using std::chrono::seconds;

class FetchLimitTest : public FetchRig {
 protected:
  std::string by() const { return std::string(name_of(parts_->fetches.limits.limit())); }
  FetchLimits::Hosts hosts() const { return parts_->fetches.limits.hosts(); }
  Duration time(FetchLimit limit) const { return parts_->fetches.limits.time(limit); }
};

TEST_F(FetchLimitTest, EachLimitHasItsName) {
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < fetch_limits; ++i) names.insert(name_of(static_cast<FetchLimit>(i)));
  EXPECT_EQ(names.size(), fetch_limits);
  EXPECT_EQ(name_of(FetchLimit::nothing), "nothing");
}

TEST_F(FetchLimitTest, FollowsAHostFromItsNameToItsDelayAndToTheEnd) {
  settings().delay = seconds{10};
  start();
  EXPECT_EQ(by(), "nothing");
  put("http://a.test/1");
  put("http://a.test/2");
  tick_once();
  EXPECT_EQ(by(), "lookups");
  EXPECT_EQ(hosts().lookups, 1u);
  resolve();
  EXPECT_EQ(hosts().lookups, 0u);
  const FetchJob first = begin();
  EXPECT_EQ(by(), "answers");
  EXPECT_EQ(hosts().answers, 1u);
  FetchEnded ended;
  ended.status = 200;
  ASSERT_TRUE(end(first, std::move(ended)));
  EXPECT_EQ(hosts().workers, 1u);
  EXPECT_EQ(hosts().answers, 0u);
  ASSERT_TRUE(read(first, done(PageRead{})));
  EXPECT_EQ(by(), "delays");
  EXPECT_EQ(hosts().delays, 1u);
  advance(seconds{10});
  ASSERT_TRUE(answer(begin(), 200));
  EXPECT_EQ(by(), "nothing");
}

TEST_F(FetchLimitTest, RequestsInFlightLimitAndPagesThatWaitToBeRead) {
  settings().max_fetches = 2;
  start();
  for (const char* const text : {"http://a.test/", "http://b.test/", "http://c.test/"}) put(text);
  clear();
  tick();
  const auto begun = said<StartFetch>();
  ASSERT_EQ(begun.size(), 2u);
  EXPECT_EQ(by(), "connections");
  for (const StartFetch& start : begun) {
    FetchEnded ended;
    ended.status = 200;
    ASSERT_TRUE(end(start.job, std::move(ended)));
  }
  EXPECT_EQ(by(), "workers");
}

TEST_F(FetchLimitTest, HostsOfOneDomainWaitForItsShare) {
  settings().max_fetches_per_domain = 1;
  settings().max_fetches = 4;  // one of them is a reserve, for which shares count
  start();
  for (int i = 0; i < 8; ++i) put("http://h" + std::to_string(i) + ".x.test/");
  tick();
  EXPECT_EQ(by(), "shares");
  EXPECT_EQ(hosts().answers, 3u);
  EXPECT_EQ(hosts().shares, 5u);
}

TEST_F(FetchLimitTest, WithoutAGrantOfPagesTheLimitOfPagesCounts_ButNotWhereNothingIsQueued) {
  settings().max_pages = 10;
  start();
  EXPECT_EQ(by(), "nothing");
  put("http://a.test/");
  tick();
  EXPECT_EQ(by(), "page_limit");
}

TEST_F(FetchLimitTest, TheTimeCountsForWhatWasTheLimitWhenItBegan) {
  settings().delay = seconds{10};
  start();
  FetchLimits& limits = parts_->fetches.limits;
  limits.note(now_);
  EXPECT_EQ(time(FetchLimit::nothing), Duration{});
  advance(seconds{3});
  put("http://a.test/1");
  put("http://a.test/2");
  const FetchJob first = begin();
  limits.note(now_);
  advance(seconds{2});
  ASSERT_TRUE(answer(first, 200));
  limits.note(now_);
  advance(seconds{4});
  limits.note(now_);
  EXPECT_EQ(time(FetchLimit::nothing), seconds{3});
  EXPECT_EQ(time(FetchLimit::answers), seconds{2});
  EXPECT_EQ(time(FetchLimit::delays), seconds{4});
}

}  // namespace
}  // namespace orbweaver
