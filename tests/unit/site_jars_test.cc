// Cookies of a site are kept with its partition (node/crawl/site_jars.h,
// docs/decisions/0028-ring-wide-shares.md).
#include "node/crawl/site_jars.h"

#include "tests/unit/fetch_rig.h"

namespace orbweaver {
namespace {

using std::chrono::hours;
using std::chrono::seconds;
using Texts = std::vector<std::string>;

class SiteJarsTest : public FetchRig {
 protected:
  SiteJarsTest() { settings().cookies = Cookies::crawl; }
  // Asks for the page, which answers with these; returns the cookies that the request brought.
  std::string visit(const std::string& text, const Texts& set = {}) {
    put(text);
    return ask(set);
  }
  std::string ask(const Texts& set) {
    advance(seconds{60});
    clear();
    tick();
    const std::vector<StartFetch> begun = said<StartFetch>();
    EXPECT_EQ(begun.size(), 1u);
    if (begun.empty()) return "nothing was asked for";
    EXPECT_TRUE(end(begun[0].job, answer_with(set)));
    EXPECT_TRUE(read(begun[0].job, done(PageRead{})));
    return begun[0].cookies;
  }
  static FetchEnded answer_with(const Texts& set) {
    FetchEnded event;
    event.status = 200;
    event.set_cookies = set;
    return event;
  }
  std::optional<storage::SiteCookies> row(const std::string& text = "http://a.test/") {
    return *store_->cookies(key(text).host);
  }
  const SiteJars& jars() const { return parts_->fetches.cookies; }
  // As another peer sends it.
  void receive(const storage::SiteCookies& cookies, const std::string& text = "http://a.test/") {
    std::string record;
    storage::encode_cookies(cookies, record);
    ring::Batch batch;
    batch.sequence = 1;
    batch.kind = ring::BatchKind::transfer;
    batch.records = std::vector<ring::BatchRecord>{{key(text).host.partition, record}};
    ASSERT_TRUE(parts_->batches.take(step(), rig_id(2), batch, {}));
  }
};

TEST_F(SiteJarsTest, AreSentBackToTheirHostAlone) {
  start();
  EXPECT_EQ(visit("http://a.test/1", {"n=v; Path=/"}), "");
  EXPECT_EQ(visit("http://a.test/2"), "n=v");
  EXPECT_EQ(visit("http://b.test/"), "");
}

TEST_F(SiteJarsTest, AreIgnoredUnlessTheSettingSaysOtherwise) {
  settings().cookies = Cookies::off;
  start();
  visit("http://a.test/1", {"n=v"});
  EXPECT_EQ(visit("http://a.test/2"), "");
  EXPECT_FALSE(row());
}

TEST_F(SiteJarsTest, SurviveARestart) {
  start();
  visit("http://a.test/1", {"n=v; Path=/"});
  start();
  EXPECT_EQ(visit("http://a.test/2"), "n=v");
}

TEST_F(SiteJarsTest, CountFromTheNextRequestOnAndAreWrittenWithTheOutcome) {
  start();
  put("http://a.test/1");
  const FetchJob first = begin();
  ASSERT_TRUE(end(first, answer_with({"n=v; Path=/"})));
  EXPECT_FALSE(row());
  EXPECT_EQ(jars().unwritten(), 1u);
  EXPECT_EQ(visit("http://a.test/2"), "n=v") << "the first page is not read yet";
  EXPECT_TRUE(row());
  ASSERT_TRUE(read(first, done(PageRead{})));
  EXPECT_EQ(jars().unwritten(), 0u);
}

TEST_F(SiteJarsTest, OfAFailedRequestAreKeptToo) {
  start();
  put("http://a.test/1");
  FetchEnded answer = answer_with({"n=v; Path=/"});
  answer.status = 403;
  const FetchJob job = begin();
  ASSERT_TRUE(end(job, std::move(answer)));
  ASSERT_TRUE(read(job, done(PageRead{})));
  EXPECT_EQ(visit("http://a.test/2"), "n=v");
}

TEST_F(SiteJarsTest, GoWhenTheyHaveExpired) {
  start();
  visit("http://a.test/1", {"n=v; Path=/; Max-Age=90"});
  EXPECT_EQ(visit("http://a.test/2"), "n=v");
  ASSERT_TRUE(row());
  EXPECT_EQ(visit("http://a.test/3"), "");
  EXPECT_FALSE(row());
}

TEST_F(SiteJarsTest, ThatTheSiteTakesBackLeaveARowForOlderCopies) {
  start();
  visit("http://a.test/1", {"n=v; Path=/"});
  const auto before = row();
  visit("http://a.test/2", {"n=; Path=/; Max-Age=0"});
  ASSERT_TRUE(row());
  EXPECT_EQ(row()->jar, "");
  EXPECT_EQ(storage::merge(*row(), *before), *row());
  EXPECT_EQ(storage::merge(*before, *row()), *row());
  receive(*before);
  EXPECT_EQ(visit("http://a.test/3"), "");
}

TEST_F(SiteJarsTest, AreWrittenOnceAsLongAsTheyStayTheSame) {
  start();
  visit("http://a.test/1", {"n=v; Path=/"});
  const auto before = row();
  visit("http://a.test/2", {"n=v; Path=/"});
  EXPECT_EQ(row(), before);
}

TEST_F(SiteJarsTest, ByDomainTheDomainHasOneJar) {
  settings().partition_by = PartitionBy::domain;
  start();
  visit("http://www.a.test/", {"n=v; Path=/; Domain=a.test", "own=1; Path=/"});
  EXPECT_EQ(visit("http://shop.a.test/"), "n=v");
  EXPECT_EQ(visit("http://www.a.test/2"), "n=v; own=1");
  EXPECT_EQ(visit("http://b.test/"), "");
  EXPECT_EQ(parts_->state.partitioner.home("a.test"), key("http://www.a.test/").host.partition);
}

TEST_F(SiteJarsTest, ComeWithAPartition) {
  start();
  visit("http://a.test/1", {"n=v; Path=/"});
  const auto known = row();
  start_fresh();
  receive(*known);
  EXPECT_EQ(visit("http://a.test/2"), "n=v");
}

TEST_F(SiteJarsTest, OfAnotherPeerThatAreNoneAreRefused) {
  start();
  visit("http://a.test/1", {"n=v; Path=/"});
  storage::SiteCookies bad = *row();
  start_fresh();
  bad.jar = "no jar";
  receive(bad);
  EXPECT_FALSE(row());
  bad = {.site = "a.test", .version = ~std::uint64_t{0}, .expires = CookieJar::never, .jar = ""};
  receive(bad);
  EXPECT_FALSE(row());
  EXPECT_EQ(parts_->batches.counters().malformed, 2u);
}

TEST_F(SiteJarsTest, ARobotsTxtElsewhereIsAskedWithout) {
  settings().robots = true;
  start();
  put("http://a.test/1");
  RobotsRead moved;
  moved.redirect = url("http://b.test/robots.txt");
  FetchJob job = begin();
  FetchEnded answer = answer_with({"n=v; Path=/"});
  answer.status = 302;
  ASSERT_TRUE(end(job, std::move(answer)));
  ASSERT_TRUE(read(job, done(std::move(moved))));
  EXPECT_TRUE(row()) << "it goes with the robots.txt's outcome";
  for (int i = 0; i < 3; ++i) {
    advance(seconds{60});
    clear();
    tick();
    for (const StartFetch& start : said<StartFetch>()) {
      EXPECT_EQ(start.cookies, start.job.url.host() == "a.test" ? "n=v" : "") << start.job.url.text();
      const bool robots = start.job.robots() != nullptr;
      ASSERT_TRUE(end(start.job, answer_with({"other=1; Path=/"})));
      ASSERT_TRUE(read(start.job, robots ? done(robots_page("")) : done(PageRead{})));
    }
  }
  EXPECT_FALSE(row("http://b.test/"));
}

}  // namespace
}  // namespace orbweaver
