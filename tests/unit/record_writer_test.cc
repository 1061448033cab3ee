// A change of the store and what follows from it in memory: the frontier, the outbox, the copies.
#include "node/replication/record_writer.h"

#include <gtest/gtest.h>

#include "tests/unit/peer_rig.h"

namespace orbweaver {
namespace {

class RecordWriterTest : public testing::Test {
 protected:
  explicit RecordWriterTest(Settings settings = rig_settings()) : rig_(std::move(settings)) {
    rig_.enter();
    storage::Commit commit;
    rig_.replication.partition_manager.learn(rig_.replication.partition_manager.make_ring(), commit);
  }
  storage::Commit page(const std::string& text, storage::UrlState state = storage::UrlState::queued) {
    const CanonicalUrl url = *CanonicalUrl::parse(text);
    storage::UrlRecord record;
    record.url = url.text();
    record.state = state;
    storage::Commit commit;
    commit.merges.push_back({{rig_.state.partitioner.host_key(url), url.digest()}, record});
    return commit;
  }

  PeerRig rig_;
};

class RecordWriterWithReplicas : public RecordWriterTest {
 protected:
  static Settings two_copies() {
    Settings settings = rig_settings();
    settings.replicas = 2;
    return settings;
  }
  RecordWriterWithReplicas() : RecordWriterTest(two_copies()) {
    rig_.add_member(2, ring::MemberState::active);
    rig_.members.accept_changes(rig_.now);
  }
};

TEST_F(RecordWriterTest, WhatIsQueuedIsInTheFrontier) {
  ASSERT_TRUE(rig_.writer.commit(rig_.step(), page("http://a.test/")));
  EXPECT_EQ(rig_.bench.hosts(), 1u);
  EXPECT_FALSE(rig_.writer.memory_follows());
}

TEST_F(RecordWriterTest, WhenTheStoreFailsNothingFollows) {
  rig_.kv.fail_after(0, storage::ErrorKind::io);
  const auto done = rig_.writer.commit(rig_.step(), page("http://a.test/"));
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, ErrorCode::io);
  EXPECT_EQ(rig_.bench.hosts(), 0u);
  EXPECT_FALSE(rig_.writer.memory_follows());
}

TEST_F(RecordWriterWithReplicas, AQueuedRecordIsCopiedAtOnceAndAnOutcomeAfterWhatItBrought) {
  storage::Commit fetched = page("http://a.test/", storage::UrlState::fetched);
  const storage::UrlKey key = fetched.merges[0].key;
  ASSERT_TRUE(rig_.writer.commit(rig_.step(), page("http://a.test/")));
  EXPECT_EQ(rig_.replication.replicator.issued(), 1u);
  ASSERT_TRUE(rig_.writer.commit(rig_.step(), fetched, &key));
  EXPECT_TRUE(rig_.replication.replicator.waits(key)) << "the record before it has no copy yet";
  EXPECT_FALSE(rig_.replication.all_copied());
}

TEST_F(RecordWriterWithReplicas, ALongWaitIsCopiedAndAShortOneIsNot) {
  const storage::HostKey host = page("http://a.test/").merges[0].key.host;
  storage::Commit soon;
  soon.clocks.emplace_back(host, storage::HostClock{rig_.now, 0, "a.test", {}, 0, 0});
  ASSERT_TRUE(rig_.writer.commit(rig_.step(), soon));
  EXPECT_EQ(rig_.replication.replicator.issued(), 0u);
  storage::Commit late;
  late.clocks.emplace_back(host, storage::HostClock{rig_.now + std::chrono::hours{1}, 0, "a.test", {}, 0, 0});
  ASSERT_TRUE(rig_.writer.commit(rig_.step(), late));
  EXPECT_EQ(rig_.replication.replicator.issued(), 1u);
}

}  // namespace
}  // namespace orbweaver
