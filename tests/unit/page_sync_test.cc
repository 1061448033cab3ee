// Threads that bring pages to the disk together, over files whose syncs the test holds and counts.
#include "node/process/page_sync.h"

#include <gtest/gtest.h>

#include <condition_variable>
#include <map>
#include <thread>

#include "tests/unit/held_syncs.h"

namespace orbweaver {
namespace {

class HeldFile final : public storage::SyncedFile, public test::HeldSyncs {
 public:
  HeldFile() : HeldSyncs("cannot sync held.warc.gz.open") {}
  storage::Result<void> sync() override { return HeldSyncs::sync(); }
};

class PageSyncTest : public testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(sync_.start()); }
  void TearDown() override {
    for (const auto& file : {file_, other_}) file->allow(10'000);
  }
  void add(std::uint64_t id, std::vector<SyncGroup::File> files) {
    PageDone page;
    page.id = id;
    page.what = PageRead{};
    sync_.add(std::move(page), std::move(files));
  }
  std::size_t counted() {
    const std::lock_guard lock(mutex_);
    return counted_.size();
  }
  void wait_for_pages(std::size_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return counted_.size() >= count; });
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::uint64_t, bool> counted_;  // by page: whether it is written
  std::shared_ptr<HeldFile> file_ = std::make_shared<HeldFile>();
  std::shared_ptr<HeldFile> other_ = std::make_shared<HeldFile>();
  PageSync sync_{[this](PageDone page) {
    const std::lock_guard lock(mutex_);
    counted_[page.id] = !std::holds_alternative<NotWritten>(page.what);
    changed_.notify_all();
  }};
};

TEST_F(PageSyncTest, APageCountsWhenItsSyncIsOver) {
  add(1, {file_});
  file_->wait_for(1);
  EXPECT_EQ(counted(), 0u);
  file_->allow(1);
  wait_for_pages(1);
  EXPECT_EQ(sync_.syncs(), 1u);
}

// A slow disk does not stop them, be there many workers or one.
TEST_F(PageSyncTest, WorkersGoOnAndOneSyncServesThem) {
  add(1, {file_});
  file_->wait_for(1);
  for (std::uint64_t id = 2; id <= 20; ++id) add(id, {other_});  // does not wait
  EXPECT_EQ(counted(), 0u);
  file_->allow(1);
  other_->wait_for(1);
  EXPECT_EQ(counted(), 1u) << "those that were written during the first sync wait for the second";
  other_->allow(1);
  wait_for_pages(20);
  EXPECT_EQ(file_->begun() + other_->begun(), 2);
  EXPECT_EQ(sync_.syncs(), 2u);
  EXPECT_EQ(sync_.pages(), 20u);
}

TEST_F(PageSyncTest, PagesAloneAreNotHeldBack) {
  file_->allow(3);
  for (std::uint64_t id = 1; id <= 3; ++id) {
    add(id, {file_});
    wait_for_pages(id);
  }
  EXPECT_EQ(file_->begun(), 3);
}

TEST_F(PageSyncTest, WhatWroteNothingNeedsNoSync) {
  add(1, {});
  EXPECT_EQ(counted(), 1u);
  EXPECT_EQ(sync_.pages(), 0u);
}

TEST_F(PageSyncTest, AFailedSyncIsAPageThatIsNotWritten) {
  file_->fail_from_now();
  file_->allow(1);
  add(1, {file_});
  wait_for_pages(1);
  EXPECT_EQ(counted_, (std::map<std::uint64_t, bool>{{1, false}}));
  EXPECT_EQ(sync_.syncs(), 0u);
}

TEST_F(PageSyncTest, ManyWorkersLeaveNothingBehind) {
  constexpr std::uint64_t workers = 4, pages = 500;
  file_->allow(static_cast<int>(workers * pages));
  std::vector<std::thread> threads;
  for (std::uint64_t worker = 0; worker < workers; ++worker)
    threads.emplace_back([this, worker] {
      for (std::uint64_t i = 0; i < pages; ++i) add(worker * pages + i, {file_});
    });
  for (std::thread& thread : threads) thread.join();
  sync_.stop();
  EXPECT_EQ(counted(), workers * pages);
  EXPECT_EQ(sync_.pages(), workers * pages);
  EXPECT_LE(sync_.syncs(), workers * pages);
}

}  // namespace
}  // namespace orbweaver
