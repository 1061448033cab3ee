// The replicator: each write has its second copy before its outcome leaves; bounds, batches, resends, refusals,
// changes of owners; and random histories against a slow twin.
#include "node/replication/replicator.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "tests/unit/crawl_keys.h"

namespace orbweaver {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using test::below;
using test::few_partitions;
using test::peer_id;
using test::url_key_of;
using test::view_of;

class ReplicatorTest : public testing::Test {
 protected:
  ReplicatorTest() {
    config_.batch.max_records = 4;
    config_.batch.max_bytes = 1'000;
    config_.age = milliseconds(5);
    config_.batch.max_in_flight = 2;
    config_.batch.timeout = seconds(5);
    config_.max_items = 20;
    use({0, 1, 2}, 2);
  }
  void start() { replicator_.emplace(config_, dependents_); }
  void use(const std::vector<std::size_t>& peers, std::uint32_t replicas) {
    view_ = view_of(0, peers, few_partitions, replicas);
  }
  // A partition whose copies are on exactly these peers.
  ring::Partition copied_to(const std::vector<std::size_t>& peers) const {
    std::set<ring::PeerId> wanted;
    for (const std::size_t peer : peers) wanted.insert(peer_id(peer));
    for (std::uint32_t i = 0; i < few_partitions; ++i) {
      const auto partition = static_cast<ring::Partition>(i);
      const auto copies = view_.copies(partition);
      if (std::set<ring::PeerId>(copies.begin(), copies.end()) == wanted) return partition;
    }
    ADD_FAILURE() << "no partition with these copies";
    return 0;
  }
  void write(ring::Partition partition, const std::string& record, Dependents::Id id = 0) {
    replicator_->write(view_, partition, record, now_, id);
  }
  Dependents::Id page() { return dependents_.begin(Dependents::Kind::outcome); }
  std::vector<BatchOut> tick() {
    std::vector<BatchOut> out;
    replicator_->tick(
        now_, view_, tenures_, [this] { return next_sequence_++; }, out);
    for (const BatchOut& batch : out) {
      EXPECT_EQ(batch.batch.kind, ring::BatchKind::copy);
      EXPECT_LE(batch.batch.records.size(), config_.batch.max_records);
      EXPECT_FALSE(batch.batch.records.empty());
      std::set<ring::Partition> partitions, reported;
      for (const ring::BatchRecord& record : batch.batch.records) partitions.insert(record.partition);
      for (const ring::PartitionTenure& entry : batch.batch.tenures) {
        EXPECT_TRUE(reported.insert(entry.partition).second);
        EXPECT_EQ(entry.tenure, tenures_.of(entry.partition));
      }
      EXPECT_EQ(reported, partitions) << "the tenure of each of its partitions, once";
    }
    const auto deadline = replicator_->next_deadline();
    EXPECT_TRUE(!deadline || *deadline > now_) << "a deadline that tick() does nothing about makes the loop spin";
    return out;
  }
  std::vector<BatchOut> tick_after(Duration wait) {
    now_ += wait;
    return tick();
  }
  // Full batches now, and the rest when it is old enough.
  std::vector<BatchOut> settle() {
    std::vector<BatchOut> all = tick();
    for (BatchOut& batch : tick_after(config_.age)) all.push_back(std::move(batch));
    return all;
  }
  static std::vector<std::string> records_of(const std::vector<BatchOut>& out) {
    std::vector<std::string> records;
    for (const BatchOut& batch : out)
      for (const ring::BatchRecord& record : batch.batch.records) records.push_back(record.record);
    return records;
  }
  bool acknowledge(const BatchOut& batch) { return replicator_->acknowledged(batch.to, batch.batch.sequence); }
  bool refuse(const BatchOut& batch) { return replicator_->refused(batch.to, batch.batch.sequence, now_); }

  Replicator::Config config_;
  Dependents dependents_;
  std::optional<Replicator> replicator_;
  View view_ = view_of(0, {0});
  ring::Tenures tenures_{few_partitions};
  Time now_ = test::at_ms(1'000'000);
  std::uint64_t next_sequence_ = 1;
};

TEST_F(ReplicatorTest, WhatNobodyElseMustHaveIsSafeAtOnce) {
  use({0, 1, 2}, 1);
  start();
  write(3, "a");
  EXPECT_EQ(replicator_->issued(), 0u);
  EXPECT_TRUE(replicator_->idle());
  EXPECT_TRUE(tick_after(seconds(1)).empty());
  EXPECT_FALSE(replicator_->next_deadline());
  use({}, 2);
  write(3, "a");
  EXPECT_TRUE(replicator_->idle()) << "nor when there is no ring";
}

TEST_F(ReplicatorTest, AFullBatchLeavesAtOnceAndASmallOneWhenItIsOld) {
  start();
  const ring::Partition partition = copied_to({1});
  for (const char* record : {"a", "b", "c"}) write(partition, record);
  EXPECT_TRUE(tick().empty());
  EXPECT_EQ(*replicator_->next_deadline(), now_ + config_.age);
  write(partition, "d");
  EXPECT_EQ(records_of(tick()), (std::vector<std::string>{"a", "b", "c", "d"}));
  write(partition, "e");
  EXPECT_TRUE(tick_after(milliseconds(4)).empty());
  write(partition, "f");
  const auto out = tick_after(milliseconds(1));
  EXPECT_EQ(records_of(out), (std::vector<std::string>{"e", "f"}));
  EXPECT_EQ(out[0].to, peer_id(1));
  EXPECT_EQ(replicator_->records_sent(), 6u);
  EXPECT_EQ(replicator_->batches_sent(), 2u);
  EXPECT_EQ(replicator_->bytes_sent(), 6u);
}

TEST_F(ReplicatorTest, AHeavyBatchEndsWithTheRecordThatFillsIt) {
  start();
  const ring::Partition partition = copied_to({1});
  for (int i = 0; i < 3; ++i) write(partition, std::string(600, 'x'));
  EXPECT_EQ(records_of(tick_after(config_.age)).size(), 2u);
  EXPECT_EQ(records_of(tick_after(config_.age)).size(), 1u);
}

TEST_F(ReplicatorTest, SafeIsWhatAllTargetsHaveAcknowledgedInAnyOrder) {
  use({0, 1, 2}, 3);
  start();
  const ring::Partition partition = copied_to({1, 2});
  for (int i = 0; i < 8; ++i) write(partition, "r" + std::to_string(i));
  EXPECT_EQ(replicator_->issued(), 8u);
  EXPECT_EQ(replicator_->safe(), 0u);
  EXPECT_EQ(replicator_->waiting(), 16u);
  const auto out = tick();
  ASSERT_EQ(out.size(), 4u) << "two for each of two peers";
  std::map<ring::PeerId, std::vector<BatchOut>> to;
  for (const BatchOut& batch : out) to[batch.to].push_back(batch);
  EXPECT_TRUE(acknowledge(to[peer_id(1)][1]));
  EXPECT_TRUE(acknowledge(to[peer_id(2)][0]));
  EXPECT_EQ(replicator_->safe(), 0u) << "the first four are with peer 2 only";
  EXPECT_TRUE(acknowledge(to[peer_id(1)][0]));
  EXPECT_EQ(replicator_->safe(), 4u);
  EXPECT_FALSE(replicator_->idle());
  EXPECT_TRUE(acknowledge(to[peer_id(2)][1]));
  EXPECT_EQ(replicator_->safe(), 8u);
  EXPECT_TRUE(replicator_->idle());
  EXPECT_EQ(replicator_->waiting(), 0u);
}

TEST_F(ReplicatorTest, AnOutcomeLeavesOnlyWhenItsLinksAreCopiedAndForwarded) {
  start();
  const ring::Partition links = copied_to({1}), page = copied_to({2});
  const storage::UrlKey key{{page, {}}, {}};
  const Dependents::Id id = this->page();
  write(links, "link", id);
  dependents_.wait(id);  // for an entry of the outbox
  replicator_->write_after(page, key, "outcome", Time{}, id);
  EXPECT_TRUE(replicator_->waits(key));
  EXPECT_TRUE(replicator_->waits_in(page));
  EXPECT_FALSE(replicator_->waits_in(links));
  const auto out = tick_after(config_.age);
  EXPECT_EQ(records_of(out), std::vector<std::string>{"link"});
  EXPECT_TRUE(tick_after(config_.age).empty()) << "the link is not acknowledged";
  EXPECT_TRUE(acknowledge(out[0]));
  EXPECT_TRUE(tick_after(config_.age).empty()) << "the entry of the outbox is not acknowledged";
  EXPECT_TRUE(replicator_->waits(key));
  EXPECT_FALSE(replicator_->idle());
  dependents_.done(id);
  EXPECT_TRUE(tick().empty()) << "its turn has come: it waits for others to go with it, as every item";
  EXPECT_FALSE(replicator_->waits(key));
  EXPECT_FALSE(replicator_->waits_in(page));
  const auto last = tick_after(config_.age);
  EXPECT_EQ(records_of(last), std::vector<std::string>{"outcome"});
  EXPECT_EQ(last[0].to, peer_id(2));
  EXPECT_FALSE(replicator_->idle());
  EXPECT_TRUE(acknowledge(last[0]));
  EXPECT_TRUE(replicator_->idle());
}

// F12: what one page waits for holds back no other page.
TEST_F(ReplicatorTest, AnOutcomeWaitsForItsOwnLinksOnly) {
  start();
  const ring::Partition slow = copied_to({1}), quick = copied_to({2});
  const auto key = [&](std::uint8_t number) { return storage::UrlKey{{quick, {}}, {number}}; };
  const Dependents::Id first = page(), second = page(), third = page();
  write(slow, "link of 1", first);
  replicator_->write_after(quick, key(1), "page 1", Time{}, first);
  write(quick, "link of 2", second);
  replicator_->write_after(quick, key(2), "page 2", Time{}, second);
  dependents_.wait(third);  // for an owner that does not answer
  replicator_->write_after(quick, key(3), "page 3", Time{}, third);
  auto out = tick_after(config_.age);
  if (out.at(0).to == peer_id(1)) std::swap(out[0], out.at(1));
  EXPECT_TRUE(acknowledge(out[0]));
  (void)tick();
  EXPECT_FALSE(replicator_->waits(key(2)));
  EXPECT_TRUE(replicator_->waits(key(1)) && replicator_->waits(key(3)));
  EXPECT_TRUE(acknowledge(out[1]));
  (void)tick();
  EXPECT_FALSE(replicator_->waits(key(1)));
  EXPECT_TRUE(replicator_->waits(key(3)));
}

// A link that was known already may not have its copy yet.
TEST_F(ReplicatorTest, WhoWaitsForAPartitionWaitsForAllThatWasWrittenForItsCopies) {
  start();
  const ring::Partition partition = copied_to({1});
  write(partition, "link of another page");
  const Dependents::Id id = page(), other = page();
  replicator_->wait_for(view_, partition, id);
  replicator_->wait_for(view_, copied_to({2}), other);
  for (const Dependents::Id one : {id, other}) dependents_.close(one);
  EXPECT_EQ(dependents_.take_met(Dependents::Kind::outcome), std::vector{other});
  const auto out = tick_after(config_.age);
  EXPECT_TRUE(acknowledge(out[0]));
  EXPECT_EQ(dependents_.take_met(Dependents::Kind::outcome), std::vector{id});
}

// A later batch may be acknowledged first.
TEST_F(ReplicatorTest, WhoWaitsForAnItemWaitsForThoseBeforeItToo) {
  start();
  const ring::Partition partition = copied_to({1});
  for (const char* record : {"a", "b", "c", "d"}) write(partition, record);
  const Dependents::Id id = page();
  write(partition, "e", id);
  dependents_.close(id);
  const auto out = settle();
  EXPECT_TRUE(acknowledge(out.at(1)));
  EXPECT_TRUE(dependents_.take_met(Dependents::Kind::outcome).empty());
  EXPECT_TRUE(acknowledge(out.at(0)));
  EXPECT_EQ(dependents_.take_met(Dependents::Kind::outcome), std::vector{id});
}

TEST_F(ReplicatorTest, WhoWaitsWhenOwnersChangeWaitsForAllUpToItsLastItem) {
  start();
  const ring::Partition partition = copied_to({1});
  const Dependents::Id id = page(), later = page();
  write(partition, "a", id);
  (void)tick_after(config_.age);
  use({0, 2}, 2);  // peer 1 has left
  replicator_->owners_changed(view_, now_);
  write(partition, "b", later);
  for (const Dependents::Id one : {id, later}) dependents_.close(one);
  EXPECT_TRUE(dependents_.take_met(Dependents::Kind::outcome).empty());
  const auto again = tick_after(config_.age);
  EXPECT_EQ(records_of(again), (std::vector<std::string>{"a", "b"}));
  EXPECT_TRUE(acknowledge(again[0]));
  EXPECT_EQ(dependents_.take_met(Dependents::Kind::outcome).size(), 2u);
}

TEST_F(ReplicatorTest, WithoutAnswerTheSameBatchGoesOutAgain) {
  start();
  const ring::Partition partition = copied_to({1});
  write(partition, "a");
  const auto first = tick_after(config_.age);
  ASSERT_EQ(first.size(), 1u);
  EXPECT_TRUE(tick_after(config_.batch.timeout - milliseconds(1)).empty());
  EXPECT_EQ(*replicator_->next_deadline(), now_ + milliseconds(1));
  tenures_.merge(partition, {7, peer_id(1)});  // checked by tick(): the batch carries its present tenure
  const auto again = tick_after(milliseconds(1));
  ASSERT_EQ(again.size(), 1u);
  EXPECT_EQ(again[0].batch.sequence, first[0].batch.sequence);
  EXPECT_EQ(records_of(again), std::vector<std::string>{"a"});
  EXPECT_TRUE(acknowledge(again[0]));
  EXPECT_FALSE(acknowledge(first[0]));
  EXPECT_FALSE(replicator_->next_deadline());
}

TEST_F(ReplicatorTest, RefusedItemsGoOutAgainAfterAMomentInOrder) {
  start();
  const ring::Partition partition = copied_to({1});
  for (const char* record : {"a", "b", "c", "d", "e", "f"}) write(partition, record);
  const auto out = settle();
  ASSERT_EQ(out.size(), 2u);
  EXPECT_TRUE(refuse(out[1]));
  EXPECT_TRUE(refuse(out[0]));
  EXPECT_FALSE(acknowledge(out[0])) << "an answer to it means nothing now";
  EXPECT_FALSE(refuse(out[0]));
  write(partition, "g");
  EXPECT_TRUE(tick_after(config_.age).empty()) << "the views must agree first";
  EXPECT_EQ(replicator_->safe(), 0u);
  EXPECT_LE(*replicator_->next_deadline(), now_ + seconds(1));
  now_ = *replicator_->next_deadline();
  const auto again = settle();
  EXPECT_EQ(records_of(again), (std::vector<std::string>{"a", "b", "c", "d", "e", "f", "g"}));
  for (const BatchOut& batch : again) {
    EXPECT_NE(batch.batch.sequence, out[0].batch.sequence);
    EXPECT_TRUE(acknowledge(batch));
  }
  EXPECT_EQ(replicator_->safe(), 7u);
}

TEST_F(ReplicatorTest, BadInput_AnswersOfOthersAndToUnknownBatchesFindNothing) {
  start();
  write(copied_to({1}), "a");
  const auto out = tick_after(config_.age);
  ASSERT_EQ(out.size(), 1u);
  for (const std::size_t peer : {0u, 2u, 77u}) {
    EXPECT_FALSE(replicator_->acknowledged(peer_id(peer), out[0].batch.sequence));
    EXPECT_FALSE(replicator_->refused(peer_id(peer), out[0].batch.sequence, now_));
  }
  EXPECT_FALSE(replicator_->acknowledged(peer_id(1), out[0].batch.sequence + 1));
  EXPECT_EQ(replicator_->safe(), 0u);
  EXPECT_TRUE(acknowledge(out[0]));
}

TEST_F(ReplicatorTest, Contract5_FullAndItemsFullTellWhenTheBoundIsReached) {
  start();
  const ring::Partition partition = copied_to({1});
  for (std::size_t i = 1; i < config_.max_items; ++i) write(partition, "x");
  EXPECT_FALSE(replicator_->items_full());
  write(partition, "x");
  EXPECT_TRUE(replicator_->items_full());
  const auto out = tick();
  EXPECT_EQ(out.size(), config_.batch.max_in_flight) << "a bounded number is under way";
  EXPECT_TRUE(replicator_->items_full()) << "what is under way counts";
  EXPECT_TRUE(acknowledge(out[0]));
  EXPECT_FALSE(replicator_->items_full());
}

// Outcomes may wait for peers that in turn wait for this one. So they stop neither fetches nor batches of links: the
// first is given up.
TEST_F(ReplicatorTest, Contract5_OfTooManyOutcomesTheFirstIsGivenUp) {
  start();
  const ring::Partition partition = copied_to({1});
  const auto wait = [&](std::size_t number) {
    const Dependents::Id id = page();
    dependents_.wait(id);
    replicator_->write_after(partition, url_key_of(1, number), "outcome", Time{seconds(number)}, id);
  };
  for (std::size_t i = 0; i < config_.max_items; ++i) wait(i);
  EXPECT_TRUE(replicator_->take_given_up().empty());
  wait(config_.max_items);
  EXPECT_FALSE(replicator_->items_full());
  EXPECT_EQ(replicator_->waiting(), config_.max_items);
  EXPECT_EQ(dependents_.size(), config_.max_items);
  const auto given_up = replicator_->take_given_up();
  ASSERT_EQ(given_up.size(), 1u);
  EXPECT_TRUE(given_up[0].partition == partition && given_up[0].fetched == Time{});
  EXPECT_FALSE(replicator_->waits(url_key_of(1, 0)));
  EXPECT_EQ(*replicator_->earliest_outcome(), Time{seconds(1)});
}

TEST_F(ReplicatorTest, ItemsGoToTheNewCopiesWhenOwnersChange) {
  start();
  const ring::Partition partition = copied_to({1});
  for (const char* record : {"a", "b", "c", "d", "e"}) write(partition, record);
  const auto out = tick();
  ASSERT_EQ(out.size(), 1u);
  use({0, 2}, 2);  // peer 1 has left
  replicator_->owners_changed(view_, now_);
  EXPECT_FALSE(acknowledge(out[0])) << "a late answer finds nothing";
  EXPECT_EQ(replicator_->safe(), 0u);
  const auto again = settle();
  EXPECT_EQ(records_of(again), (std::vector<std::string>{"a", "b", "c", "d", "e"})) << "those under way first";
  for (const BatchOut& batch : again) {
    EXPECT_EQ(batch.to, peer_id(2));
    EXPECT_EQ(batch.batch.ring_fingerprint, view_.ring().fingerprint());
    EXPECT_TRUE(acknowledge(batch));
  }
  EXPECT_TRUE(replicator_->idle());
}

TEST_F(ReplicatorTest, WithNobodyLeftToCopyToAllIsSafe) {
  start();
  const ring::Partition partition = copied_to({1});
  const storage::UrlKey key{{partition, {}}, {}};
  write(partition, "a");
  replicator_->write_after(partition, key, "outcome", Time{}, page());
  (void)tick_after(config_.age);
  use({0}, 2);
  replicator_->owners_changed(view_, now_);
  EXPECT_EQ(replicator_->safe(), replicator_->issued());
  (void)tick();
  EXPECT_FALSE(replicator_->waits(key));
  EXPECT_TRUE(replicator_->idle());
  EXPECT_EQ(replicator_->waiting(), 0u);
  EXPECT_FALSE(replicator_->next_deadline());
}

// --- random histories -----------------------------------------------------------------------------------------------

// Writes, outcomes, changes of owners, lost, doubled and late batches and answers, refusals. The twin keeps for each
// item the peers that have not acknowledged it, and for each outcome what it waits for.
class ReplicatorHistory : public ReplicatorTest {
 protected:
  struct Item {
    ring::Partition partition = 0;
    std::set<ring::PeerId> wanted;  // the peers that must acknowledge it
  };
  struct Waiting {
    std::string record = {};
    storage::UrlKey key = {};
    ring::Partition partition = 0;
    std::set<std::string> links = {};  // must not be in items_
    bool outbox = false;               // waits for something else too
    Dependents::Id id = 0;
  };
  void run(std::uint64_t seed);
  void write_some();
  void tick_some();
  void deliver_some();
  void change_owners();
  void check();
  // The record identifies an item.
  void issue(ring::Partition partition, const std::string& record) {
    const auto copies = view_.copies(partition);
    if (copies.empty()) return;
    items_[record] = {partition, {copies.begin(), copies.end()}};
    issued_records_.insert(record);
    ++issued_;
  }

  std::mt19937_64 random_;
  std::map<std::string, Item> items_;  // not yet acknowledged by all
  std::set<std::string> issued_records_;
  std::uint64_t issued_ = 0;
  std::vector<Waiting> outcomes_;
  std::size_t written_ = 0;
  std::vector<BatchOut> to_peers_;
  std::vector<std::pair<BatchOut, bool>> answers_;
  bool calm_ = false;
};

void ReplicatorHistory::write_some() {
  for (std::size_t i = below(random_, 3); i > 0; --i) {
    Waiting page{.record = "p" + std::to_string(written_++), .id = this->page()};
    for (std::size_t k = below(random_, 4); k > 0; --k) {
      const auto partition = static_cast<ring::Partition>(below(random_, few_partitions));
      const std::string record = "r" + std::to_string(written_++);
      issue(partition, record);
      write(partition, record, page.id);
      page.links.insert(record);
    }
    if (below(random_, 3) == 0) {
      dependents_.forget(page.id);  // not fetched
      continue;
    }
    page.partition = static_cast<ring::Partition>(below(random_, few_partitions));
    page.key = {{page.partition, {}}, ring::md5(page.record)};
    page.outbox = below(random_, 2) == 0;
    if (page.outbox) dependents_.wait(page.id);
    replicator_->write_after(page.partition, page.key, page.record, Time{}, page.id);
    outcomes_.push_back(page);
    const std::size_t given_up = replicator_->take_given_up().size();
    ASSERT_EQ(outcomes_.size(), std::min(outcomes_.size(), config_.max_items) + given_up);
    outcomes_.erase(outcomes_.begin(), outcomes_.begin() + static_cast<std::ptrdiff_t>(given_up));
  }
}

void ReplicatorHistory::tick_some() {
  now_ += milliseconds(below(random_, calm_ ? 3'000 : 300));
  for (Waiting& page : outcomes_)
    if (page.outbox && (calm_ || below(random_, 4) == 0)) {
      dependents_.done(page.id);
      page.outbox = false;
    }
  std::vector<Waiting> left;  // each may leave only when its own links are safe, and in calm it does
  std::vector<BatchOut> out = tick();
  for (const Waiting& page : outcomes_) {
    const bool safe =
        std::none_of(page.links.begin(), page.links.end(), [&](const auto& l) { return items_.contains(l); });
    if (replicator_->waits(page.key)) {
      ASSERT_TRUE(!safe || page.outbox || !items_.empty()) << "nothing holds it back";
      left.push_back(page);
      continue;
    }
    ASSERT_TRUE(safe && !page.outbox) << page.record << " left before its links";
    issue(page.partition, page.record);
  }
  outcomes_ = std::move(left);
  for (BatchOut& batch : out) {
    for (const ring::BatchRecord& record : batch.batch.records) {
      ASSERT_TRUE(issued_records_.contains(record.record)) << record.record;
      const auto copies = view_.copies(record.partition);
      ASSERT_TRUE(std::find(copies.begin(), copies.end(), batch.to) != copies.end());
    }
    to_peers_.push_back(std::move(batch));
  }
}

void ReplicatorHistory::deliver_some() {
  std::shuffle(to_peers_.begin(), to_peers_.end(), random_);
  for (std::size_t left = to_peers_.size(); left > 0 && (calm_ || below(random_, 3) > 0); --left) {
    const BatchOut batch = to_peers_.back();
    if (calm_ || below(random_, 4) > 0) to_peers_.pop_back();  // else it arrives again
    if (!calm_ && below(random_, 4) == 0) continue;            // lost
    const bool takes = calm_ || below(random_, 4) > 0;
    answers_.emplace_back(batch, takes);
  }
  std::shuffle(answers_.begin(), answers_.end(), random_);
  for (std::size_t left = answers_.size(); left > 0 && (calm_ || below(random_, 3) > 0); --left) {
    const auto [batch, taken] = answers_.back();
    if (calm_ || below(random_, 4) > 0) answers_.pop_back();
    if (!calm_ && below(random_, 5) == 0) continue;
    if (!taken) {
      (void)refuse(batch);
      continue;
    }
    if (!acknowledge(batch)) continue;
    for (const ring::BatchRecord& record : batch.batch.records) {
      const auto item = items_.find(record.record);
      ASSERT_NE(item, items_.end());
      ASSERT_EQ(item->second.wanted.erase(batch.to), 1u) << "acknowledged twice by one peer";
      if (item->second.wanted.empty()) items_.erase(item);
    }
  }
}

void ReplicatorHistory::change_owners() {
  const std::vector<std::vector<std::size_t>> rings = {{0, 1, 2}, {0, 1}, {0, 2}, {1, 2}, {0}, {0, 1, 2, 3}, {}};
  use(rings[calm_ ? 0 : below(random_, rings.size())], static_cast<std::uint32_t>(1 + below(random_, 3)));
  replicator_->owners_changed(view_, now_);
  for (auto at = items_.begin(); at != items_.end();) {
    const auto copies = view_.copies(at->second.partition);
    at->second.wanted = {copies.begin(), copies.end()};
    at = copies.empty() ? items_.erase(at) : std::next(at);
  }
}

void ReplicatorHistory::check() {
  ASSERT_EQ(replicator_->issued(), issued_);
  ASSERT_EQ(replicator_->safe() == issued_, items_.empty());
  std::size_t copies = 0;
  for (const auto& [record, item] : items_) copies += item.wanted.size();
  ASSERT_EQ(replicator_->waiting(), copies + outcomes_.size()) << "dropped or doubled";
  ASSERT_EQ(replicator_->items_full(), copies >= config_.max_items);
  ASSERT_LE(outcomes_.size(), config_.max_items);
  ASSERT_LE(dependents_.size(), outcomes_.size());
  ASSERT_EQ(replicator_->idle(), items_.empty() && outcomes_.empty());
  std::set<ring::Partition> waiting;
  for (const Waiting& outcome : outcomes_) {
    ASSERT_TRUE(replicator_->waits(outcome.key));
    waiting.insert(outcome.partition);
  }
  for (std::uint32_t i = 0; i < few_partitions; ++i) {
    const auto partition = static_cast<ring::Partition>(i);
    ASSERT_EQ(replicator_->waits_in(partition), waiting.contains(partition));
  }
}

void ReplicatorHistory::run(std::uint64_t seed) {
  SCOPED_TRACE("seed " + std::to_string(seed));
  random_.seed(seed);
  config_.batch.max_records = 1 + below(random_, 6);
  config_.batch.max_in_flight = 1 + below(random_, 3);
  config_.max_items = 1 + below(random_, 40);
  start();
  use({0, 1, 2}, 2);
  for (int step = 0; step < 300 || (step < 3'000 && !replicator_->idle()); ++step) {
    SCOPED_TRACE("step " + std::to_string(step));
    calm_ = step >= 300;
    if (step == 300) change_owners();
    if (!calm_) write_some();
    if (!calm_ && below(random_, 20) == 0) change_owners();
    tick_some();
    if (HasFatalFailure()) return;
    deliver_some();
    if (HasFatalFailure()) return;
    check();
    if (HasFatalFailure()) return;
  }
  ASSERT_TRUE(replicator_->idle());
  ASSERT_TRUE(tick_after(seconds(60)).empty());
  ASSERT_FALSE(replicator_->next_deadline());
}

TEST_F(ReplicatorHistory, NothingIsDroppedDoubledOrSafeTooEarly) {
  for (std::uint64_t seed = 1; seed <= 150; ++seed) {
    items_.clear();
    issued_records_.clear();
    issued_ = 0;
    outcomes_.clear();
    to_peers_.clear();
    answers_.clear();
    run(seed);
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace orbweaver
