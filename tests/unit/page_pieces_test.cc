// A page with many links is committed in pieces, its outcome last; a page that kills the crawler is not tried a third
// time. A real Peer on a store in memory.
#include <gtest/gtest.h>

#include "node/config/settings_table.h"
#include "node/config/sources/load_settings.h"
#include "node/crawl/partitioner.h"
#include "node/peer/core.h"
#include "storage/memory_kv.h"

namespace orbweaver {
namespace {

constexpr std::size_t links_a_step = 1000;  // same as links_a_commit in node/scheduling/fetch_outcomes.cc
const char* const seed = "http://a.test/";

class PagePieces : public testing::Test {
 protected:
  PagePieces() : store_(*storage::Store::open(kv_)) {}

  // Starts a peer on the present store, as after a crash of the previous one.
  void start(std::vector<storage::UrlKey> at_work = {}) {
    PeerStart start;
    start.settings =
        load_settings(
            "", {{"robots", "no"}, {"delay", "0s"}, {"address_delay", "0s"}, {"scope", "host"}, {"replicas", "1"}})
            .value();
    start.address = "127.0.0.1:7700";
    start.fresh_id.bytes.fill(1);
    start.fresh_ring.bytes.fill(2);
    start.seeds = {seed};
    start.at_work = std::move(at_work);
    auto opened = Core::open(std::move(start), store_, now_);
    ASSERT_TRUE(opened) << opened.error().message;
    peer_ = std::move(*opened);
    started_.reset();
  }
  void step(Event event = TickEvent{}) {
    Commands commands;
    now_ += std::chrono::milliseconds{1};
    peer_->step(now_, std::move(event), commands);
    std::optional<HostResolved> resolved;
    for (Command& command : commands) {
      if (auto* resolve = std::get_if<ResolveHost>(&command))
        resolved = HostResolved{.host = resolve->host, .address = std::string("\x7f\0\0\1", 4)};
      if (auto* fetch = std::get_if<StartFetch>(&command); fetch != nullptr && !started_) started_ = fetch->job;
    }
    if (resolved) step(std::move(*resolved));
  }
  // Steps until the seed's page is requested; returns its job.
  std::optional<FetchJob> asked_for() {
    for (int i = 0; i < 100 && !started_; ++i) step();
    return started_;
  }
  PageDone page_with(std::uint64_t id, std::size_t links) {
    LinkList list;
    for (std::size_t i = 0; i < links; ++i) list.links.push_back(CanonicalUrl::parse(seed + std::to_string(i)).value());
    PageRead read;
    read.listed = std::move(list);
    PageDone page;
    page.id = id;
    page.what = std::move(read);
    return page;
  }
  void answer(const FetchJob& job, PageDone page) {
    FetchEnded ended;
    ended.id = job.id;
    ended.status = 200;
    ended.ended = now_;
    step(std::move(ended));
    step(std::move(page));
  }
  storage::UrlKey seed_key() {
    const CanonicalUrl url = CanonicalUrl::parse(seed).value();
    return {Partitioner(peer_->settings().partition_by, peer_->settings().partitions).host_key(url), url.digest()};
  }
  storage::UrlRecord seed_record() { return store_.find(seed_key()).value().value(); }

  storage::MemoryKv kv_;
  storage::Store store_;
  std::unique_ptr<Core> peer_;
  std::optional<FetchJob> started_;
  Time now_{std::chrono::hours{1000}};
};

TEST_F(PagePieces, ManyLinksTakeManyStepsAndThePageCountsLast) {
  start();
  const auto job = asked_for();
  ASSERT_TRUE(job);
  const std::size_t links = 10 * links_a_step + 1;
  answer(*job, page_with(job->id, links));
  std::uint64_t before = store_.counts().discovered();
  EXPECT_LE(before, 1 + links_a_step);
  int steps = 0;
  while (seed_record().state != storage::UrlState::fetched && ++steps < 100) {
    EXPECT_EQ(peer_->next_deadline(now_), now_) << "there is more to do";
    step();
    EXPECT_LE(store_.counts().discovered() - before, links_a_step);
    before = store_.counts().discovered();
  }
  EXPECT_GE(steps, 9);
  EXPECT_EQ(store_.counts().discovered(), 1 + links);
  EXPECT_EQ(store_.counts().fetched, 1u);
}

TEST_F(PagePieces, WhatHasComeIsHandledBeforeTheNextPiece) {
  start();
  const auto job = asked_for();
  ASSERT_TRUE(job);
  answer(*job, page_with(job->id, 5 * links_a_step));
  const std::uint64_t before = store_.counts().discovered();
  for (int i = 0; i < 10; ++i) step(HostResolved{});
  EXPECT_EQ(store_.counts().discovered(), before);
  step();
  EXPECT_EQ(store_.counts().discovered(), before + links_a_step);
}

TEST_F(PagePieces, ACrashBetweenPiecesLosesNothing) {
  start();
  auto job = asked_for();
  ASSERT_TRUE(job);
  answer(*job, page_with(job->id, 5 * links_a_step));
  step();
  EXPECT_EQ(seed_record().state, storage::UrlState::queued);
  EXPECT_GT(store_.counts().discovered(), links_a_step);
  start();
  now_ += std::chrono::seconds{60};
  job = asked_for();
  ASSERT_TRUE(job);
  ASSERT_EQ(job->url.text(), seed);
  answer(*job, page_with(job->id, 5 * links_a_step));
  for (int i = 0; i < 10; ++i) step();
  EXPECT_EQ(seed_record().state, storage::UrlState::fetched);
  EXPECT_EQ(store_.counts().discovered(), 1 + 5 * links_a_step);
}

TEST_F(PagePieces, AStopWaitsForTheRestOfAPage) {
  start();
  const auto job = asked_for();
  ASSERT_TRUE(job);
  answer(*job, page_with(job->id, 5 * links_a_step));
  Commands commands;
  peer_->step(now_, StopEvent{}, commands);
  for (int i = 0; i < 10; ++i) step();
  EXPECT_EQ(seed_record().state, storage::UrlState::fetched);
}

TEST_F(PagePieces, WhatIsLeftOutForTheBudgetIsToldOfThePage) {
  start();
  const auto job = asked_for();
  ASSERT_TRUE(job);
  PageDone page = page_with(job->id, 3);
  std::get<PageRead>(page.what).links_over_budget = 99;
  answer(*job, std::move(page));
  EXPECT_EQ(seed_record().state, storage::UrlState::fetched);
  EXPECT_EQ(seed_record().reason, storage::Reason::links_over_budget);
}

TEST_F(PagePieces, APageAtWorkAtTwoCrashesIsFailedAndNotTriedAThirdTime) {
  start();
  ASSERT_TRUE(asked_for());
  start({seed_key()});
  now_ += std::chrono::seconds{60};
  ASSERT_TRUE(asked_for()) << "once is no proof";
  start({seed_key()});
  now_ += std::chrono::seconds{60};
  EXPECT_FALSE(asked_for());
  EXPECT_EQ(seed_record().state, storage::UrlState::failed);
  EXPECT_EQ(seed_record().reason, storage::Reason::crashes_crawler);
}

TEST_F(PagePieces, AnEndInBetweenClearsIt) {
  start();
  ASSERT_TRUE(asked_for());
  start({seed_key()});
  now_ += std::chrono::seconds{60};
  auto job = asked_for();
  ASSERT_TRUE(job);
  answer(*job, page_with(job->id, 1));
  EXPECT_EQ(seed_record().state, storage::UrlState::fetched);
  start({seed_key()});
  now_ += std::chrono::seconds{60};
  job = asked_for();
  ASSERT_TRUE(job);
  EXPECT_NE(job->url.text(), seed);
  EXPECT_EQ(seed_record().state, storage::UrlState::fetched);
}

}  // namespace
}  // namespace orbweaver
