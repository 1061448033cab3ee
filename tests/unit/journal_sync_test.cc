// What leaves a peer under durability = power, over a store whose syncs the test holds and counts.
#include "node/process/journal_sync.h"

#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <mutex>

#include "node/url/canonical_url.h"
#include "storage/memory_kv.h"
#include "tests/unit/held_syncs.h"

namespace orbweaver {
namespace {

class HeldKv final : public storage::Kv, public test::HeldSyncs {
 public:
  HeldKv() : HeldSyncs("syncing a: the disk is full") {}
  using Batch = storage::KvBatch;
  storage::Result<std::optional<std::string>> get(storage::Table table, std::string_view key) override {
    return kv_.get(table, key);
  }
  storage::Result<void> multi_get(storage::Table table, std::span<const std::string_view> keys,
                                  std::vector<std::optional<std::string>>& values) override {
    return kv_.multi_get(table, keys, values);
  }
  std::unique_ptr<storage::KvCursor> cursor(storage::Table table, std::string_view upper_bound) override {
    return kv_.cursor(table, upper_bound);
  }
  storage::Result<void> write(const Batch& batch) override {
    ++written_;
    return kv_.write(batch);
  }
  std::uint64_t written() const override { return written_; }
  storage::Result<void> sync() override { return HeldSyncs::sync(); }

 private:
  storage::MemoryKv kv_;
  std::atomic<std::uint64_t> written_ = 0;
};

class JournalSyncTest : public testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(journal_.start()); }
  void TearDown() override { kv_.allow(1000); }
  void write() { ASSERT_TRUE(kv_.write({})); }
  static Command message(ring::Body body) {
    SendMessage send{"a:1", {}};
    send.message.body = std::move(body);
    return send;
  }
  static Command fetch(std::uint64_t id) {
    return StartFetch{FetchJob{id, *CanonicalUrl::parse("http://a.test/"), {}, RobotsFetch{}}, {}};
  }
  bool holds(Command command) { return journal_.holds(command); }
  std::size_t taken() {
    const Result<Commands> ready = journal_.take();
    EXPECT_TRUE(ready);
    return ready ? ready->size() : 0;
  }
  void wait_for_wake(int wakes) {
    std::unique_lock lock(mutex_);
    woken_.wait(lock, [&] { return wakes_ >= wakes; });
  }

  HeldKv kv_;
  std::mutex mutex_;
  std::condition_variable woken_;
  int wakes_ = 0;
  JournalSync journal_{kv_, {100'000, 2}, [this] {
                         const std::lock_guard lock(mutex_);
                         ++wakes_;
                         woken_.notify_all();
                       }};
};

TEST_F(JournalSyncTest, WithoutWritesNothingIsHeld) {
  EXPECT_FALSE(holds(message(ring::BatchAck{1})));
  EXPECT_FALSE(holds(fetch(1)));
  EXPECT_EQ(taken(), 0u);
  EXPECT_EQ(kv_.begun(), 0);
}

TEST_F(JournalSyncTest, WhatIsToldOfAWriteLeavesAfterItsSync) {
  write();
  EXPECT_TRUE(holds(message(ring::BatchAck{1})));
  EXPECT_TRUE(holds(ReplyMessage{}));
  EXPECT_FALSE(holds(message(ring::Ping{}))) << "a slow disk must not look like a dead peer";
  EXPECT_FALSE(holds(message(ring::PingAck{})));
  EXPECT_FALSE(holds(message(ring::SlotAnswer{}))) << "it would come when the slot is over";
  EXPECT_FALSE(holds(message(ring::LeaseRequest{})));
  EXPECT_FALSE(holds(LogEntry{}));
  EXPECT_EQ(taken(), 0u);
  kv_.wait_for(1);
  EXPECT_EQ(taken(), 0u);
  kv_.allow(1);
  wait_for_wake(1);
  const Result<Commands> ready = journal_.take();
  ASSERT_TRUE(ready);
  ASSERT_EQ(ready->size(), 2u);
  EXPECT_TRUE(std::holds_alternative<SendMessage>((*ready)[0]));
  EXPECT_TRUE(std::holds_alternative<ReplyMessage>((*ready)[1]));
  EXPECT_EQ(journal_.held_bytes(), 0u);
  EXPECT_FALSE(holds(message(ring::BatchAck{2})));
}

// Those in flight, and those whose outcomes a power cut would take: two here.
TEST_F(JournalSyncTest, NoMoreRequestsCouldBeRepeatedThanMayBeInFlight) {
  EXPECT_FALSE(holds(fetch(1)));
  EXPECT_FALSE(holds(fetch(2)));
  write();
  journal_.note_ended(1);
  EXPECT_TRUE(holds(fetch(3))) << "the outcome of the first is not on the disk";
  EXPECT_TRUE(holds(fetch(4)));
  EXPECT_EQ(taken(), 0u);
  kv_.wait_for(1);
  kv_.allow(1);
  wait_for_wake(1);
  Result<Commands> ready = journal_.take();
  ASSERT_TRUE(ready);
  ASSERT_EQ(ready->size(), 1u);
  EXPECT_EQ(std::get<StartFetch>(ready->front()).job.id, 3u);
  journal_.note_ended(9);  // unknown: nothing was asked for
  EXPECT_EQ(taken(), 0u);
  journal_.note_ended(2);  // nothing was written since the last sync
  ready = journal_.take();
  ASSERT_TRUE(ready);
  ASSERT_EQ(ready->size(), 1u);
  EXPECT_EQ(std::get<StartFetch>(ready->front()).job.id, 4u);
}

TEST_F(JournalSyncTest, AFetchEndsWithItsPageOrWithoutAnAnswer) {
  PageDone page;
  page.id = 7;
  FetchEnded broken;
  broken.id = 8;
  broken.error = FetchError::broken;
  EXPECT_EQ(JournalSync::ended_by(std::move(page)), 7u);
  EXPECT_EQ(JournalSync::ended_by(std::move(broken)), 8u);
  EXPECT_EQ(JournalSync::ended_by(FetchEnded{}), std::nullopt) << "its page follows";
  EXPECT_EQ(JournalSync::ended_by(TickEvent{}), std::nullopt);
}

// Else a later message could overtake an earlier one.
TEST_F(JournalSyncTest, WhileSomethingIsHeldTheRestWaitsBehindIt) {
  write();
  EXPECT_TRUE(holds(message(ring::BatchAck{1})));
  EXPECT_EQ(taken(), 0u);
  kv_.wait_for(1);
  kv_.allow(1);
  wait_for_wake(1);
  EXPECT_TRUE(holds(message(ring::BatchAck{2}))) << "the first has not left yet";
  EXPECT_EQ(taken(), 2u);
}

TEST_F(JournalSyncTest, OneSyncIsForAllWritesMeanwhile) {
  write();
  EXPECT_TRUE(holds(message(ring::BatchAck{1})));
  EXPECT_EQ(taken(), 0u);
  kv_.wait_for(1);
  for (std::uint64_t number = 2; number <= 50; ++number) {
    write();
    EXPECT_TRUE(holds(message(ring::BatchAck{number})));
    EXPECT_EQ(taken(), 0u);
  }
  kv_.allow(1);
  wait_for_wake(1);
  EXPECT_EQ(taken(), 1u) << "the sync had begun before the others were written";
  kv_.wait_for(2);
  kv_.allow(1);
  wait_for_wake(2);
  EXPECT_EQ(taken(), 49u);
  EXPECT_EQ(kv_.begun(), 2);
}

// A peer that says nothing has its pages synced too.
TEST_F(JournalSyncTest, WritesAreSyncedThoughNothingWaitsForThem) {
  write();
  EXPECT_EQ(taken(), 0u);
  kv_.wait_for(1);
}

TEST_F(JournalSyncTest, AfterAFailedSyncNothingLeaves) {
  write();
  EXPECT_TRUE(holds(message(ring::BatchAck{1})));
  EXPECT_EQ(taken(), 0u);
  kv_.wait_for(1);
  kv_.fail_from_now();
  kv_.allow(1);
  wait_for_wake(1);
  const Result<Commands> ready = journal_.take();
  ASSERT_FALSE(ready);
  EXPECT_EQ(ready.error().code, ErrorCode::disk_full);
  EXPECT_TRUE(holds(message(ring::BatchAck{2})));
  kv_.allow(1);
  EXPECT_FALSE(journal_.finish());
}

TEST_F(JournalSyncTest, AFailureOfTheLoopsOwnSyncIsKept) {
  write();
  EXPECT_TRUE(holds(message(ring::BatchAck{1})));
  kv_.fail_from_now();
  kv_.allow(10);
  EXPECT_FALSE(journal_.finish());
  EXPECT_FALSE(journal_.finish());
  EXPECT_FALSE(journal_.take());
}

TEST_F(JournalSyncTest, AboveItsBoundTheLoopWaitsForTheDisk) {
  ring::Sync large;
  large.seeds.assign(100, std::string(2'000, 's'));
  write();
  EXPECT_TRUE(holds(message(large)));
  kv_.allow(2);
  EXPECT_EQ(taken(), 1u);
  EXPECT_GE(kv_.begun(), 1);
}

TEST_F(JournalSyncTest, TheEndGivesAll) {
  write();
  EXPECT_TRUE(holds(message(ring::BatchAck{1})));
  write();
  EXPECT_TRUE(holds(message(ring::BatchAck{2})));
  kv_.allow(3);
  const Result<Commands> rest = journal_.finish();
  ASSERT_TRUE(rest);
  EXPECT_EQ(rest->size(), 2u);
}

}  // namespace
}  // namespace orbweaver
