// Fetches in flight and the shares of transfers that they take: node/scheduling/job_table.h.
#include "node/scheduling/job_table.h"

#include <set>

#include "tests/unit/fetch_rig.h"

namespace orbweaver {
namespace {

using std::chrono::minutes;

class JobTableTest : public FetchRig {
 protected:
  JobTableTest() {
    settings().max_fetches = 8;  // a domain's share is 1, and 1 is the reserve
    start();
  }
  JobTable& jobs() { return parts_->fetches.jobs; }
  static FetchJob fetch(const std::string& text) { return {.url = url(text), .host = {}, .what = PageFetch{}}; }
  // The host may be asked now: it is acquired.
  BenchHost& take(const std::string& text) {
    put(text);
    const Result<BenchHost*> taken = parts_->records.bench.take(now_);
    EXPECT_TRUE(taken && *taken != nullptr) << text;
    return **taken;
  }
  // Begins `count` transfers of hosts of one domain; returns their jobs.
  std::vector<std::uint64_t> begin_transfers(std::size_t count, const std::string& domain) {
    std::vector<std::uint64_t> ids;
    for (std::size_t i = 0; i < count; ++i) {
      const std::string text = "http://h" + std::to_string(i) + "." + domain + "/";
      BenchHost& host = take(text);
      EXPECT_TRUE(jobs().may_begin(host)) << text;
      ids.push_back(jobs().add(now_, fetch(text)).fetch.id);
      jobs().begin_transfer(ids.back(), host);
    }
    return ids;
  }
};

TEST_F(JobTableTest, EachJobHasAnIdOfItsOwnAndIsFoundByItUntilItIsTaken) {
  EXPECT_TRUE(jobs().empty());
  std::set<std::uint64_t> ids;
  for (const char* text : {"http://a.test/", "http://b.test/", "http://c.test/"}) {
    const Job& job = jobs().add(now_, fetch(text));
    EXPECT_EQ(job.fetch.url.text(), text);
    EXPECT_EQ(job.started, now_);
    ids.insert(job.fetch.id);
  }
  EXPECT_EQ(ids.size(), 3u);
  EXPECT_EQ(jobs().size(), 3u);
  const std::uint64_t id = *ids.begin();
  ASSERT_NE(jobs().find(id), nullptr);
  EXPECT_EQ(jobs().take(id).fetch.id, id);
  EXPECT_EQ(jobs().find(id), nullptr);
  EXPECT_FALSE(ids.contains(jobs().add(now_, fetch("http://d.test/")).fetch.id)) << "none is given twice";
  std::set<std::uint64_t> seen;
  jobs().for_each([&](const Job& job) { seen.insert(job.fetch.id); });
  EXPECT_EQ(seen.size(), 3u);
}

TEST_F(JobTableTest, ItIsFullWithAsManyJobsAsTheSettingAllows) {
  for (int i = 0; i < 7; ++i) jobs().add(now_, fetch("http://a.test/"));
  EXPECT_FALSE(jobs().full());
  const std::uint64_t last = jobs().add(now_, fetch("http://a.test/")).fetch.id;
  EXPECT_TRUE(jobs().full());
  jobs().take(last);
  EXPECT_FALSE(jobs().full());
}

TEST_F(JobTableTest, ADomainAloneUsesAllButTheReserve) {
  begin_transfers(7, "slow.test");
  EXPECT_FALSE(jobs().may_begin(take("http://x.slow.test/")));
  EXPECT_TRUE(jobs().may_begin(take("http://other.test/")));
}

TEST_F(JobTableTest, AJobThatEndsGivesItsTransferBackAndSoDoesOneThatGoesOnWithoutIt) {
  const std::vector<std::uint64_t> ids = begin_transfers(7, "slow.test");
  BenchHost& late = take("http://x.slow.test/");
  jobs().end_transfer(ids[0]);
  EXPECT_NE(jobs().find(ids[0]), nullptr) << "the job goes on";
  EXPECT_TRUE(jobs().may_begin(late));
  jobs().take(ids[0]);
  EXPECT_EQ(jobs().shares().under_way(), 6u) << "it is given back once";
  jobs().take(ids[1]);
  EXPECT_EQ(jobs().shares().under_way(), 5u);
}

TEST_F(JobTableTest, HostsHeldBackGoOnInTheOrderInWhichTheyCame) {
  const std::vector<std::uint64_t> ids = begin_transfers(7, "slow.test");
  const std::string first = "http://x.slow.test/";
  const std::string second = "http://y.slow.test/";
  jobs().hold_back(take(first));
  jobs().hold_back(take(second));
  EXPECT_EQ(jobs().shares().waiting(), 2u);
  EXPECT_FALSE(jobs().any_may_resume());
  jobs().resume_waiting();
  EXPECT_TRUE(host(first).parked) << "there is no room yet";
  jobs().take(ids[0]);
  EXPECT_TRUE(jobs().any_may_resume());
  jobs().resume_waiting();
  EXPECT_FALSE(host(first).parked);
  EXPECT_TRUE(host(second).parked);
  const Result<BenchHost*> next = parts_->records.bench.take(now_);
  ASSERT_TRUE(next && *next != nullptr);
  EXPECT_EQ((*next)->name, "x.slow.test");
}

}  // namespace
}  // namespace orbweaver
