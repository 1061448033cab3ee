// The drainer: records of partitions that others own now, handed over one batch at a time; and random weather in which
// nothing may be lost.
#include "node/crawl/drainer.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

#include "ring/codec.h"
#include "storage/memory_kv.h"
#include "tests/unit/crawl_keys.h"

namespace orbweaver {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using storage::UrlKey;
using storage::UrlRecord;
using test::below;
using test::peer_id;
using test::view_of;

class DrainerTest : public testing::Test {
 protected:
  DrainerTest() : store_(*storage::Store::open(kv_)) {}
  void start(std::size_t batch_records = 10) { drainer_.emplace(store_, batch_records, seconds(5)); }

  void put(std::size_t host, std::size_t pages) {
    test::CommitParts parts;
    for (std::size_t page = 0; page < pages; ++page) {
      storage::Merge merge = test::queued_merge(host, page, 3);
      if (page % 3 == 0) merge.record.state = storage::UrlState::fetched;
      parts.merges.push_back(merge);
      put_[merge.key] = merge.record;
    }
    ASSERT_TRUE(store_.commit(test::commit_of(parts)));
  }
  void put_clock(std::size_t host, std::int64_t next_ms) {
    test::CommitParts parts;
    parts.clocks = {{test::host_key_of(host), {test::at_ms(next_ms), 2, test::host_text(host)}}};
    ASSERT_TRUE(store_.commit(test::commit_of(parts)));
  }
  std::optional<Forwarder::Out> tick() {
    auto out = drainer_->tick(
        now_, view_, [this](ring::Partition partition) { return busy_.contains(partition); },
        [this] { return next_sequence_++; });
    EXPECT_TRUE(out);
    const auto deadline = drainer_->next_deadline();
    EXPECT_TRUE(!deadline || *deadline > now_ || (out && *out)) << "a deadline that has passed makes the loop spin";
    return out ? *out : std::nullopt;
  }
  std::optional<Forwarder::Out> tick_after(Duration wait) {
    now_ += wait;
    return tick();
  }
  void receive(const Forwarder::Out& out) {
    for (const ring::BatchRecord& entry : out.batch.records) {
      EXPECT_EQ(view_.owner(entry.partition), out.to);
      if (storage::is_clock(entry.record)) {
        const auto clock = storage::decode_clock(entry.record);
        ASSERT_TRUE(clock);
        clocks_[clock->host] = *clock;
        continue;
      }
      const auto record = storage::decode_record(entry.record);
      ASSERT_TRUE(record);
      const auto [at, first] = received_.emplace(record->url, *record);
      if (!first) at->second = storage::merge(at->second, *record);
    }
  }
  std::size_t acknowledge(const Forwarder::Out& out) {
    test::CommitParts parts;
    parts.forget = drainer_->acknowledged(out.to, out.batch.sequence);
    EXPECT_TRUE(store_.commit(test::commit_of(parts)));
    return parts.forget.size();
  }
  std::map<std::string, UrlRecord> foreign() const {
    std::map<std::string, UrlRecord> records;
    for (const auto& [key, record] : put_)
      if (!view_.owns(key.host.partition)) records[record.url] = record;
    return records;
  }

  storage::MemoryKv kv_;
  storage::Store store_;
  std::optional<Drainer> drainer_;
  View view_ = view_of(0, {0, 1, 2});
  Time now_ = test::at_ms(1'000'000);
  std::uint64_t next_sequence_ = 1'000;
  std::set<ring::Partition> busy_;
  std::map<UrlKey, UrlRecord> put_;
  std::map<std::string, UrlRecord> received_;
  std::map<std::string, storage::HostClock> clocks_;
};

TEST_F(DrainerTest, Design5_EverythingOfOthersGoesToThemAndOnlyThat) {
  for (std::size_t host = 0; host < 30; ++host) put(host, 7);
  start();
  ASSERT_TRUE(drainer_->owners_changed(view_));
  EXPECT_FALSE(drainer_->idle());
  std::uint64_t last_sequence = 0;
  for (int i = 0; i < 1'000 && !drainer_->idle(); ++i) {
    const auto out = tick_after(milliseconds(1));
    if (!out) continue;
    EXPECT_GT(out->batch.sequence, last_sequence);
    last_sequence = out->batch.sequence;
    EXPECT_EQ(out->batch.ring_fingerprint, view_.ring().fingerprint());
    receive(*out);
    EXPECT_FALSE(tick()) << "one batch at a time";
    EXPECT_GT(acknowledge(*out), 0u);
  }
  EXPECT_TRUE(drainer_->idle());
  EXPECT_EQ(received_, foreign());
  EXPECT_EQ(store_.counts().discovered(), put_.size() - received_.size());
  const auto left = store_.partitions();
  ASSERT_TRUE(left);
  for (const auto partition : *left) EXPECT_TRUE(view_.owns(partition));
  EXPECT_FALSE(drainer_->next_deadline());
  EXPECT_FALSE(tick_after(seconds(60)));
}

TEST_F(DrainerTest, DrainerH_NothingToHandOverIsIdle) {
  start();
  ASSERT_TRUE(drainer_->owners_changed(view_));
  EXPECT_TRUE(drainer_->idle());
  EXPECT_FALSE(tick());
  put(1, 5);
  view_ = view_of(0, {0});
  ASSERT_TRUE(drainer_->owners_changed(view_));
  EXPECT_TRUE(drainer_->idle());
  view_ = view_of(0, {});
  ASSERT_TRUE(drainer_->owners_changed(view_)) << "nobody to hand over to";
  EXPECT_TRUE(drainer_->idle());
  EXPECT_FALSE(tick());
}

TEST_F(DrainerTest, Contract3_AHostsClockGoesBeforeItsUrls) {
  view_ = view_of(0, {1});
  put(1, 25);
  put_clock(1, 9'999'999);
  start();
  ASSERT_TRUE(drainer_->owners_changed(view_));
  std::size_t batches = 0;
  while (const auto out = tick_after(milliseconds(1))) {
    ASSERT_TRUE(storage::is_clock(out->batch.records.front().record)) << "in each batch that has URLs of it";
    ++batches;
    receive(*out);
    acknowledge(*out);
  }
  EXPECT_EQ(batches, 3u);
  EXPECT_EQ(clocks_.at("h1.test").next_allowed, test::at_ms(9'999'999));
  EXPECT_EQ(received_.size(), 25u);
}

TEST_F(DrainerTest, DrainerH_APartitionWithFetchesUnderWayWaits) {
  view_ = view_of(0, {1});
  put(1, 3);
  put(2, 3);
  const auto partition = test::host_key_of(1).partition;
  ASSERT_NE(partition, test::host_key_of(2).partition);
  busy_ = {partition};
  start();
  ASSERT_TRUE(drainer_->owners_changed(view_));
  for (int i = 0; i < 200; ++i)
    if (const auto out = tick_after(milliseconds(20))) {
      receive(*out);
      acknowledge(*out);
    }
  EXPECT_EQ(received_.size(), 3u) << "the other one does not wait for it";
  EXPECT_EQ(drainer_->partitions_left(), 1u);
  EXPECT_FALSE(drainer_->idle());
  busy_.clear();
  for (int i = 0; i < 200 && !drainer_->idle(); ++i)
    if (const auto out = tick_after(milliseconds(20))) {
      receive(*out);
      acknowledge(*out);
    }
  EXPECT_EQ(received_.size(), 6u);
  EXPECT_TRUE(drainer_->idle());
}

TEST_F(DrainerTest, DrainerH_WithoutAnswerTheSameBatchGoesOutAgain) {
  view_ = view_of(0, {1});
  put(1, 25);
  start();
  ASSERT_TRUE(drainer_->owners_changed(view_));
  const auto first = tick();
  ASSERT_TRUE(first);
  EXPECT_FALSE(tick_after(milliseconds(4'999)));
  const auto again = tick_after(milliseconds(1));
  ASSERT_TRUE(again);
  EXPECT_EQ(again->batch.sequence, first->batch.sequence);
  EXPECT_EQ(again->batch.records.size(), first->batch.records.size());
  EXPECT_EQ(store_.counts().discovered(), 25u) << "nothing is deleted before it is acknowledged";
}

TEST_F(DrainerTest, BadInput_AnswersOfOthersAndOfOtherBatchesFindNothing) {
  view_ = view_of(0, {1});
  put(1, 5);
  start();
  ASSERT_TRUE(drainer_->owners_changed(view_));
  EXPECT_TRUE(drainer_->acknowledged(peer_id(1), 1'000).empty()) << "before any was sent";
  const auto out = tick();
  ASSERT_TRUE(out);
  EXPECT_TRUE(drainer_->acknowledged(peer_id(2), out->batch.sequence).empty());
  EXPECT_TRUE(drainer_->acknowledged(peer_id(1), out->batch.sequence + 1).empty());
  EXPECT_FALSE(drainer_->refused(peer_id(2), out->batch.sequence, now_));
  EXPECT_FALSE(drainer_->refused(peer_id(1), 0, now_));
  EXPECT_EQ(acknowledge(*out), 5u);
  EXPECT_EQ(acknowledge(*out), 0u);
}

TEST_F(DrainerTest, DrainerH_ARefusedBatchWaitsAMoment) {
  view_ = view_of(0, {1});
  put(1, 5);
  start();
  ASSERT_TRUE(drainer_->owners_changed(view_));
  const auto out = tick();
  ASSERT_TRUE(out);
  EXPECT_TRUE(drainer_->refused(out->to, out->batch.sequence, now_));
  EXPECT_FALSE(tick());
  ASSERT_TRUE(drainer_->next_deadline());
  EXPECT_GT(*drainer_->next_deadline(), now_);
  EXPECT_EQ(acknowledge(*out), 0u) << "it was refused";
  EXPECT_EQ(store_.counts().discovered(), 5u);
  const auto again = tick_after(seconds(1));
  ASSERT_TRUE(again);
  EXPECT_EQ(acknowledge(*again), 5u);
}

TEST_F(DrainerTest, Design5_AnAnswerAfterAChangeOfOwnersForgetsNothing) {
  view_ = view_of(0, {1});
  put(1, 5);
  start();
  ASSERT_TRUE(drainer_->owners_changed(view_));
  const auto out = tick();
  ASSERT_TRUE(out);
  view_ = view_of(0, {0});  // they are this peer's again
  ASSERT_TRUE(drainer_->owners_changed(view_));
  EXPECT_EQ(acknowledge(*out), 0u);
  EXPECT_EQ(store_.counts().discovered(), 5u);
  EXPECT_TRUE(drainer_->idle());
}

// A message beyond ring::message_bytes_max or ring::batch_records_max is refused whole, for ever: the setting's largest
// batch of the longest URLs (4,096 bytes) and of hosts that all have clocks must stay below both.
TEST_F(DrainerTest, MessagesH_TheLargestBatchFitsIntoAMessage) {
  view_ = view_of(0, {1}, 1);
  const std::size_t count = 40'000;
  for (std::size_t i = 0; i < count;) {
    test::CommitParts parts;
    for (std::size_t j = 0; j < 1'000; ++j, ++i) {
      storage::Merge merge = test::queued_merge(i, 1);
      merge.key.host.partition = 0;
      if (i < 4'000) merge.record.url.resize(4'096, 'x');
      parts.merges.push_back(merge);
      parts.clocks.emplace_back(merge.key.host, storage::HostClock{test::at_ms(1), 0, test::host_text(i)});
    }
    ASSERT_TRUE(store_.commit(test::commit_of(parts)));
  }
  start(ring::batch_records_max);
  ASSERT_TRUE(drainer_->owners_changed(view_));
  std::size_t forgotten = 0;
  while (const auto out = tick_after(milliseconds(1))) {
    ASSERT_LE(out->batch.records.size(), ring::batch_records_max);
    const std::string bytes = ring::encode({ring::protocol_version, {}, peer_id(0), 1, out->batch});
    ASSERT_LE(bytes.size(), ring::message_bytes_max);
    ASSERT_TRUE(ring::decode(bytes)) << "the receiver can read it";
    forgotten += acknowledge(*out);
  }
  EXPECT_EQ(forgotten, count);
  EXPECT_EQ(store_.counts().discovered(), 0u);
}

TEST_F(DrainerTest, Contract1_NothingIsLostInAnyWeather) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    kv_ = {};
    store_ = *storage::Store::open(kv_);
    put_.clear();
    received_.clear();
    view_ = view_of(0, {0, 1, 2});
    for (std::size_t host = 0; host < 20; ++host) put(host, 1 + below(random, 9));
    start(1 + below(random, 20));
    ASSERT_TRUE(drainer_->owners_changed(view_));
    std::vector<Forwarder::Out> sent, answers;
    for (int step = 0; step < 2'000; ++step) {
      const bool calm = step > 500;
      now_ += milliseconds(below(random, calm ? 1'000 : 3'000));
      if (!calm && below(random, 40) == 0) {
        const std::vector<std::vector<std::size_t>> rings = {{0, 1, 2}, {1, 2}, {0, 1}, {1}, {0}, {}};
        view_ = view_of(0, rings[below(random, rings.size())]);
        ASSERT_TRUE(drainer_->owners_changed(view_));
      }
      if (step == 501) {
        view_ = view_of(0, {1, 2});
        ASSERT_TRUE(drainer_->owners_changed(view_));
      }
      busy_.clear();
      if (!calm && below(random, 3) == 0) busy_ = {static_cast<ring::Partition>(below(random, 16))};
      if (const auto out = tick()) sent.push_back(*out);
      for (std::size_t i = 0; i < sent.size();) {
        if (!calm && below(random, 2) == 0) {
          ++i;
          continue;
        }
        const Forwarder::Out out = sent[i];
        if (calm || below(random, 4) > 0) sent.erase(sent.begin() + static_cast<std::ptrdiff_t>(i));
        if (!calm && below(random, 4) == 0) break;  // dropped
        const bool agrees = !view_.empty() && view_.owner(out.batch.records[0].partition) == out.to;
        if (!agrees || (!calm && below(random, 4) == 0)) {
          drainer_->refused(out.to, out.batch.sequence, now_);
          break;
        }
        receive(out);
        answers.push_back(out);
        break;
      }
      if (!answers.empty() && (calm || below(random, 2) == 0)) {
        const Forwarder::Out answer = answers.back();
        if (calm || below(random, 3) > 0) answers.pop_back();
        const std::uint64_t before = store_.counts().discovered();
        const std::size_t forgotten = acknowledge(answer);
        ASSERT_EQ(store_.counts().discovered(), before - forgotten) << "forgotten twice";
      }
    }
    ASSERT_TRUE(drainer_->idle());
    ASSERT_EQ(store_.counts().discovered(), 0u) << "peer 0 owns nothing in the end";
    std::map<std::string, UrlRecord> wanted;
    for (const auto& [key, record] : put_) wanted[record.url] = record;
    ASSERT_EQ(received_, wanted);
  }
}

}  // namespace
}  // namespace orbweaver
