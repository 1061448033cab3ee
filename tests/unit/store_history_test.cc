// Random histories of commits, failed commits and restarts against a slow obvious twin (ordered maps, all counts made
// from scratch each time).
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <random>
#include <set>
#include <tuple>
#include <variant>

#include "storage/store.h"
#include "tests/unit/crawl_keys.h"
#include "tests/unit/store_backends.h"

namespace orbweaver::storage {
namespace {

using test::below;

constexpr std::size_t hosts = 8;
constexpr std::size_t pages = 12;

struct Twin {
  // The place of a queued URL: band, depth or 0, then the commit that put it there (band 0) or its time (band 1).
  using Place = std::tuple<int, std::uint32_t, std::uint64_t>;
  std::map<UrlKey, UrlRecord> urls;
  std::map<UrlKey, Place> places;
  std::map<OutboxKey, std::string> outbox;
  // By host, then the origin of a robots.txt; "" for the clock.
  std::map<std::pair<HostKey, std::string>, std::variant<HostClock, RobotsEntry>> hosts_rows;
  std::map<std::string, std::string> meta;
  std::set<std::uint16_t> held;
  std::uint64_t commits = 0;
  QueueOrder order = QueueOrder::breadth;

  Place place_of(const UrlRecord& record) const {
    if (record.attempts > 0) return {1, 0, static_cast<std::uint64_t>(record.not_before.time_since_epoch().count())};
    if (order == QueueOrder::depth) return {0, 100'000u - record.depth, 1'000'000 - commits};
    return {0, order == QueueOrder::best ? 100'000u - record.score : record.depth, commits};
  }

  void apply(const test::CommitParts& commit, const CommitResult& result) {
    ++commits;
    std::map<UrlKey, UrlRecord> joined;  // the records of this commit, by key
    for (const Merge& merge : commit.merges) {
      const auto [at, first] = joined.try_emplace(merge.key, merge.record);
      if (!first) at->second = storage::merge(at->second, merge.record);
    }
    std::map<UrlKey, bool> queued;
    std::set<UrlKey> unqueued;
    std::map<UrlKey, UrlRecord> changed;
    std::map<UrlKey, MergeOutcome> reported;
    for (auto& [key, record] : joined) {
      const auto before = urls.find(key);
      reported[key] = before == urls.end() ? MergeOutcome::added : MergeOutcome::changed;
      const bool was_queued = before != urls.end() && before->second.state == UrlState::queued;
      if (before != urls.end()) {
        record = storage::merge(before->second, record);
        if (record == before->second) {
          reported[key] = MergeOutcome::known;
          continue;
        }
      }
      // A URL that stays queued without a change keeps its place.
      const auto stood = places.find(key);
      const bool stays = stood != places.end() && record.state == UrlState::queued && before->second.attempts == 0 &&
                         record.attempts == 0 &&
                         std::tie(before->second.depth, before->second.score, before->second.visit) ==
                             std::tie(record.depth, record.score, record.visit);
      urls[key] = changed[key] = record;
      if (!stays) places.erase(key);
      if (record.state != UrlState::queued) {
        if (was_queued) unqueued.insert(key);
        continue;
      }
      queued[key] = was_queued;
      if (!stays) places[key] = place_of(record);
    }
    for (const OutboxKey& key : commit.from_outbox) outbox.erase(key);
    ASSERT_EQ(result.outbox.size(), commit.to_outbox.size());
    for (std::size_t i = 0; i < result.outbox.size(); ++i) {
      ASSERT_EQ(result.outbox[i].key.partition, commit.to_outbox[i].first);
      ASSERT_TRUE(outbox.emplace(result.outbox[i].key, commit.to_outbox[i].second).second) << "a number twice";
    }
    for (const auto& [host, clock] : commit.clocks) hosts_rows[{host, ""}] = clock;
    for (const auto& [host, origin, robots] : commit.robots) hosts_rows[{host, origin}] = robots;
    for (const auto& [name, value] : commit.meta) meta[name] = value;
    check_result(commit, result, queued, reported);
    ASSERT_EQ(std::set<UrlKey>(result.unqueued.begin(), result.unqueued.end()), unqueued);
    ASSERT_EQ(result.unqueued.size(), unqueued.size());
    std::map<UrlKey, UrlRecord> said;
    for (const Merge& merge : result.changed) ASSERT_TRUE(said.emplace(merge.key, merge.record).second);
    ASSERT_EQ(said, changed) << "what goes to the copies";
  }

  // Like Store::drop: the first `limit` records by key, then up to `limit` rows of hosts when no record is left.
  bool drop(std::uint16_t partition, std::size_t limit) {
    std::size_t records = 0;
    for (auto at = urls.lower_bound({{partition, {}}, {}});
         at != urls.end() && at->first.host.partition == partition && records < limit; ++records) {
      places.erase(at->first);
      at = urls.erase(at);
    }
    if (records == limit) return false;
    std::size_t rows = 0;
    for (auto at = hosts_rows.lower_bound({{partition, {}}, ""});
         at != hosts_rows.end() && at->first.first.partition == partition && rows < limit; ++rows)
      at = hosts_rows.erase(at);
    return rows < limit;
  }

  static void check_result(const test::CommitParts& commit, const CommitResult& result,
                           const std::map<UrlKey, bool>& queued, std::map<UrlKey, MergeOutcome>& reported) {
    ASSERT_EQ(result.outcomes.size(), commit.merges.size());
    for (std::size_t i = 0; i < commit.merges.size(); ++i) {
      ASSERT_EQ(result.outcomes[i], reported[commit.merges[i].key]);
      reported[commit.merges[i].key] = MergeOutcome::known;  // only the first one reports the change
    }
    std::map<UrlKey, bool> said;
    for (const NewlyQueued& url : result.queued) ASSERT_TRUE(said.emplace(url.url.key, url.moved).second);
    ASSERT_EQ(said, queued);
  }

  Counts counts(const std::function<bool(std::uint16_t)>& of) const {
    Counts counts;
    for (const auto& [key, record] : urls) {
      if (!of(key.host.partition)) continue;
      if (record.state == UrlState::queued) ++counts.queued;
      if (record.state == UrlState::fetched) ++counts.fetched;
      if (record.state == UrlState::failed) ++counts.failed;
      if (record.state == UrlState::excluded) ++counts.excluded;
    }
    return counts;
  }
  Counts counts() const {
    Counts all = counts([](std::uint16_t) { return true; });
    all.outbox = outbox.size();
    return all;
  }
  Counts counts_held() const {
    Counts some = counts([&](std::uint16_t partition) { return held.contains(partition); });
    some.outbox = outbox.size();
    return some;
  }
  Leaves leaves(std::uint16_t partition) const {
    Leaves sums{};
    for (const auto& [key, record] : urls)
      if (key.host.partition == partition) sums[key.url[0]] += record_digest(key.url, record);
    return sums;
  }
};

class StoreHistoryTest : public test::StoreOnEachBackend {
 protected:
  void run(std::uint64_t seed, int steps);
  test::CommitParts random_commit();
  Merge random_merge();
  void fail_a_write(const test::CommitParts& parts);
  void hold_or_drop();
  void check_counts();
  void check_all();
  void check_queues();
  void check_hosts(std::uint16_t partition);

  std::mt19937_64 random_;
  Twin twin_;
};

Merge StoreHistoryTest::random_merge() {
  const std::size_t host = below(random_, hosts), page = below(random_, pages);
  Merge merge = test::queued_merge(host, page, static_cast<std::uint16_t>(below(random_, 5)));
  UrlRecord& record = merge.record;
  record.steps = static_cast<std::uint8_t>(below(random_, 2));
  if (twin_.order == QueueOrder::best) record.score = static_cast<std::uint16_t>(below(random_, 4) * 1'000);
  record.off_site = static_cast<std::uint8_t>(below(random_, 2));
  const std::size_t kind = below(random_, 12);
  if (kind == 0) record.state = UrlState::fetched;
  if (kind == 1) std::tie(record.state, record.reason) = std::tuple(UrlState::failed, Reason::dns);
  if (kind == 2) std::tie(record.state, record.reason) = std::tuple(UrlState::excluded, Reason::robots);
  if (kind == 3 || kind == 4) std::tie(record.state, record.reason) = std::tuple(UrlState::excluded, Reason::depth);
  if (kind == 5 || kind == 6) record.attempts = static_cast<std::uint8_t>(1 + below(random_, 3));
  if (kind <= 6)
    (kind <= 4 ? record.since : record.not_before) = test::at_ms(static_cast<std::int64_t>(below(random_, 50)));
  return merge;
}

test::CommitParts StoreHistoryTest::random_commit() {
  test::CommitParts commit;
  for (std::size_t i = below(random_, 8); i > 0; --i) commit.merges.push_back(random_merge());
  for (std::size_t i = below(random_, 3); i > 0; --i)
    commit.to_outbox.emplace_back(static_cast<std::uint16_t>(below(random_, 3)), "record " + std::to_string(random_()));
  for (const auto& [key, record] : twin_.outbox)
    if (below(random_, 4) == 0) commit.from_outbox.push_back(key);
  if (!commit.from_outbox.empty() && below(random_, 2) == 0) commit.from_outbox.push_back(commit.from_outbox.front());
  if (below(random_, 4) == 0) {
    const std::size_t host = below(random_, hosts);
    commit.clocks.emplace_back(
        test::host_key_of(host),
        HostClock{test::at_ms(static_cast<std::int64_t>(random_() % 99)), 3, test::host_text(host)});
  }
  if (below(random_, 4) == 0)
    commit.meta.emplace_back("name " + std::to_string(random_() % 3), std::to_string(random_()));
  if (below(random_, 4) == 0) {
    const std::size_t host = below(random_, hosts);
    commit.robots.emplace_back(test::host_key_of(host), "http://" + test::host_text(host),
                               RobotsEntry{.fetched = test::at_ms(static_cast<std::int64_t>(random_() % 99)),
                                           .expires = test::at_ms(100),
                                           .kind = 1,
                                           .body = std::string(below(random_, 40), 'r'),
                                           .unreachable_since = test::at_ms(static_cast<std::int64_t>(random_() % 2)),
                                           .cause = below(random_, 2) == 0 ? Reason::none : Reason::dns,
                                           .status = static_cast<std::uint16_t>(below(random_, 2) * 503)});
  }
  return commit;
}

// Every queue of every host, in order, three rows per page.
void StoreHistoryTest::check_queues() {
  std::size_t rows = 0;
  std::optional<HostKey> host;
  storage::QueuedHosts queued = store().queued_hosts();
  for (;;) {
    const auto next = queued.next(host ? &*host : nullptr);
    ASSERT_TRUE(next);
    if (!*next) break;
    host = **next;
    std::optional<Position> after;
    std::optional<Twin::Place> last;
    for (;;) {
      const auto part = store().queue_head(*host, after ? &*after : nullptr, 3);
      ASSERT_TRUE(part);
      for (const QueuedUrl& url : *part) {
        ++rows;
        const auto place = twin_.places.find(url.key);
        ASSERT_NE(place, twin_.places.end()) << url.url << " is in the queue and should not";
        ASSERT_TRUE(!last || *last <= place->second) << url.url << " is out of order";
        last = place->second;
        const UrlRecord& record = twin_.urls.at(url.key);
        ASSERT_EQ(std::tie(url.depth, url.steps, url.attempts, url.url, url.score, url.off_site),
                  std::tie(record.depth, record.steps, record.attempts, record.url, record.score, record.off_site));
        ASSERT_TRUE(!after || *after < url.position);
        after = url.position;
      }
      if (part->size() < 3) break;
    }
    ASSERT_TRUE(after) << "a host without a queue";
  }
  ASSERT_EQ(rows, twin_.places.size());
}

// The rows of the partition's hosts, two per page.
void StoreHistoryTest::check_hosts(std::uint16_t partition) {
  std::map<std::pair<HostKey, std::string>, std::variant<HostClock, RobotsEntry>> found;
  for (std::string after;;) {
    const auto part = store().hosts_of(partition, after, 2);
    ASSERT_TRUE(part) << part.error().message;
    for (const HostRow& row : *part) {
      ASSERT_EQ(row.host.partition, partition);
      ASSERT_NE(row.clock.has_value(), row.robots.has_value()) << "one of the two";
      if (row.clock) {
        ASSERT_TRUE(found.emplace(std::pair(row.host, ""), *row.clock).second);
      } else {
        ASSERT_TRUE(found.emplace(std::pair(row.host, row.origin), *row.robots).second);
      }
      after = row.row;
    }
    if (part->size() < 2) break;
  }
  std::size_t wanted = 0;
  for (const auto& [key, row] : twin_.hosts_rows) {
    if (key.first.partition != partition) continue;
    ++wanted;
    ASSERT_TRUE(found.contains(key));
    ASSERT_TRUE(found.at(key) == row);
  }
  ASSERT_EQ(found.size(), wanted);
}

void StoreHistoryTest::check_counts() {
  ASSERT_EQ(store().counts(), twin_.counts());
  ASSERT_EQ(store().held(), twin_.counts_held());
  ASSERT_EQ(store().held_records(), twin_.counts_held().discovered());
}

void StoreHistoryTest::check_all() {
  check_counts();
  if (HasFatalFailure()) return;
  std::map<UrlKey, UrlRecord> found;
  std::vector<std::uint16_t> partitions;
  std::map<OutboxKey, std::string> outbox;
  for (std::uint16_t partition = 0; partition < test::few_partitions; ++partition) {
    std::optional<UrlKey> after;
    for (;;) {
      const auto part = store().scan(partition, after ? &*after : nullptr, 5);
      ASSERT_TRUE(part) << part.error().message;
      for (const Merge& merge : *part) ASSERT_TRUE(found.emplace(merge.key, merge.record).second);
      if (part->size() < 5) break;
      after = part->back().key;
    }
    if (!found.empty() && found.rbegin()->first.host.partition == partition) partitions.push_back(partition);
    const auto entries = store().outbox_of(partition, 0, 1'000'000);
    ASSERT_TRUE(entries);
    for (const OutboxEntry& entry : *entries) outbox.emplace(entry.key, entry.record);
    const auto leaves = store().leaves(partition);
    ASSERT_TRUE(leaves);
    ASSERT_EQ(*leaves, twin_.leaves(partition)) << "partition " << partition;
    ASSERT_EQ(store().root(partition), std::accumulate(leaves->begin(), leaves->end(), std::uint64_t{0}));
    ASSERT_EQ(store().counts(partition), twin_.counts([&](std::uint16_t other) { return other == partition; }));
    check_hosts(partition);
    if (HasFatalFailure()) return;
  }
  ASSERT_EQ(found, twin_.urls);
  ASSERT_EQ(store().partitions(), partitions);
  ASSERT_EQ(outbox, twin_.outbox);
  ASSERT_EQ(test::rows_of(kv(), Table::frontier).size(), twin_.places.size()) << "rows that nobody will find";
  for (const auto& [key, row] : twin_.hosts_rows) {
    if (const auto* clock = std::get_if<HostClock>(&row)) {
      ASSERT_EQ(*store().clock(key.first), *clock);
    } else {
      ASSERT_EQ(*store().robots(key.first, key.second), std::get<RobotsEntry>(row));
    }
  }
  ASSERT_EQ(test::rows_of(kv(), Table::hosts).size(), twin_.hosts_rows.size());
  for (const auto& [name, value] : twin_.meta) ASSERT_EQ(*store().meta(name), value);
  for (const auto& [key, record] : twin_.urls) {
    const auto one = store().find(key);
    ASSERT_TRUE(one && *one);
    ASSERT_EQ((*one)->state, record.state);
    ASSERT_EQ((*one)->depth, record.depth);
    ASSERT_EQ(std::tie((*one)->since, (*one)->not_before), std::tie(record.since, record.not_before));
  }
  check_queues();
}

// A write that fails changes nothing, neither on disk nor in the sums.
void StoreHistoryTest::fail_a_write(const test::CommitParts& parts) {
  memory()->fail_after(0, ErrorKind::disk_full);
  if (const auto failed = store().commit(commit_of(parts)); !failed) {
    ASSERT_EQ(failed.error().kind, ErrorKind::disk_full);
  } else {
    // Only a commit that has nothing to write may succeed.
    ASSERT_TRUE(failed->changed.empty() && failed->outbox.empty());
    ASSERT_TRUE(parts.from_outbox.empty() && parts.clocks.empty() && parts.robots.empty() && parts.meta.empty());
  }
  const auto partition = static_cast<std::uint16_t>(below(random_, test::few_partitions));
  if (const auto failed = store().drop(partition, 1 + below(random_, 9)); !failed) {
    ASSERT_EQ(failed.error().kind, ErrorKind::disk_full);
  } else {
    ASSERT_TRUE(*failed);
    ASSERT_EQ(store().counts(partition), Counts{}) << "there was nothing to drop";
  }
  memory()->heal();
  check_all();
}

void StoreHistoryTest::hold_or_drop() {
  const auto partition = static_cast<std::uint16_t>(below(random_, test::few_partitions));
  if (below(random_, 3) == 0) {
    const bool held = below(random_, 2) == 0;
    store().hold(partition, held);
    if (held) {
      twin_.held.insert(partition);
    } else {
      twin_.held.erase(partition);
    }
  }
  for (std::size_t limit = 1 + below(random_, 9); below(random_, 6) == 0;) {
    const auto dropped = store().drop(partition, limit);
    ASSERT_TRUE(dropped) << dropped.error().message;
    ASSERT_EQ(*dropped, twin_.drop(partition, limit));
  }
}

void StoreHistoryTest::run(std::uint64_t seed, int steps) {
  SCOPED_TRACE("seed " + std::to_string(seed));
  random_.seed(seed);
  for (int step = 0; step < steps; ++step) {
    SCOPED_TRACE("step " + std::to_string(step));
    const test::CommitParts parts = random_commit();
    if (memory() != nullptr && below(random_, 5) == 0) fail_a_write(parts);
    if (HasFatalFailure()) return;
    const auto result = store().commit(commit_of(parts));
    ASSERT_TRUE(result) << result.error().message;
    twin_.apply(parts, *result);
    if (HasFatalFailure()) return;
    hold_or_drop();
    if (HasFatalFailure()) return;
    check_counts();
    if (HasFatalFailure()) return;
    if (below(random_, 40) == 0) {
      reopen();
      store().set_order(twin_.order);
      twin_.held.clear();  // not stored on disk
      check_counts();
    }
    if (below(random_, 10) == 0) check_all();
    if (HasFatalFailure()) return;
  }
  reopen();
  twin_.held.clear();
  check_all();
}

TEST_P(StoreHistoryTest, CountsRecordsAndQueuesAreWhatAFullScanFinds) {
  const bool memory = GetParam() == test::Backend::memory;
  for (const QueueOrder order : {QueueOrder::breadth, QueueOrder::depth, QueueOrder::best}) {
    SCOPED_TRACE("order " + std::to_string(static_cast<int>(order)));
    for (std::uint64_t seed = 1; seed <= (memory ? 15 : 1); ++seed) {
      twin_.order = order;
      store().set_order(order);
      run(seed, memory ? 400 : 600);
      if (HasFatalFailure()) return;
      if (!memory) break;
      twin_ = {};
      replace();
    }
    if (!memory) break;  // the orders do not differ in their disk access
  }
}

INSTANTIATE_TEST_SUITE_P(Each, StoreHistoryTest, testing::Values(test::Backend::memory, test::Backend::rocks),
                         test::backend_name);

}  // namespace
}  // namespace orbweaver::storage
