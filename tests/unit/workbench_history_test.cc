// Random histories of the workbench over a store, with retries, exclusions, robots turns, partitions that change,
// outcomes from other peers and restarts. Every queued URL is issued exactly once for each of its tries, never two
// requests to a host at a time, never too early, always the first of its host's queue.
#include <gtest/gtest.h>

#include <array>
#include <map>
#include <random>
#include <set>

#include "node/frontier/workbench.h"
#include "storage/memory_kv.h"
#include "tests/unit/crawl_keys.h"

namespace orbweaver {
namespace {

using std::chrono::milliseconds;
using storage::HostKey;
using storage::QueuedUrl;
using storage::Reason;
using storage::UrlState;
using test::below;

struct Shape {
  std::size_t max_hosts;
  std::size_t max_head;
  std::size_t hosts;
  std::int64_t delay_ms;
  storage::QueueOrder order = storage::QueueOrder::breadth;
  std::int64_t long_wait_ms = 10'000;
};

class History {
 public:
  History(std::uint64_t seed, const Shape& shape) : random_(seed), shape_(shape), store_(*storage::Store::open(kv_)) {
    store_.set_order(shape.order);
    start();
  }
  void run();

 private:
  void start() {
    const bool best = shape_.order == storage::QueueOrder::best;
    Workbench::Config config{shape_.max_hosts, shape_.max_head, best};
    config.long_wait = milliseconds(shape_.long_wait_ms);
    config.max_waiting_bytes = shape_.hosts / 2 * WaitingHosts::host_bytes;
    bench_.emplace(config, store_, [this](std::uint16_t partition) { return !foreign_.contains(partition); });
    bench_->set_earliest([this](std::uint16_t partition, std::string_view) { return earliest_of(partition); });
  }
  Time earliest_of(std::uint16_t partition) const {
    const auto since = since_.find(partition);
    return std::max(restarted_, since == since_.end() ? Time{} : since->second);
  }
  // When a host that is not in memory may be asked, by the store and the return of its partition.
  Time allowed_on_disk(const HostKey& host) {
    const auto clock = store_.clock(host);
    EXPECT_TRUE(clock);
    return std::max(*clock ? (*clock)->next_allowed : Time{}, earliest_of(host.partition));
  }
  void commit(const test::CommitParts& parts) {
    const auto result = store_.commit(test::commit_of(parts));
    ASSERT_TRUE(result);
    for (const storage::NewlyQueued& queued : result->queued) {
      const std::string rest = queued.url.url.substr(7);
      bench_->admit(queued.url, rest.substr(0, rest.find('/')), queued.moved);
    }
    for (const storage::UrlKey& key : result->unqueued) bench_->withdraw(key);
  }
  void admit_some();
  void take_some();
  void serve(BenchHost& host);
  void exclude_some(BenchHost& host);
  void end_a_fetch();
  void commit_an_outcome();
  void turn_partitions();
  void learn_an_outcome();
  void restart();
  void check_bounds();

  std::mt19937_64 random_;
  Shape shape_;
  storage::MemoryKv kv_;
  storage::Store store_;
  std::optional<Workbench> bench_;
  std::set<std::uint16_t> foreign_;
  Time restarted_{};
  std::map<std::uint16_t, Time> since_;  // the earliest time for the hosts of a partition that came back
  Time now_ = test::at_ms(1'000'000);
  bool calm_ = false;
  std::uint64_t requests_ = 0;

  std::map<HostKey, Time> allowed_;                // when each host may next be asked
  std::map<HostKey, QueuedUrl> fetching_;          // one at a time
  std::vector<QueuedUrl> ended_;                   // whose outcome is not committed yet
  std::map<storage::UrlKey, std::uint8_t> tries_;  // committed, by URL
  std::map<storage::UrlKey, UrlState> state_;      // as the model expects it
  std::set<storage::UrlKey> elsewhere_;            // fetched by another peer
  std::map<storage::UrlKey, std::pair<std::size_t, std::size_t>> name_;
};

void History::admit_some() {
  test::CommitParts parts;
  for (std::size_t i = below(random_, 12); i > 0; --i) {
    // Some hosts have most of the pages.
    const std::size_t host = std::min(below(random_, shape_.hosts), below(random_, shape_.hosts));
    const std::size_t page = below(random_, 40);
    storage::Merge merge = test::queued_merge(host, page, static_cast<std::uint16_t>(below(random_, 6)));
    merge.record.steps = static_cast<std::uint8_t>(below(random_, 2));
    if (shape_.order == storage::QueueOrder::best)
      merge.record.score = static_cast<std::uint16_t>(below(random_, 50) * below(random_, 50));
    state_.emplace(merge.key, UrlState::queued);
    name_[merge.key] = {host, page};
    parts.merges.push_back(merge);
  }
  commit(parts);
}

void History::exclude_some(BenchHost& host) {
  test::CommitParts parts;
  while (!host.head.empty() && host.head.front().position.untried() != nullptr && below(random_, 3) > 0) {
    const QueuedUrl url = bench_->discard(host);
    storage::UrlRecord record;
    record.state = UrlState::excluded;
    record.reason = Reason::robots;
    record.url = url.url;
    parts.merges.push_back({url.key, record});
    ASSERT_EQ(state_.at(url.key), UrlState::queued);
    state_[url.key] = UrlState::excluded;
  }
  bench_->release(host, host.next_allowed);
  commit(parts);
}

void History::serve(BenchHost& host) {
  const HostKey key = host.key;
  ASSERT_FALSE(foreign_.contains(key.partition)) << "another peer's host";
  ASSERT_FALSE(fetching_.contains(key)) << "two requests to a host at a time";
  ASSERT_TRUE(host.busy);
  ASSERT_GE(now_, allowed_[key]) << "before its time";
  ASSERT_FALSE(host.head.empty());
  const std::size_t kind = below(random_, calm_ ? 1 : 8);
  if (kind == 7) return exclude_some(host);
  if (kind == 6) {  // its robots.txt was requested, without an answer; the clock is stored (RobotsDesk::finish)
    allowed_[key] = now_ + milliseconds(shape_.delay_ms * 3);
    const std::string name = test::host_text(name_.at(host.head.front().key).first);
    if (shape_.delay_ms > 0) commit({.clocks = {{key, {allowed_[key], 0, name}}}});
    bench_->release(host, allowed_[key]);
    return;
  }
  const QueuedUrl url = bench_->issue(host);
  ASSERT_LE(url.position.not_before(), now_) << "a retry before it is due";
  ASSERT_EQ(state_.at(url.key), UrlState::queued) << url.url << " is done with, or issued twice";
  ASSERT_EQ(url.attempts, tries_[url.key]) << url.url << " as it was before its last try";
  state_[url.key] = UrlState::fetched;  // until its outcome says otherwise
  // In every order, nothing comes before it in the store's queue of this host, except issued URLs.
  const auto queue = store_.queue_head(key, nullptr, 1'000);
  ASSERT_TRUE(queue);
  for (const QueuedUrl& other : *queue) {
    if (other.key == url.key) {
      ASSERT_EQ(other.position, url.position) << "a place that it no longer has";
      break;
    }
    ASSERT_TRUE(bench_->is_issued(other.key.url)) << other.url << " stands before " << url.url;
  }
  fetching_[key] = url;
  ++requests_;
}

void History::take_some() {
  for (std::size_t i = 1 + below(random_, 4); i > 0; --i) {
    const auto host = bench_->take(now_);
    ASSERT_TRUE(host);
    if (*host == nullptr) return;
    serve(**host);
    if (testing::Test::HasFatalFailure()) return;
  }
}

void History::end_a_fetch() {
  if (fetching_.empty()) return;
  const auto at = std::next(fetching_.begin(), static_cast<std::ptrdiff_t>(below(random_, fetching_.size())));
  BenchHost* host = bench_->find(at->first);
  ASSERT_NE(host, nullptr) << "a host with a fetch under way is kept";
  allowed_[at->first] = now_ + milliseconds(shape_.delay_ms);
  ended_.push_back(at->second);
  fetching_.erase(at);
  bench_->release(*host, now_ + milliseconds(shape_.delay_ms));
}

void History::commit_an_outcome() {
  if (ended_.empty()) return;
  std::swap(ended_[below(random_, ended_.size())], ended_.back());
  const QueuedUrl url = ended_.back();
  ended_.pop_back();
  storage::UrlRecord record;
  record.url = url.url;
  record.depth = url.depth;
  record.steps = url.steps;
  record.attempts = url.attempts;
  if (url.attempts < 3 && below(random_, 4) == 0) {
    record.attempts = ++tries_[url.key];
    record.not_before = now_ + milliseconds(below(random_, 5'000));
    state_[url.key] = UrlState::queued;
  } else {
    record.state = below(random_, 5) == 0 ? UrlState::failed : UrlState::fetched;
    state_[url.key] = record.state;
  }
  if (elsewhere_.contains(url.key)) state_[url.key] = UrlState::fetched;
  test::CommitParts parts;
  parts.merges = {{url.key, record}};
  if (allowed_[url.key.host] > now_)
    parts.clocks = {{url.key.host, {allowed_[url.key.host], 0, test::host_text(name_.at(url.key).first)}}};
  bench_->committed(url.key);
  commit(parts);
}

// Partitions stop being fetched, with a report (another peer's) or without (a hand-off begins); the end of that is
// always reported. Some were another peer's meanwhile: their hosts wait for the delay first.
void History::turn_partitions() {
  std::vector<std::uint16_t> reported;
  for (std::uint16_t partition = 0; partition < test::few_partitions; ++partition) {
    const bool was = foreign_.contains(partition);
    const bool is = !calm_ && below(random_, 4) == 0;
    if (is && !was) {
      foreign_.insert(partition);
      if (below(random_, 2) == 0) reported.push_back(partition);
    } else if (was && !is) {
      foreign_.erase(partition);
      reported.push_back(partition);
      if (below(random_, 2) == 0) since_[partition] = now_ + milliseconds(shape_.delay_ms);
      for (auto& [host, allowed] : allowed_)
        if (host.partition == partition) allowed = std::max(allowed, allowed_on_disk(host));
    }
  }
  bench_->fetchability_changed(reported);
}

// A copy or a batch reports that some URLs are done.
void History::learn_an_outcome() {
  test::CommitParts parts;
  for (std::size_t i = 1 + below(random_, 3); i > 0 && !state_.empty(); --i) {
    const auto at = std::next(state_.begin(), static_cast<std::ptrdiff_t>(below(random_, state_.size())));
    const auto [host, page] = name_.at(at->first);
    storage::Merge merge = test::queued_merge(host, page);
    merge.record.state = UrlState::fetched;
    at->second = UrlState::fetched;
    elsewhere_.insert(at->first);
    parts.merges.push_back(merge);
  }
  commit(parts);
}

// kill -9: memory is lost; URLs in flight are still queued.
void History::restart() {
  for (const auto& [host, url] : fetching_) ended_.push_back(url);
  for (const QueuedUrl& url : ended_)
    if (!elsewhere_.contains(url.key)) state_[url.key] = UrlState::queued;
  fetching_.clear();
  ended_.clear();
  restarted_ = now_ + milliseconds(shape_.delay_ms);
  start();
  for (auto& [host, allowed] : allowed_) allowed = allowed_on_disk(host);
}

void History::check_bounds() {
  ASSERT_LE(bench_->hosts(), shape_.max_hosts);
  ASSERT_EQ(bench_->issued(), fetching_.size() + ended_.size());
  std::set<std::uint16_t> busy;
  for (const auto& [host, url] : fetching_) busy.insert(host.partition);
  for (const QueuedUrl& url : ended_) busy.insert(url.key.host.partition);
  for (std::uint16_t partition = 0; partition < test::few_partitions; ++partition)
    ASSERT_EQ(bench_->partition_busy(partition), busy.contains(partition));
  for (auto& [host, allowed] : allowed_) {
    if (const BenchHost* found = bench_->find(host)) {
      ASSERT_LE(found->head.size(), 2 * shape_.max_head);
    } else if (foreign_.contains(host.partition)) {
      // Of a host that left, only its stored clock is remembered, which goes with the partition.
      allowed = std::min(allowed, allowed_on_disk(host));
    }
  }
}

void History::run() {
  for (int step = 0; step < 1'500; ++step) {
    SCOPED_TRACE("step " + std::to_string(step));
    switch (below(random_, 16)) {
      case 0:
      case 1:
      case 2:
        admit_some();
        break;
      case 3:
      case 4:
      case 5:
      case 6:
      case 7:
        take_some();
        break;
      case 8:
      case 9:
      case 10:
        end_a_fetch();
        break;
      case 11:
      case 12:
      case 13:
        commit_an_outcome();
        break;
      case 14:
        now_ += milliseconds(below(random_, 3'000));
        break;
      default:
        if (below(random_, 12) == 0) turn_partitions();
        if (below(random_, 40) == 0) restart();
        if (below(random_, 4) == 0) learn_an_outcome();
    }
    if (testing::Test::HasFatalFailure()) return;
    check_bounds();
    if (testing::Test::HasFatalFailure()) return;
  }
  // No more links come and all partitions are this peer's: the queue empties, with few idle calls for each URL.
  calm_ = true;
  turn_partitions();
  int idle = 0;
  for (int turn = 0; turn < 200'000 && (store_.counts().queued > 0 || !ended_.empty()); ++turn) {
    const std::uint64_t before = requests_;
    take_some();
    end_a_fetch();
    commit_an_outcome();
    if (testing::Test::HasFatalFailure()) return;
    check_bounds();
    if (testing::Test::HasFatalFailure()) return;
    if (requests_ > before || bench_->issued() > 0 || store_.counts().queued == 0) {
      idle = 0;
      continue;
    }
    const auto deadline = bench_->next_deadline();
    ASSERT_TRUE(deadline) << "asleep with " << store_.counts().queued << " URLs queued";
    if (*deadline > now_) now_ = *deadline;
    ASSERT_LT(++idle, 50) << "awake and does nothing";
  }
  ASSERT_EQ(store_.counts().queued, 0u);
  for (const auto& [key, state] : state_) {
    const auto found = store_.find(key);
    ASSERT_TRUE(found && *found);
    ASSERT_EQ((*found)->state, state);
    ASSERT_NE(state, UrlState::queued);
  }
  ASSERT_EQ(bench_->issued(), 0u);
}

std::string order_name(storage::QueueOrder order) {
  constexpr std::array<const char*, 3> names = {"", "Depth", "Best"};
  return names[static_cast<std::size_t>(order)];
}

class WorkbenchHistory : public testing::TestWithParam<Shape> {};

void PrintTo(const Shape& shape, std::ostream* out) {
  *out << shape.hosts << " hosts, " << shape.max_hosts << " of them in memory with " << shape.max_head
       << " URLs, delay " << shape.delay_ms << " ms, long is " << shape.long_wait_ms << " ms, order "
       << static_cast<int>(shape.order);
}

TEST_P(WorkbenchHistory, Contract123_EachTryOnceInOrderAndPolitely) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    History(seed, GetParam()).run();
    if (HasFatalFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, WorkbenchHistory,
    testing::Values(Shape{100, 8, 10, 1'000}, Shape{100, 2, 3, 0}, Shape{3, 2, 20, 1'000}, Shape{1, 1, 5, 500},
                    Shape{2, 4, 30, 0}, Shape{6, 3, 8, 100}, Shape{100, 2, 10, 0, storage::QueueOrder::depth},
                    Shape{3, 2, 20, 1'000, storage::QueueOrder::depth}, Shape{100, 2, 10, 0, storage::QueueOrder::best},
                    Shape{100, 8, 10, 1'000, storage::QueueOrder::best},
                    Shape{3, 2, 20, 500, storage::QueueOrder::best}, Shape{1, 1, 5, 100, storage::QueueOrder::best},
                    Shape{3, 2, 20, 1'000, storage::QueueOrder::breadth, 500},
                    Shape{1, 1, 9, 500, storage::QueueOrder::breadth, 1},
                    Shape{2, 4, 30, 300, storage::QueueOrder::best, 200}),
    [](const testing::TestParamInfo<Shape>& shape) {
      return std::to_string(shape.param.hosts) + "Hosts" + std::to_string(shape.param.max_hosts) + "InMemory" +
             std::to_string(shape.param.max_head) + "Urls" + std::to_string(shape.param.delay_ms) + "Ms" +
             order_name(shape.param.order) + "Long" + std::to_string(shape.param.long_wait_ms);
    });

}  // namespace
}  // namespace orbweaver
