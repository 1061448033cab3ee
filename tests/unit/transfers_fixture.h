// Transfers between two real stores over a wire, for the tests of its rules.
#pragma once

#include <algorithm>
#include <map>
#include <set>

#include "node/replication/transfers.h"
#include "storage/memory_kv.h"
#include "tests/unit/partition_wire.h"

namespace orbweaver::test {

inline const ring::PeerId local = peer_id(1), remote = peer_id(2);

class TransfersTest : public testing::Test {
 protected:
  TransfersTest() : ours_(*storage::Store::open(our_kv_)), theirs_(*storage::Store::open(their_kv_)) {
    config_.batch.max_records = 8;
    config_.batch.max_bytes = 4'000;
    config_.batch.max_in_flight = 2;
    config_.max_active = 3;
    config_.leaves_from = 1'000'000;
    start();
  }
  void start() { transfers_.emplace(config_, ours_); }

  // `pages` pages on each of `hosts` hosts, every third fetched.
  void fill(storage::Store& store, ring::Partition partition, std::size_t hosts, std::size_t pages) {
    CommitParts parts;
    for (const std::size_t host : hosts_in(partition, hosts))
      for (std::size_t page = 0; page < pages; ++page) {
        parts.merges.push_back(queued_merge(host, page, 1));
        if (page % 3 == 0) parts.merges.back().record.state = storage::UrlState::fetched;
      }
    ASSERT_TRUE(store.commit(commit_of(parts)));
  }
  // A wait and a robots.txt for one host of the partition, and some that are out of date.
  void add_hosts(ring::Partition partition) {
    const auto hosts = hosts_in(partition, 3);
    CommitParts parts;
    const auto add = [&](std::size_t host, Duration wait, std::uint32_t failures, Duration left) {
      const storage::HostKey key = host_key_of(host);
      parts.clocks.push_back({key, {now_ + wait, failures, host_text(host)}});
      parts.robots.push_back(
          {key, "http://" + host_text(host), {now_ - std::chrono::seconds(9), now_ + left, 1, "rules"}});
    };
    add(hosts[0], std::chrono::hours(1), 2, std::chrono::hours(1));
    add(hosts[1], -std::chrono::seconds(1), 0, -std::chrono::seconds(1));
    add(hosts[2], -std::chrono::seconds(1), 3, std::chrono::hours(1));
    ASSERT_TRUE(ours_.commit(commit_of(parts)));
  }

  Transfers::World world() {
    return {tenures_,
            [this](ring::Partition partition, ring::TransferKind) { return !not_ready_.contains(partition); },
            [this](const storage::Merge& page) {
              const auto found = outcomes_.find(page.key);
              return found == outcomes_.end() ? Transfers::Outcome::leaves : found->second;
            },
            [this] { return next_sequence_++; },
            [this](ring::Partition) { return unsure_since_; },
            42};
  }
  std::vector<Transfers::Out> tick() {
    std::vector<Transfers::Out> out;
    EXPECT_TRUE(transfers_->tick(now_, world(), out));
    for (const Transfers::Out& next : out) {
      EXPECT_EQ(next.to, remote);
      if (const auto* batch = std::get_if<ring::Batch>(&next.body)) check_batch(*batch);
      if (const auto* roots = std::get_if<ring::Roots>(&next.body)) {
        EXPECT_LE(roots->roots.size(), config_.roots_a_message);
        EXPECT_EQ(roots->roots.size(), roots->tenures.size());
        for (const ring::PartitionDigest& root : roots->roots) asked_.insert(root.partition);
      }
    }
    note_done();
    return out;
  }
  void note_done() {
    for (const Transfers::Done& done : transfers_->take_done()) {
      done_.push_back(done);
      asked_.erase(done.task.partition);
    }
  }
  std::vector<Transfers::Out> tick_after(Duration wait) {
    now_ += wait;
    return tick();
  }
  void check_batch(const ring::Batch& batch) {
    EXPECT_EQ(batch.kind, ring::BatchKind::transfer);
    EXPECT_EQ(batch.ring_fingerprint, 42u);
    EXPECT_LE(batch.records.size(), config_.batch.max_records);
    EXPECT_TRUE(!batch.records.empty() || !batch.complete.empty());
    std::set<ring::Partition> partitions(batch.complete.begin(), batch.complete.end()), reported;
    for (const ring::BatchRecord& record : batch.records) partitions.insert(record.partition);
    for (const ring::PartitionTenure& entry : batch.tenures) {
      EXPECT_TRUE(reported.insert(entry.partition).second);
      EXPECT_EQ(entry.tenure, tenures_.of(entry.partition));
    }
    EXPECT_EQ(reported, partitions) << "the tenure of each of its partitions, once";
    batches_out_.insert(batch.sequence);
    completes_.insert(batch.complete.begin(), batch.complete.end());
  }
  // The answer of the other peer.
  std::optional<ring::Body> answer(const ring::Body& body) {
    if (const auto* roots = std::get_if<ring::Roots>(&body)) {
      ring::RootsCompared compared;
      compared.sequence = roots->sequence;
      for (const auto& [partition, root] : roots->roots) {
        if (later_.contains(partition)) {
          compared.later.push_back(partition);
        } else if (root != theirs_.root(partition)) {
          compared.differ.push_back(partition);
        }
      }
      return compared;
    }
    if (const auto* leaves = std::get_if<ring::Leaves>(&body)) {
      const auto own = theirs_.leaves(leaves->partition);
      EXPECT_TRUE(own);
      ring::LeavesDiffer differ{leaves->partition, std::string(ring::max_leaves, '\0'), leaves->sequence};
      for (std::size_t i = 0; i < ring::max_leaves; ++i) differ.differ[i] = (*own)[i] != leaves->leaves[i];
      return differ;
    }
    const auto* batch = std::get_if<ring::Batch>(&body);
    if (batch == nullptr) {
      ADD_FAILURE() << "a message of type " << ring::type_name(body);
      return std::nullopt;
    }
    if (below(random_, 100) < refuses_) return ring::BatchRefused{batch->sequence, {}, {}};
    EXPECT_TRUE(theirs_.commit(commit_of_batch(theirs_, *batch, now_)));
    for (const ring::BatchRecord& record : batch->records)
      if (storage::wire_kind(record.record) == storage::WireKind::last_access_unknown)
        last_access_unknown_heard_[record.partition] = *storage::decode_last_access_unknown(record.record, now_);
    return ring::BatchAck{batch->sequence};
  }
  void hear(const ring::Body& body) {
    if (const auto* compared = std::get_if<ring::RootsCompared>(&body)) transfers_->compared(remote, *compared, now_);
    if (const auto* differ = std::get_if<ring::LeavesDiffer>(&body)) transfers_->leaves_differ(remote, *differ);
    if (const auto* ack = std::get_if<ring::BatchAck>(&body)) {
      batches_out_.erase(ack->sequence);
      (void)transfers_->acknowledged(remote, ack->sequence);
    }
    if (const auto* refused = std::get_if<ring::BatchRefused>(&body)) {
      batches_out_.erase(refused->sequence);
      (void)transfers_->refused(remote, refused->sequence, now_);
    }
  }
  // Runs until nothing is left to do; time jumps from one deadline to the next.
  void run(int max_steps = 20'000) {
    for (int step = 0; transfers_->tasks() > 0 || wire_.next(); ++step) {
      ASSERT_LT(step, max_steps) << transfers_->tasks() << " transfers do not come to an end";
      step_once();
      if (HasFailure()) return;
    }
  }
  void step_once() {
    for (const Transfers::Out& next : tick()) wire_.send(now_, local, next.to, next.body);
    std::optional<Time> at = wire_.next();
    if (const auto due = transfers_->next_deadline()) at = at ? std::min(*at, *due) : *due;
    ASSERT_TRUE(at || transfers_->tasks() == 0) << "asleep with work to do";
    if (at && *at > now_) now_ = *at;
    for (const Packet& packet : wire_.take(now_)) {
      if (packet.to != remote) {
        hear(packet.body);
      } else if (const auto reply = answer(packet.body)) {
        wire_.send(now_, remote, local, *reply);
      }
    }
    note_done();
  }
  void want(ring::Partition partition, ring::TransferKind kind, bool already_sent = false) {
    transfers_->want({remote, partition}, kind, {.already_sent = already_sent});
  }
  // The other side has all records and waits that this side has of the partition; after a hand-off its robots.txt files
  // too.
  void expect_known(ring::Partition partition, ring::TransferKind kind = ring::TransferKind::backfill) {
    const auto known = records_of(theirs_, partition);
    for (const auto& [key, record] : records_of(ours_, partition)) {
      const auto found = known.find(key);
      ASSERT_NE(found, known.end()) << record.url << " is not there";
      ASSERT_EQ(storage::merge(found->second, record), found->second) << record.url;
    }
    const auto rows = ours_.hosts_of(partition, {}, 10'000);
    for (const storage::HostRow& row : *rows) {
      if (row.clock && (row.clock->next_allowed > now_ || row.clock->failures > 0)) {
        const auto clock = theirs_.clock(row.host);
        ASSERT_TRUE(clock && *clock);
        ASSERT_GE((*clock)->next_allowed, row.clock->next_allowed) << "a wait was shortened";
        ASSERT_GE((*clock)->failures, row.clock->failures);
      }
      if (row.robots && row.robots->expires > now_ && kind == ring::TransferKind::hand_off) {
        const auto robots = theirs_.robots(row.host, row.origin);
        ASSERT_TRUE(robots && *robots);
        ASSERT_EQ((*robots)->body, row.robots->body);
      }
    }
  }

  storage::MemoryKv our_kv_, their_kv_;
  storage::Store ours_, theirs_;
  Transfers::Config config_;
  std::optional<Transfers> transfers_;
  ring::Tenures tenures_{few_partitions};
  std::set<ring::Partition> not_ready_, later_;
  std::map<storage::UrlKey, Transfers::Outcome> outcomes_;
  Time unsure_since_{};
  std::map<ring::Partition, Time> last_access_unknown_heard_;
  std::size_t refuses_ = 0;  // batches refused, per hundred
  std::uint64_t next_sequence_ = 1;
  Time now_ = at_ms(1'700'000'000'000);
  FakeWire wire_;
  std::mt19937_64 random_{1};
  std::vector<Transfers::Done> done_;
  std::set<ring::Partition> asked_;      // and not done yet
  std::set<std::uint64_t> batches_out_;  // sent and not answered yet
  std::set<ring::Partition> completes_;
};

}  // namespace orbweaver::test
