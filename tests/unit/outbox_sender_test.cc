// The outbox sender: bounds, batches, resends, refusals, changes of owners; and random network faults under which
// nothing may be lost.
#include "node/replication/outbox_sender.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "storage/memory_kv.h"
#include "tests/unit/crawl_keys.h"

namespace orbweaver {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using storage::OutboxEntry;
using storage::OutboxKey;
using test::below;
using test::few_partitions;
using test::peer_id;
using test::view_of;

class OutboxSenderTest : public testing::Test {
 protected:
  OutboxSenderTest() : store_(*storage::Store::open(kv_)) {
    config_.batch.max_records = 10;
    config_.batch.max_bytes = 100'000;
    config_.age = milliseconds(100);
    config_.batch.max_in_flight = 2;
    config_.batch.timeout = seconds(5);
    config_.memory_records = 100;
  }
  void start(std::uint64_t life = 1) { sender_.emplace(config_, store_, dependents_, RisingNumber(life)); }

  // Puts `count` records for partitions of `owner` into the outbox, as a page's commit does, and into the sender.
  std::vector<OutboxEntry> add(std::size_t owner, std::size_t count, std::size_t bytes = 50) {
    const auto partitions = view_.ring().partitions_of(peer_id(owner));
    EXPECT_FALSE(partitions.empty());
    test::CommitParts parts;
    for (std::size_t i = 0; i < count; ++i) {
      std::string record = "record " + std::to_string(next_record_++);
      record.resize(std::max(record.size(), bytes), '.');
      parts.to_outbox.emplace_back(partitions[i % partitions.size()], std::move(record));
    }
    const auto result = store_.commit(test::commit_of(parts));
    EXPECT_TRUE(result);
    sender_->add(result->outbox, view_, now_);
    return result->outbox;
  }
  std::vector<BatchOut> tick() {
    std::vector<BatchOut> out;
    EXPECT_TRUE(sender_->tick(now_, view_, out));
    for (const BatchOut& batch : out) {
      EXPECT_EQ(batch.batch.ring_fingerprint, view_.ring().fingerprint());
      EXPECT_LE(batch.batch.records.size(), config_.batch.max_records);
      EXPECT_FALSE(batch.batch.records.empty());
      for (const ring::BatchRecord& record : batch.batch.records) EXPECT_EQ(view_.owner(record.partition), batch.to);
    }
    // A deadline that has passed although tick() has just run would make the loop spin.
    const auto deadline = sender_->next_deadline();
    EXPECT_TRUE(!deadline || *deadline > now_);
    return out;
  }
  std::vector<BatchOut> tick_after(Duration wait) {
    now_ += wait;
    return tick();
  }
  std::size_t acknowledge(const BatchOut& batch) {
    test::CommitParts parts;
    parts.from_outbox = sender_->acknowledged(batch.to, batch.batch.sequence);
    take_out(parts.from_outbox);
    return parts.from_outbox.size();
  }
  // Removes entries, as the peer does on an acknowledgement or when it owns them itself.
  void take_out(const std::vector<OutboxKey>& keys) {
    test::CommitParts parts;
    parts.from_outbox = keys;
    ASSERT_TRUE(store_.commit(test::commit_of(parts)));
    sender_->taken_out(keys);
  }
  // Acknowledges all until nothing more comes. Returns the records in the order in which they came.
  std::vector<std::string> drain(int rounds = 2'000) {
    std::vector<std::string> records;
    for (int i = 0; i < rounds && (i < 3 || store_.counts().outbox > 0); ++i)
      for (const BatchOut& batch : tick_after(config_.age)) {
        for (const ring::BatchRecord& record : batch.batch.records) records.push_back(record.record);
        acknowledge(batch);
      }
    return records;
  }
  static std::vector<std::string> records_of(const std::vector<OutboxEntry>& entries) {
    std::vector<std::string> records;
    for (const OutboxEntry& entry : entries) records.push_back(entry.record);
    return records;
  }

  storage::MemoryKv kv_;
  storage::Store store_;
  OutboxSender::Config config_;
  Dependents dependents_;
  std::optional<OutboxSender> sender_;
  View view_ = view_of(0, {0, 1, 2});
  Time now_ = test::at_ms(1'000'000);
  std::size_t next_record_ = 0;
};

TEST_F(OutboxSenderTest, AFullBatchLeavesAtOnce) {
  start();
  add(1, 9);
  EXPECT_TRUE(tick().empty());
  add(1, 1);
  const auto out = tick();
  ASSERT_EQ(out.size(), 1u);
  EXPECT_EQ(out[0].to, peer_id(1));
  EXPECT_EQ(out[0].batch.records.size(), 10u);
  EXPECT_EQ(sender_->batches_sent(), 1u);
  EXPECT_EQ(sender_->records_sent(), 10u);
  EXPECT_EQ(sender_->bytes_sent(), 500u);
}

TEST_F(OutboxSenderTest, AHeavyBatchLeavesAtOnce) {
  config_.batch.max_bytes = 1'000;
  start();
  add(1, 3, 300);
  EXPECT_TRUE(tick().empty());
  add(1, 3, 300);
  const auto out = tick();
  ASSERT_EQ(out.size(), 1u);
  EXPECT_EQ(out[0].batch.records.size(), 4u) << "the record that fills it is its last";
  EXPECT_TRUE(tick_after(milliseconds(50)).empty());
  EXPECT_EQ(tick_after(milliseconds(50)).size(), 1u);
}

TEST_F(OutboxSenderTest, AnOldBatchLeavesThoughSmall) {
  start();
  add(1, 1);
  ASSERT_TRUE(sender_->next_deadline());
  EXPECT_EQ(*sender_->next_deadline(), now_ + config_.age);
  EXPECT_TRUE(tick_after(milliseconds(60)).empty());
  add(1, 1);  // a younger record does not make the first wait longer
  EXPECT_EQ(*sender_->next_deadline(), now_ + milliseconds(40));
  EXPECT_TRUE(tick_after(milliseconds(39)).empty());
  const auto out = tick_after(milliseconds(1));
  ASSERT_EQ(out.size(), 1u);
  EXPECT_EQ(out[0].batch.records.size(), 2u);
}

TEST_F(OutboxSenderTest, EachOwnerHasItsOwnBatches) {
  start();
  const auto for_one = records_of(add(1, 15)), for_two = records_of(add(2, 5));
  std::map<ring::PeerId, std::multiset<std::string>> got;
  for (int i = 0; i < 3; ++i)
    for (const BatchOut& batch : tick_after(config_.age))
      for (const ring::BatchRecord& record : batch.batch.records) got[batch.to].insert(record.record);
  EXPECT_EQ(got[peer_id(1)], (std::multiset<std::string>(for_one.begin(), for_one.end())));
  EXPECT_EQ(got[peer_id(2)], (std::multiset<std::string>(for_two.begin(), for_two.end())));
}

TEST_F(OutboxSenderTest, ABoundedNumberIsUnderWayForEachOwner) {
  start();
  add(1, 60);
  auto out = tick();
  ASSERT_EQ(out.size(), 2u);
  EXPECT_EQ(sender_->batches_in_flight(), 2u);
  EXPECT_TRUE(tick_after(milliseconds(500)).empty()) << "the owner is slow";
  add(2, 10);
  ASSERT_EQ(tick().size(), 1u) << "another owner does not wait for it";
  EXPECT_EQ(acknowledge(out[0]), 10u);
  EXPECT_EQ(tick().size(), 1u) << "room for one more";
  EXPECT_EQ(store_.counts().outbox, 60u);
  EXPECT_EQ(sender_->batches_acknowledged(), 1u);
}

TEST_F(OutboxSenderTest, WithoutAnswerTheSameBatchGoesOutAgain) {
  start();
  add(1, 10);
  const auto first = tick();
  ASSERT_EQ(first.size(), 1u);
  EXPECT_TRUE(tick_after(milliseconds(4'999)).empty());
  EXPECT_EQ(*sender_->next_deadline(), now_ + milliseconds(1));
  const auto again = tick_after(milliseconds(1));
  ASSERT_EQ(again.size(), 1u);
  EXPECT_EQ(again[0].batch.sequence, first[0].batch.sequence);
  EXPECT_EQ(again[0].batch.records.size(), 10u);
  EXPECT_TRUE(tick_after(milliseconds(9'999)).empty()) << "each time it waits longer";
  EXPECT_EQ(tick_after(milliseconds(1)).size(), 1u);
  EXPECT_EQ(acknowledge(first[0]), 10u);
  EXPECT_TRUE(tick_after(seconds(60)).empty());
  EXPECT_EQ(store_.counts().outbox, 0u);
  EXPECT_FALSE(sender_->next_deadline());
}

TEST_F(OutboxSenderTest, BadInput_AcksOfOthersOfUnknownBatchesAndAgainFindNothing) {
  start();
  add(1, 10);
  const auto out = tick();
  ASSERT_EQ(out.size(), 1u);
  EXPECT_TRUE(sender_->acknowledged(peer_id(2), out[0].batch.sequence).empty());
  EXPECT_TRUE(sender_->acknowledged(peer_id(77), out[0].batch.sequence).empty());
  EXPECT_TRUE(sender_->acknowledged(peer_id(1), out[0].batch.sequence + 1).empty());
  EXPECT_TRUE(sender_->acknowledged(peer_id(1), 0).empty());
  sender_->refused(peer_id(2), out[0].batch.sequence, now_);
  sender_->refused(peer_id(77), out[0].batch.sequence, now_);
  EXPECT_EQ(acknowledge(out[0]), 10u);
  EXPECT_EQ(acknowledge(out[0]), 0u);
  EXPECT_EQ(sender_->batches_acknowledged(), 1u);
}

// The memory has at most memory_records entries: entries that are not on disk show which ones are in memory.
TEST_F(OutboxSenderTest, Contract5_MemoryIsBoundedAndTheRestIsReadBackFromDisk) {
  start();
  const auto partition = view_.ring().partitions_of(peer_id(1)).front();
  std::vector<OutboxEntry> unsaved;
  for (std::uint64_t i = 0; i < 1'000; ++i) unsaved.push_back({{partition, 1'000'000 + i}, "unsaved"});
  sender_->add(unsaved, view_, now_);
  std::size_t came = 0;
  for (int i = 0; i < 300; ++i)
    for (const BatchOut& batch : tick_after(config_.age)) {
      came += batch.batch.records.size();
      (void)sender_->acknowledged(batch.to, batch.batch.sequence);
    }
  EXPECT_EQ(came, config_.memory_records);
}

TEST_F(OutboxSenderTest, AThousandTimesTheMemoryComesThroughInOrderEachOnce) {
  start();
  std::vector<std::string> wanted;
  view_ = view_of(0, {0, 1}, 2);
  for (int page = 0; page < 200; ++page)
    for (const std::string& record : records_of(add(1, 17))) wanted.push_back(record);
  EXPECT_EQ(drain(), wanted);
  EXPECT_EQ(store_.counts().outbox, 0u);
  for (const std::string& record : records_of(add(1, 5))) wanted.push_back(record);
  EXPECT_EQ(drain().size(), 5u) << "and goes on from memory";
}

TEST_F(OutboxSenderTest, ABatchThatFoundNoRoomIsSentAgainSoonAndStaysTheSame) {
  start();
  const auto entries = records_of(add(1, 10));
  const auto out = tick();
  ASSERT_EQ(out.size(), 1u);
  now_ += seconds(1);
  sender_->pushed_back(peer_id(1), out[0].batch.sequence, now_);
  sender_->pushed_back(peer_id(2), out[0].batch.sequence, now_);
  sender_->pushed_back(peer_id(1), out[0].batch.sequence + 1, now_);
  EXPECT_EQ(sender_->next_deadline(), now_ + ring::refusal_wait);
  EXPECT_TRUE(tick_after(ring::refusal_wait - milliseconds(1)).empty());
  const auto again = tick_after(milliseconds(1));
  ASSERT_EQ(again.size(), 1u);
  EXPECT_EQ(again[0].to, peer_id(1));
  EXPECT_EQ(again[0].batch.sequence, out[0].batch.sequence);
  ASSERT_EQ(again[0].batch.records.size(), entries.size());
  EXPECT_EQ(sender_->batches_in_flight(), 1u);
  EXPECT_EQ(acknowledge(again[0]), 10u);
  EXPECT_EQ(store_.counts().outbox, 0u);
}

TEST_F(OutboxSenderTest, ARefusedBatchWaitsAMomentAndComesAgain) {
  start();
  const auto entries = records_of(add(1, 10));
  const auto out = tick();
  ASSERT_EQ(out.size(), 1u);
  sender_->refused(peer_id(1), out[0].batch.sequence, now_);
  EXPECT_TRUE(tick().empty()) << "not at once: the views must agree first";
  ASSERT_TRUE(sender_->next_deadline());
  EXPECT_GT(*sender_->next_deadline(), now_);
  EXPECT_LE(*sender_->next_deadline(), now_ + seconds(1));
  EXPECT_EQ(acknowledge(out[0]), 0u) << "it was refused: an answer to it means nothing";
  auto again = drain();
  std::sort(again.begin(), again.end());
  EXPECT_EQ(again, entries);
  EXPECT_EQ(store_.counts().outbox, 0u);
}

TEST_F(OutboxSenderTest, AnotherOwnerGetsWhatWasForTheFirst) {
  view_ = view_of(0, {0, 1, 2}, 64);
  start();
  add(1, 25);
  const auto first = tick();
  ASSERT_EQ(first.size(), 2u);
  view_ = view_of(0, {0, 2}, 64);  // peer 1 has left
  sender_->owners_changed(view_);
  EXPECT_EQ(acknowledge(first[0]), 0u) << "a late answer finds nothing";
  std::set<std::string> got;
  std::size_t own = 0;
  for (int i = 0; i < 10; ++i) {
    for (const BatchOut& batch : tick_after(config_.age)) {
      EXPECT_EQ(batch.to, peer_id(2));
      for (const ring::BatchRecord& record : batch.batch.records) got.insert(record.record);
      acknowledge(batch);
    }
    const auto mine = sender_->take_own(view_, 7);
    ASSERT_TRUE(mine);
    EXPECT_LE(mine->size(), 7u);
    test::CommitParts parts;
    for (const OutboxEntry& entry : *mine) {
      EXPECT_TRUE(view_.owns(entry.key.partition));
      parts.from_outbox.push_back(entry.key);
      got.insert(entry.record);
      ++own;
    }
    take_out(parts.from_outbox);
  }
  EXPECT_EQ(got.size(), 25u);
  EXPECT_GT(own, 0u);
  EXPECT_EQ(store_.counts().outbox, 0u);
}

TEST_F(OutboxSenderTest, AfterARestartTheOutboxIsSentFromDisk) {
  start();
  add(1, 25);
  add(2, 5);
  ASSERT_FALSE(tick().empty());
  start(2'000'000);
  sender_->owners_changed(view_);
  EXPECT_EQ(drain().size(), 30u);
  EXPECT_EQ(store_.counts().outbox, 0u);
}

TEST_F(OutboxSenderTest, APeerThatOwnsNothingAnyMoreIsForgotten) {
  start();
  for (const std::size_t owner : {1, 2}) add(owner, 5);
  view_ = view_of(0, {0, 2});
  sender_->owners_changed(view_);
  for (const ring::TableSize& size : sender_->tables()) EXPECT_TRUE(size.name != "outbox.queues" || size.entries == 1);
}

TEST_F(OutboxSenderTest, APeerThatIsGoneAndComesBackGetsItAll) {
  start();
  add(1, 25);
  const auto first = tick();
  sender_->forget_peer(peer_id(1));
  EXPECT_EQ(sender_->batches_in_flight(), 0u);
  for (const BatchOut& batch : first) EXPECT_EQ(acknowledge(batch), 0u);
  EXPECT_EQ(drain().size(), 25u);
  EXPECT_EQ(store_.counts().outbox, 0u);
  sender_->forget_peer(peer_id(99));
}

TEST_F(OutboxSenderTest, WithoutAnyOwnerItWaitsAndDoesNotSpin) {
  start();
  add(1, 25);
  (void)tick();
  view_ = view_of(0, {});
  sender_->owners_changed(view_);
  EXPECT_TRUE(tick_after(seconds(60)).empty());
  const auto deadline = sender_->next_deadline();
  EXPECT_TRUE(!deadline || *deadline > now_) << "a deadline that tick() does nothing about makes the loop spin";
  EXPECT_TRUE(sender_->take_own(view_, 10)->empty());
  view_ = view_of(0, {0, 1, 2});
  sender_->owners_changed(view_);
  EXPECT_EQ(drain().size(), 25u);
}

TEST_F(OutboxSenderTest, SequencesRiseFromTheFirst) {
  start(5'000);
  add(1, 20);
  add(2, 10);
  std::set<std::uint64_t> seen;
  for (const BatchOut& batch : tick()) EXPECT_TRUE(seen.insert(batch.batch.sequence).second);
  EXPECT_TRUE(seen.insert(sender_->new_sequence()).second);
  EXPECT_GE(*seen.begin(), 5'000u);
}

TEST_F(OutboxSenderTest, SafeIsTheFirstEntryThatIsNotTakenOut) {
  start();
  EXPECT_EQ(sender_->safe(), UINT64_MAX) << "nothing is open";
  const auto first = add(1, 64), second = add(1, 64), third = add(2, 1);
  EXPECT_EQ(sender_->safe(), first[0].key.sequence);
  const auto key_of = [](const OutboxEntry& entry) { return entry.key; };
  const auto keys = [&](const std::vector<OutboxEntry>& entries) {
    std::vector<OutboxKey> all;
    std::transform(entries.begin(), entries.end(), std::back_inserter(all), key_of);
    return all;
  };
  take_out(keys(second));  // out of order
  EXPECT_EQ(sender_->safe(), first[0].key.sequence);
  take_out({first.begin()->key});
  EXPECT_EQ(sender_->safe(), first[1].key.sequence);
  std::vector<OutboxKey> rest = keys(first);
  rest.erase(rest.begin());
  take_out(rest);
  EXPECT_EQ(sender_->safe(), third[0].key.sequence);
  take_out(keys(third));
  EXPECT_EQ(sender_->safe(), UINT64_MAX);
}

TEST_F(OutboxSenderTest, NothingIsSafeBeforeAllOfAnEarlierProcessIsTakenOut) {
  start();
  const auto before = add(1, 3);
  start(2'000'000);
  EXPECT_EQ(sender_->safe(), 0u);
  const auto after = add(1, 3);
  take_out({after[0].key, after[1].key, after[2].key});
  take_out({before[2].key, before[0].key});
  EXPECT_EQ(sender_->safe(), 0u);
  take_out({before[1].key});
  EXPECT_EQ(sender_->safe(), UINT64_MAX);
}

// Once groups of entries grew without bound, and safe() lagged by more than a group (with a steady stream, for good).
TEST_F(OutboxSenderTest, SafeIsExactThoughTheNewestWereTakenOut) {
  start();
  const auto slow = add(1, 64);  // its owner does not answer
  take_out({add(2, 1)[0].key});
  const auto later = add(2, 63);
  for (const OutboxEntry& entry : slow) take_out({entry.key});
  EXPECT_EQ(sender_->safe(), later[0].key.sequence);
}

// For the same reason new entries joined the group of an earlier process. Though its entries had long reached their
// owners, safe() stayed 0 and no partition moved (Peer::ready_to_move).
TEST_F(OutboxSenderTest, NewEntriesDoNotJoinTheGroupOfAnEarlierProcess) {
  start();
  const auto before = add(1, 1);
  start(2'000'000);
  take_out({add(2, 1)[0].key});
  const auto later = add(2, 1);
  take_out({before[0].key});
  EXPECT_EQ(sender_->safe(), later[0].key.sequence);
}

// An owner that is unreachable for long leaves many blocks open: they are bounded, and safe() stays true.
TEST_F(OutboxSenderTest, Contract5_ManyOpenBlocksAreBoundedAndStaySafe) {
  start();
  const auto partition = view_.ring().partitions_of(peer_id(1)).front();
  constexpr std::uint64_t entries = 64 * 20'000;
  std::vector<OutboxEntry> page(64, {{partition, 0}, ""});
  for (std::uint64_t i = 0; i < entries; i += 64) {
    for (std::uint64_t k = 0; k < 64; ++k) page[k].key.sequence = 1 + i + k;
    sender_->add(page, view_, now_);
  }
  std::uint64_t safe = sender_->safe();
  const Dependents::Id old = dependents_.begin(Dependents::Kind::outcome);
  sender_->open_entries().wait_for(1, old);
  dependents_.close(old);
  EXPECT_TRUE(dependents_.waits(old));
  for (std::uint64_t number = 1; number <= entries; ++number) {
    sender_->taken_out({{partition, number}});
    ASSERT_GE(sender_->safe(), safe) << "never back";
    safe = sender_->safe();
    ASSERT_TRUE(number == entries ? safe == UINT64_MAX : safe <= number + 1) << number;
  }
  EXPECT_FALSE(dependents_.waits(old));
}

// Random faults: batches and answers are dropped, doubled, late and out of order; owners refuse, come and go; this peer
// restarts. The records that owners took are noted. In the end each record was taken and the outbox is empty.
class FaultyNetwork : public OutboxSenderTest {
 protected:
  void run(std::uint64_t seed);
  void deliver_some();
  void change_owners();
  void take_own();
  void check_safe() const;

  std::mt19937_64 random_;
  std::set<std::uint64_t> open_;    // numbers of the entries in the outbox
  std::uint64_t first_number_ = 0;  // the first number that this process gave
  std::set<std::string> taken_;
  std::vector<BatchOut> to_owners_;
  std::vector<std::tuple<ring::PeerId, std::uint64_t, bool>> answers_;  // from, sequence, acknowledged
  bool calm_ = false;
};

void FaultyNetwork::deliver_some() {
  std::shuffle(to_owners_.begin(), to_owners_.end(), random_);
  for (std::size_t left = to_owners_.size(); left > 0 && (calm_ || below(random_, 3) > 0); --left) {
    const BatchOut batch = to_owners_.back();
    if (calm_ || below(random_, 4) > 0) to_owners_.pop_back();
    if (!calm_ && below(random_, 4) == 0) continue;  // dropped
    const bool agrees =
        std::all_of(batch.batch.records.begin(), batch.batch.records.end(),
                    [&](const ring::BatchRecord& r) { return !view_.empty() && view_.owner(r.partition) == batch.to; });
    const bool takes = agrees && (calm_ || below(random_, 4) > 0);
    if (takes)
      for (const ring::BatchRecord& record : batch.batch.records) taken_.insert(record.record);
    answers_.emplace_back(batch.to, batch.batch.sequence, takes);
  }
  std::shuffle(answers_.begin(), answers_.end(), random_);
  for (std::size_t left = answers_.size(); left > 0 && (calm_ || below(random_, 3) > 0); --left) {
    const auto [from, sequence, taken] = answers_.back();
    if (calm_ || below(random_, 4) > 0) answers_.pop_back();
    if (!calm_ && below(random_, 5) == 0) continue;
    if (!taken) {
      sender_->refused(from, sequence, now_);
      continue;
    }
    test::CommitParts parts;
    parts.from_outbox = sender_->acknowledged(from, sequence);
    for (const OutboxKey& key : parts.from_outbox) {
      const auto found = store_.outbox_of(key.partition, key.sequence - 1, 1);
      ASSERT_TRUE(found && found->size() == 1 && found->front().key == key) << "acknowledged twice: the count breaks";
      ASSERT_TRUE(taken_.contains(found->front().record)) << "taken out before its owner had it";
      open_.erase(key.sequence);
    }
    take_out(parts.from_outbox);
  }
}

void FaultyNetwork::change_owners() {
  const std::vector<std::vector<std::size_t>> rings = {{0, 1, 2}, {0, 1}, {0, 2}, {1, 2}, {0}, {0, 1, 2, 3}, {}};
  const View before = view_;
  view_ = view_of(0, rings[calm_ ? 0 : below(random_, rings.size())]);
  for (std::size_t peer = 1; peer < 4; ++peer)
    if (below(random_, 2) == 0) sender_->forget_peer(peer_id(peer));
  if (view_.ring().fingerprint() != before.ring().fingerprint()) sender_->owners_changed(view_);
}

void FaultyNetwork::take_own() {
  const auto own = sender_->take_own(view_, 1 + below(random_, 20));
  ASSERT_TRUE(own);
  test::CommitParts parts;
  for (const OutboxEntry& entry : *own) {
    ASSERT_TRUE(view_.owns(entry.key.partition));
    taken_.insert(entry.record);
    parts.from_outbox.push_back(entry.key);
    open_.erase(entry.key.sequence);
  }
  const std::uint64_t before = store_.counts().outbox;
  take_out(parts.from_outbox);
  ASSERT_EQ(store_.counts().outbox, before - own->size());
}

// safe() is never too high; all entries of an earlier process are one group.
void FaultyNetwork::check_safe() const {
  const std::uint64_t safe = sender_->safe();
  if (open_.empty()) {
    ASSERT_EQ(safe, UINT64_MAX);
  } else if (*open_.begin() < first_number_) {
    ASSERT_EQ(safe, 0u);
  } else {
    ASSERT_LE(safe, *open_.begin());
  }
}

void FaultyNetwork::run(std::uint64_t seed) {
  SCOPED_TRACE("seed " + std::to_string(seed));
  random_.seed(seed);
  config_.batch.max_records = 1 + below(random_, 12);
  config_.memory_records = 1 + below(random_, 40);
  config_.batch.max_in_flight = 1 + below(random_, 4);
  config_.batch.max_bytes = 100 + below(random_, 1'000);
  start();
  first_number_ = store_.next_outbox();
  std::size_t added = 0;
  for (int step = 0; step < 400 || (step < 20'000 && store_.counts().outbox > 0); ++step) {
    SCOPED_TRACE("step " + std::to_string(step));
    calm_ = step >= 400;
    if (step == 400) change_owners();
    now_ += milliseconds(1 + below(random_, calm_ ? 2'000 : 200));
    if (!calm_ && below(random_, 3) > 0) {
      test::CommitParts parts;
      for (std::size_t i = below(random_, 20); i > 0; --i)
        parts.to_outbox.emplace_back(static_cast<std::uint16_t>(below(random_, few_partitions)),
                                     "r" + std::to_string(added++));
      const auto result = store_.commit(test::commit_of(parts));
      for (const OutboxEntry& entry : result->outbox) open_.insert(entry.key.sequence);
      sender_->add(result->outbox, view_, now_);
    }
    if (!calm_ && below(random_, 15) == 0) change_owners();
    if (!calm_ && below(random_, 60) == 0) {
      start(static_cast<std::uint64_t>(step) * 1'000'000 + 2'000'000);
      sender_->owners_changed(view_);
      first_number_ = store_.next_outbox();
    }
    take_own();
    for (BatchOut& batch : tick()) to_owners_.push_back(std::move(batch));
    if (HasFatalFailure()) return;
    ASSERT_LE(sender_->batches_in_flight(), 3 * config_.batch.max_in_flight);
    deliver_some();
    if (HasFatalFailure()) return;
    check_safe();
    if (HasFatalFailure()) return;
  }
  ASSERT_EQ(store_.counts().outbox, 0u);
  ASSERT_EQ(kv_.size(storage::Table::outbox), 0u);
  ASSERT_EQ(taken_.size(), added) << "something was lost";
  ASSERT_TRUE(tick_after(seconds(1)).empty());
  ASSERT_FALSE(sender_->next_deadline());
}

TEST_F(FaultyNetwork, Contract1_NothingIsLostAndTheOutboxEndsEmpty) {
  for (std::uint64_t seed = 1; seed <= 150; ++seed) {
    taken_.clear();
    to_owners_.clear();
    answers_.clear();
    open_.clear();
    view_ = view_of(0, {0, 1, 2});
    run(seed);
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace orbweaver
