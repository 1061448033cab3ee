// Issue 3, point 1: the records of URLs and hosts are a join-semilattice. A history is the life of a URL of which
// several peers may each have seen a part. Histories are merged in any order, in any pieces, doubled: by hand, through
// Store::commit in memory and on RocksDB, and as batches through a peer. The result is always that of a slow obvious
// twin that looks at all records at once.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <random>
#include <set>

#include "node/config/settings_table.h"
#include "node/peer/core.h"
#include "storage/store.h"
#include "tests/unit/crawl_keys.h"
#include "tests/unit/store_backends.h"

namespace orbweaver::storage {
namespace {

using test::below;
using test::few_partitions;

using Random = std::mt19937_64;

// --- the twin: no pairs, no order -----------------------------------------------------------------------------------

int rank_by_the_book(const UrlRecord& record) {
  if (record.state == UrlState::fetched) return 4;
  if (record.state == UrlState::failed) return 3;
  if (record.state == UrlState::queued) return 1;
  return record.reason == Reason::depth ? 0 : 2;
}

auto by_time_then_bytes(const UrlRecord& r) {
  return std::tuple(r.since, static_cast<int>(r.reason), r.status, r.depth, r.steps, r.attempts, r.url);
}

// The join of all records: those of the highest rank; of queued ones each field by itself; of others the latest.
UrlRecord join_by_the_book(const std::vector<UrlRecord>& all) {
  int top = 0;
  for (const UrlRecord& record : all) top = std::max(top, rank_by_the_book(record));
  std::vector<UrlRecord> best;
  std::copy_if(all.begin(), all.end(), std::back_inserter(best),
               [&](const UrlRecord& record) { return rank_by_the_book(record) == top; });
  if (top != 1) {
    return *std::max_element(best.begin(), best.end(), [](const UrlRecord& a, const UrlRecord& b) {
      return by_time_then_bytes(a) < by_time_then_bytes(b);
    });
  }
  UrlRecord joined = best.front();
  for (const UrlRecord& record : best) {
    if (record.depth < joined.depth) joined.depth = record.depth;
    if (record.steps < joined.steps) joined.steps = record.steps;
    if (record.attempts > joined.attempts) joined.attempts = record.attempts;
    if (record.status > joined.status) joined.status = record.status;
    if (record.reason > joined.reason) joined.reason = record.reason;
    if (record.not_before > joined.not_before) joined.not_before = record.not_before;
  }
  return joined;
}

// --- histories ------------------------------------------------------------------------------------------------------

// The records of one URL at some peers: links to it from several places, failed tries, an end. Each peer continues
// from an earlier record of any of them, as after a hand-off, a cut or a restart with an older copy.
std::vector<UrlRecord> life_of(Random& random, const std::string& url, std::size_t moments) {
  std::vector<UrlRecord> known;
  for (std::size_t i = 0; i < moments; ++i) {
    UrlRecord record;
    record.url = url;
    const bool link = known.empty() || below(random, 3) == 0;
    if (!link) record = known[below(random, known.size())];
    const Time now = test::at_ms(static_cast<std::int64_t>(below(random, 6)));
    if (link) {
      record.depth = static_cast<std::uint16_t>(1 + below(random, 4));
      record.steps = static_cast<std::uint8_t>(below(random, 3));
      if (record.depth == 4) std::tie(record.state, record.reason) = std::pair(UrlState::excluded, Reason::depth);
    } else if (record.state == UrlState::queued || below(random, 4) == 0) {
      switch (below(random, 5)) {
        case 0:  // a failed try
          record.state = UrlState::queued;
          record.reason = below(random, 2) == 0 ? Reason::timeout : Reason::http_status;
          record.status = record.reason == Reason::http_status ? 503 : 0;
          ++record.attempts;
          break;
        case 1:
          std::tie(record.state, record.reason) = std::pair(UrlState::failed, Reason::dns);
          break;
        case 2:
          std::tie(record.state, record.reason) = std::pair(UrlState::excluded, Reason::robots);
          break;
        default:
          std::tie(record.state, record.reason, record.status) = std::tuple(UrlState::fetched, Reason::none, 200);
      }
      record.since = record.state == UrlState::queued ? Time{} : now;
      record.not_before = record.state == UrlState::queued ? now : Time{};
    }
    known.push_back(record);
  }
  return known;
}

// The history of some hosts with some pages, as merges.
std::vector<Merge> history_of(Random& random, std::size_t hosts, std::size_t pages) {
  std::vector<Merge> history;
  for (std::size_t host = 0; host < hosts; ++host)
    for (std::size_t page = 0; page < pages; ++page)
      for (const UrlRecord& record : life_of(random, test::url_text(host, page), 1 + below(random, 6)))
        history.push_back({test::url_key_of(host, page), record});
  return history;
}

std::map<UrlKey, UrlRecord> twin_of(const std::vector<Merge>& history) {
  std::map<UrlKey, std::vector<UrlRecord>> by_key;
  for (const Merge& merge : history) by_key[merge.key].push_back(merge.record);
  std::map<UrlKey, UrlRecord> joined;
  for (const auto& [key, records] : by_key) joined[key] = join_by_the_book(records);
  return joined;
}

// The history again: all of it at least once, some of it twice, in another order.
template <class Value>
std::vector<Value> shuffled_and_doubled(Random& random, const std::vector<Value>& history) {
  std::vector<Value> copies = history;
  for (const Value& value : history)
    if (below(random, 3) == 0) copies.push_back(value);
  std::shuffle(copies.begin(), copies.end(), random);
  return copies;
}

UrlRecord fold(const std::vector<UrlRecord>& records) {
  return std::accumulate(records.begin() + 1, records.end(), records.front(),
                         [](const UrlRecord& a, const UrlRecord& b) { return merge(a, b); });
}

// --- by hand --------------------------------------------------------------------------------------------------------

TEST(MergeHistory, UrlsAnyOrderAnyPiecesDoubledIsWhatTheTwinSays) {
  Random random(1);
  std::map<UrlState, int> ends;
  for (int round = 0; round < 4'000; ++round) {
    const std::vector<UrlRecord> life = life_of(random, "http://h.test/", 2 + below(random, 8));
    const UrlRecord wanted = join_by_the_book(life);
    ++ends[wanted.state];
    for (int order = 0; order < 4; ++order) {
      const std::vector<UrlRecord> copies = shuffled_and_doubled(random, life);
      ASSERT_EQ(fold(copies), wanted) << "round " << round;
      // Two peers meet that each have a part of it.
      const auto cut = copies.begin() + 1 + static_cast<std::ptrdiff_t>(below(random, copies.size() - 1));
      const UrlRecord left = fold({copies.begin(), cut}), right = fold({cut, copies.end()});
      ASSERT_EQ(merge(left, right), wanted);
      ASSERT_EQ(merge(right, left), wanted) << "commutative";
      ASSERT_EQ(merge(merge(left, right), right), wanted) << "a copy that comes again changes nothing";
    }
  }
  for (const UrlState state : {UrlState::queued, UrlState::excluded, UrlState::failed, UrlState::fetched})
    EXPECT_GT(ends[state], 100) << "the histories must end in every state";
}

TEST(MergeHistory, NothingThatWasKnownIsForgotten) {
  Random random(2);
  for (int round = 0; round < 4'000; ++round) {
    const std::vector<UrlRecord> life = life_of(random, "http://h.test/", 2 + below(random, 8));
    UrlRecord known = life.front();
    for (const UrlRecord& news : life) {
      const UrlRecord before = known;
      known = merge(known, news);
      for (const UrlRecord& part : {before, news}) {
        ASSERT_GE(rank_by_the_book(known), rank_by_the_book(part));
        ASSERT_EQ(merge(known, part), known) << "it holds all that the part knew";
        if (rank_by_the_book(known) != rank_by_the_book(part)) continue;
        ASSERT_GE(known.since, part.since);
        ASSERT_GE(known.not_before, part.not_before);
        if (known.state != UrlState::queued) continue;
        ASSERT_LE(known.depth, part.depth);
        ASSERT_LE(known.steps, part.steps);
        ASSERT_GE(known.attempts, part.attempts) << "a try that failed is not tried again for nothing";
      }
    }
  }
}

TEST(MergeHistory, HostsAnyOrderAnyPiecesDoubledIsTheLatestAndTheMost) {
  Random random(3);
  for (int round = 0; round < 4'000; ++round) {
    std::vector<HostClock> life;
    HostClock latest{Time::min(), 0, "h.test"};
    for (std::size_t i = 1 + below(random, 8); i > 0; --i) {
      life.push_back({test::at_ms(static_cast<std::int64_t>(below(random, 9))),
                      static_cast<std::uint32_t>(below(random, 4)), "h.test"});
      latest.next_allowed = std::max(latest.next_allowed, life.back().next_allowed);
      latest.failures = std::max(latest.failures, life.back().failures);
    }
    const std::vector<HostClock> copies = shuffled_and_doubled(random, life);
    HostClock known = copies.front();
    for (const HostClock& clock : copies) {
      const HostClock before = known;
      known = merge(known, clock);
      ASSERT_GE(known.next_allowed, std::max(before.next_allowed, clock.next_allowed)) << "no wait is shortened";
      ASSERT_EQ(known, merge(clock, before));
    }
    ASSERT_EQ(known, latest) << "round " << round;
  }
}

// --- through the store ----------------------------------------------------------------------------------------------

class MergeThroughStore : public test::StoreOnEachBackend {
 protected:
  // Commits in batches of random sizes, with an occasional restart.
  void apply(Random& random, std::vector<Merge> history) {
    while (!history.empty()) {
      const std::size_t size = std::min(history.size(), 1 + below(random, 12));
      test::CommitParts parts;
      parts.merges.assign(history.end() - static_cast<std::ptrdiff_t>(size), history.end());
      history.resize(history.size() - size);
      ASSERT_TRUE(store().commit(test::commit_of(parts)));
      if (below(random, 60) == 0) reopen();
    }
  }
  std::map<UrlKey, UrlRecord> all() { return test::records_of(store()); }
  std::map<std::uint16_t, std::uint64_t> roots() {
    std::map<std::uint16_t, std::uint64_t> sums;
    for (const std::uint16_t partition : store().partitions()) sums[partition] = store().root(partition);
    return sums;
  }
  void drop_all() {
    for (const std::uint16_t partition : store().partitions()) ASSERT_TRUE(*store().drop(partition, 100'000));
    ASSERT_TRUE(all().empty());
  }
};

TEST_P(MergeThroughStore, TheSameRecordsInAnyOrderAndBatchesGiveEqualRoots) {
  const bool memory = GetParam() == test::Backend::memory;
  Random random(4);
  for (int round = 0; round < (memory ? 40 : 3); ++round) {
    const std::vector<Merge> history = history_of(random, 6, 5);
    const std::map<UrlKey, UrlRecord> wanted = twin_of(history);
    std::map<std::uint16_t, std::uint64_t> sums;
    for (const auto& [key, record] : wanted) sums[key.host.partition] += record_digest(key.url, record);
    for (int order = 0; order < 4; ++order) {
      apply(random, shuffled_and_doubled(random, history));
      if (HasFatalFailure()) return;
      ASSERT_EQ(all(), wanted) << "round " << round << ", order " << order;
      ASSERT_EQ(roots(), sums);
      ASSERT_EQ(store().counts().discovered(), wanted.size());
      drop_all();
      if (HasFatalFailure()) return;
    }
  }
}

// Two sides of a cut, each with a part of the history, send each other all their records, twice and in pieces.
TEST_P(MergeThroughStore, TwoSidesThatMeetEndEqual) {
  const bool memory = GetParam() == test::Backend::memory;
  Random random(5);
  for (int round = 0; round < (memory ? 60 : 4); ++round) {
    const std::vector<Merge> history = history_of(random, 4, 4);
    MemoryKv kv;
    Store other = *Store::open(kv);
    std::vector<Merge> local;
    for (const Merge& merge : history) {
      if (below(random, 2) == 0) {
        local.push_back(merge);
      } else {
        ASSERT_TRUE(other.commit(test::commit_of({.merges = {merge}})));
      }
    }
    apply(random, local);
    if (HasFatalFailure()) return;
    // Each side sends its present records, which may already come from both.
    for (int exchange = 0; exchange < 2; ++exchange) {
      std::vector<Merge> theirs;
      for (const auto& [key, record] : test::records_of(other)) theirs.push_back({key, record});
      std::vector<Merge> ours;
      for (const auto& [key, record] : all()) ours.push_back({key, record});
      apply(random, shuffled_and_doubled(random, theirs));
      for (const Merge& merge : shuffled_and_doubled(random, ours))
        ASSERT_TRUE(other.commit(test::commit_of({.merges = {merge}})));
    }
    ASSERT_EQ(all(), twin_of(history));
    for (std::uint32_t i = 0; i < few_partitions; ++i) {
      const auto partition = static_cast<std::uint16_t>(i);
      ASSERT_EQ(store().root(partition), other.root(partition));
      ASSERT_EQ(*store().leaves(partition), *other.leaves(partition));
      ASSERT_EQ(store().counts(partition), other.counts(partition));
    }
    drop_all();
    if (HasFatalFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(Each, MergeThroughStore, testing::Values(test::Backend::memory, test::Backend::rocks),
                         test::backend_name);

// --- through a peer: the one place where hosts' records are joined with the stored ones -----------------------------

struct Robots {
  std::string origin;
  RobotsEntry entry;
};

class MergeThroughPeer : public testing::Test {
 protected:
  // Starts an empty ring of one.
  void start() {
    peer_.reset();
    store_.reset();
    kv_ = std::make_unique<MemoryKv>();
    store_.emplace(*Store::open(*kv_));
    PeerStart begin;
    begin.settings.values = default_settings();
    begin.settings.values.partitions = few_partitions;
    begin.address = "10.0.0.1:7400";
    begin.fresh_id = test::peer_id(1);
    begin.fresh_ring = test::peer_id(100);
    begin.random_seed = 1;
    auto opened = Core::open(begin, *store_, now_);
    ASSERT_TRUE(opened) << opened.error().message;
    peer_ = std::move(*opened);
  }
  // One batch from another member; true when it was acknowledged.
  bool deliver(const std::vector<std::string>& records) {
    ring::Batch batch;
    batch.sequence = ++sequence_;
    std::vector<ring::BatchRecord> list;
    for (const std::string& record : records) list.push_back({0, record});
    batch.records = std::move(list);
    batch.ring_fingerprint = peer_->ring().fingerprint();
    ring::Message message;
    message.ring = peer_->ring_id();
    message.from = test::peer_id(2);
    message.body = batch;
    Commands out;
    peer_->step(now_, MessageEvent{message, {"reply"}}, out);
    return std::any_of(out.begin(), out.end(), [&](const Command& command) {
      const auto* reply = std::get_if<ReplyMessage>(&command);
      const auto* ack = reply == nullptr ? nullptr : std::get_if<ring::BatchAck>(&reply->message.body);
      return ack != nullptr && ack->sequence == batch.sequence;
    });
  }
  std::string wire(const HostClock& clock) const {
    std::string out;
    encode_wait(clock, now_, out);
    return out;
  }
  std::string wire(const Robots& robots) const {
    std::string out;
    encode_robots(robots.origin, robots.entry, now_, out);
    return out;
  }
  static std::string wire(const Merge& merge) {
    std::string out;
    encode_record(merge.record, out);
    return out;
  }
  HostClock random_clock(Random& random, std::size_t host) const {
    const std::chrono::milliseconds wait(below(random, 9));
    return {now_ + wait, static_cast<std::uint32_t>(below(random, 4)), test::host_text(host), {}, 0, 0, wait};
  }
  // The file that one server sent at a random time: files fetched at the same time are equal.
  Robots random_robots(Random& random, std::size_t host) const {
    const auto age = static_cast<std::int64_t>(below(random, 9));
    return {"http://" + test::host_text(host),
            {now_ - std::chrono::seconds(age), now_ + std::chrono::seconds(100 - age), 1,
             "User-agent: *\nDisallow: /private/" + std::to_string(age)}};
  }

  Time now_ = test::at_ms(1'700'000'000'000);
  std::unique_ptr<MemoryKv> kv_;
  std::optional<Store> store_;
  std::unique_ptr<Core> peer_;
  std::uint64_t sequence_ = 0;
};

TEST_F(MergeThroughPeer, BatchesOfUrlsAndHostsInAnyOrderGiveWhatTheTwinSays) {
  Random random(6);
  for (int round = 0; round < 25; ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    const std::vector<Merge> history = history_of(random, 4, 3);
    std::map<HostKey, HostClock> clocks;
    std::map<HostKey, Robots> robots;
    std::vector<std::pair<std::size_t, std::string>> records;  // of which host; 0: may repeat in a batch
    for (const Merge& merge : history) records.emplace_back(0, wire(merge));
    for (std::size_t i = 0; i < 20; ++i) {
      const std::size_t host = below(random, 4);
      const HostClock clock = random_clock(random, host);
      const auto [at, first] = clocks.try_emplace(test::host_key_of(host), clock);
      if (!first) {
        at->second.next_allowed = std::max(at->second.next_allowed, clock.next_allowed);
        at->second.failures = std::max(at->second.failures, clock.failures);
        at->second.wait = std::max(at->second.wait, clock.wait);
      }
      records.emplace_back(1 + host, wire(clock));
      const Robots rules = random_robots(random, host);
      const auto [known, new_one] = robots.try_emplace(test::host_key_of(host), rules);
      if (!new_one && known->second.entry.fetched < rules.entry.fetched) known->second = rules;
      records.emplace_back(11 + host, wire(rules));
    }
    start();
    ASSERT_FALSE(HasFatalFailure());
    std::vector<std::string> batch;
    std::set<std::size_t> in_batch;
    for (const auto& [of, record] : shuffled_and_doubled(random, records)) {
      // A batch contains each row of a host once, as transfers send them.
      if (in_batch.contains(of) || batch.size() > 12) {
        ASSERT_TRUE(deliver(batch));
        batch.clear();
        in_batch.clear();
      }
      batch.push_back(record);
      if (of > 0) in_batch.insert(of);
    }
    ASSERT_TRUE(deliver(batch));
    ASSERT_EQ(test::records_of(*store_), twin_of(history));
    for (const auto& [host, clock] : clocks) ASSERT_EQ(*store_->clock(host), clock);
    for (const auto& [host, rules] : robots) ASSERT_EQ(*store_->robots(host, rules.origin), rules.entry);
  }
}

// BatchIntake::take once joined each row with the store, not with earlier rows of its batch. The last row won and a
// wait could become shorter. Transfers send a host once per batch, but a peer's bytes are outside input.
TEST_F(MergeThroughPeer, TwoRowsOfOneHostInOneBatchAreJoined) {
  start();
  const std::string host = test::host_text(1), origin = "http://" + host;
  const HostClock longer{now_ + std::chrono::seconds(9), 1, host}, shorter{now_ + std::chrono::seconds(2), 3, host};
  const Robots newer{origin, {now_ - std::chrono::seconds(1), now_ + std::chrono::seconds(9), 1, "newer"}};
  const Robots older{origin, {now_ - std::chrono::seconds(5), now_ + std::chrono::seconds(9), 1, "older"}};
  ASSERT_TRUE(deliver({wire(longer), wire(shorter), wire(newer), wire(older)}));
  EXPECT_EQ(*store_->clock(test::host_key_of(1)),
            (HostClock{longer.next_allowed, 3, host, {}, 0, 0, std::chrono::seconds(9)}));
  EXPECT_EQ((*store_->robots(test::host_key_of(1), origin))->body, "newer");
}

// Two robots.txt files fetched at the same time (by both sides of a cut, or with ages that round alike). Once the one
// that came first stayed, so the result depended on the order in which copies met.
TEST_F(MergeThroughPeer, OfTwoRobotsFetchedAtOneTimeAllPeersKeepTheSame) {
  const std::string origin = "http://" + test::host_text(1);
  const RobotsEntry one{now_ - std::chrono::seconds(1), now_ + std::chrono::seconds(9), 1, "one"};
  RobotsEntry other = one;
  other.body = "other";
  std::set<std::string> kept;
  for (const bool swapped : {false, true}) {
    start();
    ASSERT_TRUE(deliver({wire(Robots{origin, swapped ? other : one})}));
    ASSERT_TRUE(deliver({wire(Robots{origin, swapped ? one : other})}));
    kept.insert((*store_->robots(test::host_key_of(1), origin))->body);
  }
  EXPECT_EQ(kept.size(), 1u);
}

}  // namespace
}  // namespace orbweaver::storage
