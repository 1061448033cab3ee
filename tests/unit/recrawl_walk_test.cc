// Recrawls: which pages are visited again, how a walk continues, a sitemap's date (docs/how-to/recrawl.md).
#include "node/links/recrawl_walk.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "node/crawl/meta_names.h"
#include "tests/unit/crawl_keys.h"
#include "tests/unit/peer_rig.h"

namespace orbweaver {
namespace {

using nlohmann::json;
using std::chrono::seconds;
using storage::Reason;
using storage::UrlRecord;
using storage::UrlState;

UrlRecord ended(UrlState state, Reason reason = Reason::none) {
  UrlRecord record;
  record.state = state;
  record.reason = reason;
  record.depth = 3;
  record.steps = 1;
  record.attempts = 4;
  record.status = 200;
  record.visit = 7;
  record.url = "http://a.test/";
  record.validator = "e1";
  record.since = Time{seconds{100}};
  return record;
}

TEST(VisitedAgain, KeepsWhereThePageWasFoundAndForgetsHowItEnded) {
  const auto again = visited_again(ended(UrlState::fetched));
  ASSERT_TRUE(again);
  EXPECT_EQ(again->state, UrlState::queued);
  EXPECT_EQ(again->visit, 8);
  EXPECT_EQ(again->depth, 3);
  EXPECT_EQ(again->steps, 1);
  EXPECT_EQ(again->validator, "e1");
  EXPECT_EQ(again->attempts, 0);
  EXPECT_EQ(again->status, 0);
  EXPECT_EQ(again->since, Time{});
  EXPECT_EQ(again->not_before, Time{});
}

TEST(VisitedAgain, IsWhatEndedAndWhatRobotsOrThePortKeptOut) {
  EXPECT_TRUE(visited_again(ended(UrlState::failed, Reason::broken)));
  EXPECT_TRUE(visited_again(ended(UrlState::excluded, Reason::robots)));
  EXPECT_TRUE(visited_again(ended(UrlState::excluded, Reason::robots_unreachable)));
  EXPECT_TRUE(visited_again(ended(UrlState::excluded, Reason::bad_port)));
  EXPECT_FALSE(visited_again(ended(UrlState::queued)));
  EXPECT_FALSE(visited_again(ended(UrlState::excluded, Reason::trap)));
  EXPECT_FALSE(visited_again(ended(UrlState::excluded, Reason::budget)));
  EXPECT_FALSE(visited_again(ended(UrlState::excluded, Reason::depth)));
}

TEST(VisitedAgain, AUserMayHaveWhatIsExcludedJudgedAgainButForTrapsAndDepth) {
  EXPECT_TRUE(visited_again(ended(UrlState::excluded, Reason::budget), true));
  EXPECT_TRUE(visited_again(ended(UrlState::excluded, Reason::content_type), true));
  EXPECT_FALSE(visited_again(ended(UrlState::excluded, Reason::trap), true));
  EXPECT_FALSE(visited_again(ended(UrlState::excluded, Reason::depth), true));
  EXPECT_FALSE(visited_again(ended(UrlState::queued), true));
}

TEST(VisitedAgain, StopsAtTheLastNumber) {
  UrlRecord record = ended(UrlState::fetched);
  record.visit = 0xffff;
  EXPECT_FALSE(visited_again(record));
}

class RecrawlWalkTest : public testing::Test {
 protected:
  RecrawlWalkTest() { start(); }
  void start() {
    walk_.emplace(store_, canonicaliser_, partitioner_, stepped_, rig_.writer);
    const auto row = store_.meta(meta_name::recrawl);
    if (row && *row && !(*row)->empty()) {
      ASSERT_TRUE(walk_->restore(**row));
    }
  }
  void fetched(std::size_t host, std::size_t page, Time at) {
    storage::Merge merge = test::queued_merge(host, page);
    merge.record.state = UrlState::fetched;
    merge.record.since = at;
    ASSERT_TRUE(store_.commit(test::commit_of({.merges = {merge}})));
  }
  void begin(const json& reported) {
    Result<RecrawlWalk::Wanted> wanted = RecrawlWalk::read(reported, stepped_);
    ASSERT_TRUE(wanted);
    storage::Commit commit;
    walk_->begin(std::move(*wanted), commit);
    ASSERT_TRUE(store_.commit(commit));
  }
  int walk_to_end() {
    int steps = 0;
    for (; walk_->under_way() && steps < 100; ++steps) EXPECT_TRUE(walk_->walk_on({stepped_, out_}));
    return steps;
  }
  std::size_t queued() {
    std::size_t count = 0;
    for (const auto& [key, record] : test::records_of(store_)) count += record.state == UrlState::queued ? 1 : 0;
    return count;
  }

  PeerRig rig_;
  const Canonicaliser& canonicaliser_ = rig_.state.canonicaliser;
  Partitioner& partitioner_ = rig_.state.partitioner;
  storage::Store& store_ = rig_.store;
  Time stepped_{seconds{1'000'000}};
  std::optional<RecrawlWalk> walk_;
  Commands out_;
};

TEST_F(RecrawlWalkTest, QueuesWhatEndedBeforeTheMomentOnce) {
  fetched(1, 1, stepped_ - seconds{10});
  fetched(1, 2, stepped_ - seconds{2});
  const auto before = (stepped_ - seconds{5}).time_since_epoch().count();
  begin({{"before_us", before}});
  EXPECT_EQ(walk_to_end(), 1);
  EXPECT_EQ(queued(), 1u);
  EXPECT_EQ((*store_.find(test::url_key_of(1, 1)))->visit, 1);
  EXPECT_EQ(**store_.meta(meta_name::recrawl), "");
}

TEST_F(RecrawlWalkTest, HostAndPatternNarrowIt) {
  for (std::size_t page = 1; page <= 4; ++page)
    for (std::size_t host = 1; host <= 2; ++host) fetched(host, page, Time{});
  begin({{"host", test::host_text(2)}, {"match", "/[12]$"}});
  walk_to_end();
  EXPECT_EQ(queued(), 2u);
  EXPECT_EQ((*store_.find(test::url_key_of(2, 1)))->state, UrlState::queued);
}

TEST_F(RecrawlWalkTest, AWordThatCannotBeReadIsAnError) {
  EXPECT_FALSE(RecrawlWalk::read({{"match", "("}}, stepped_));
  EXPECT_FALSE(RecrawlWalk::read({{"host", 7}}, stepped_));
  EXPECT_FALSE(RecrawlWalk::read({{"before_us", "x"}}, stepped_));
  EXPECT_FALSE(walk_->restore("[]"));
  EXPECT_FALSE(walk_->under_way());
}

TEST_F(RecrawlWalkTest, ManyRecordsTakeSeveralStepsAndARestartGoesOnWhereItWas) {
  constexpr std::size_t pages = 5000;
  for (std::size_t page = 0; page < pages; ++page) fetched(page % 7, page, Time{});
  begin({{"before_us", stepped_.time_since_epoch().count()}});
  EXPECT_TRUE(walk_->walk_on({stepped_, out_}));
  EXPECT_EQ(queued(), 2048u);
  start();
  EXPECT_EQ(walk_to_end(), 2);
  EXPECT_EQ(queued(), pages);
  const auto* note = std::get_if<LogEntry>(&out_.back());
  ASSERT_NE(note, nullptr);
  EXPECT_EQ(note->fields.front().second, std::to_string(pages));
}

// Seed 18092: an order took the place of one that had not begun here. The copies at peers that had carried that one out
// had a visit that the holder never made.
TEST_F(RecrawlWalkTest, AnOrderWaitsForThoseBeforeItAlsoOverARestart) {
  for (std::size_t host = 1; host <= 3; ++host) fetched(host, 1, Time{});
  const auto moment = [&](int number) { return stepped_ - seconds{10 - number}; };
  for (int host = 1; host <= 3; ++host)
    begin({{"before_us", moment(host).time_since_epoch().count()},
           {"host", test::host_text(static_cast<std::size_t>(host))}});
  start();
  EXPECT_TRUE(walk_->under_way());
  EXPECT_TRUE(walk_->awaits(0)) << "the last has not begun";
  EXPECT_EQ(walk_to_end(), 3);
  EXPECT_EQ(queued(), 3u);
  EXPECT_EQ(**store_.meta(meta_name::recrawl), "");
}

TEST_F(RecrawlWalkTest, OrdersThatWaitAreBounded) {
  int orders = 0;
  for (; !walk_->full() && orders < 1'000; ++orders)
    begin({{"before_us", (stepped_ + seconds{orders}).time_since_epoch().count()}});
  EXPECT_LT(orders, 1'000);
  walk_to_end();
  EXPECT_FALSE(walk_->full());
}

TEST_F(RecrawlWalkTest, APartitionIsAwaitedUntilTheWalkHasPassedIt) {
  EXPECT_FALSE(walk_->awaits(0));
  for (std::size_t page = 0; page < 3000; ++page) fetched(page % 40, page, Time{});
  begin({{"before_us", stepped_.time_since_epoch().count()}});
  EXPECT_TRUE(walk_->awaits(0));
  EXPECT_TRUE(walk_->walk_on({stepped_, out_}));
  EXPECT_FALSE(walk_->awaits(0));
  EXPECT_TRUE(walk_->awaits(test::few_partitions - 1));
  walk_to_end();
  EXPECT_FALSE(walk_->awaits(test::few_partitions - 1));
}

TEST_F(RecrawlWalkTest, AWriteThatFailsLeavesTheWalkWhereItWas) {
  fetched(1, 1, Time{});
  begin({{"before_us", stepped_.time_since_epoch().count()}});
  rig_.kv.fail_after(0, storage::ErrorKind::io);
  EXPECT_FALSE(walk_->walk_on({stepped_, out_}));
  rig_.kv.heal();
  EXPECT_TRUE(walk_->under_way());
  walk_to_end();
  EXPECT_EQ(queued(), 1u);
}

TEST_F(RecrawlWalkTest, ASitemapsDateQueuesAPageThatIsOlderAndNoFurtherThanTheSitemap) {
  fetched(1, 1, Time{seconds{100}});
  const storage::UrlKey key = test::url_key_of(1, 1);
  const auto link = [](Time lastmod, std::uint16_t visit) {
    UrlRecord record = test::queued_record(1, 1, 2);
    record.lastmod = lastmod;
    record.sitemap_visit = visit;
    return record;
  };
  const auto visit_of = [&](UrlRecord record) {
    walk_->visit_if_newer(key, record);
    EXPECT_EQ(record.sitemap_visit, 0) << "it was the link's";
    return record.visit;
  };
  EXPECT_EQ(visit_of(link(Time{seconds{101}}, 1)), 1);
  EXPECT_EQ(visit_of(link(Time{seconds{100}}, 1)), 0) << "not newer";
  EXPECT_EQ(visit_of(link(Time{seconds{101}}, 0)), 0) << "the sitemap's first visit";
  EXPECT_EQ(visit_of(link(stepped_ + seconds{1}, 1)), 0) << "a date that is to come";
  EXPECT_EQ(visit_of(link(Time{}, 1)), 0) << "no date";
}

TEST_F(RecrawlWalkTest, AnOrderForWhatFailedLeavesTheRest) {
  for (std::size_t page = 1; page <= 4; ++page) fetched(1, page, Time{seconds{5}});
  storage::Merge merge = test::queued_merge(1, 9);
  merge.record.state = UrlState::failed;
  merge.record.reason = Reason::timeout;
  merge.record.since = Time{seconds{5}};
  ASSERT_TRUE(store_.commit(test::commit_of({.merges = {merge}})));
  begin({{"states", {"failed"}}});
  start();  // the filter is on the disk
  walk_to_end();
  EXPECT_EQ(queued(), 1u);
  EXPECT_EQ((*store_.find(merge.key))->state, UrlState::queued);
}

TEST_F(RecrawlWalkTest, AnOrderForAPeerThatDoesNotRunWaitsBehindTheOthers) {
  const Result<RecrawlWalk::Wanted> first = RecrawlWalk::read({{"host", "a.test"}}, Time{seconds{5}});
  const Result<RecrawlWalk::Wanted> second = RecrawlWalk::read({{"states", {"failed"}}}, Time{seconds{6}});
  ASSERT_TRUE(first && second);
  const Result<std::string> row = RecrawlWalk::row_with("", *first);
  ASSERT_TRUE(row);
  EXPECT_EQ(*row, RecrawlWalk::row_of(*first));
  const Result<std::string> both = RecrawlWalk::row_with(*row, *second);
  ASSERT_TRUE(both);
  EXPECT_EQ(json::parse(*both)["next"], json::array({{{"before_us", 6'000'000}, {"states", {"failed"}}}}));
  EXPECT_FALSE(RecrawlWalk::row_with("no JSON", *first));
  std::string full;
  for (int i = 0; i < 64; ++i) full = *RecrawlWalk::row_with(full, *first);
  EXPECT_FALSE(RecrawlWalk::row_with(full, *first));
}

}  // namespace
}  // namespace orbweaver
