// What recovery sends has a bound, in records, messages and bytes (contract, 3). A partition's records go to another
// peer in passes: one to fill a copy, return or hand over, some more when what was held back may leave, when a copy is
// repaired, or when the other peer refuses. Nothing is compared or sent again sooner than the waits between allow.
// Counted from the last change: of the partition's tenure, of the ring as the sender sees it, of either process. Once
// the faults are over, and while no peer comes or goes and no owner changes, all peers together send so many messages
// and bytes at most. Links, copies of new writes, probes, waves and slots are no part of it. An answer about tenures
// has only rows of ranges in which the two peers differ.
#include <algorithm>
#include <map>

#include "node/settings/units.h"
#include "ring/codec.h"
#include "tests/sim/checkers/checkers.h"
#include "tests/sim/world.h"

namespace orbweaver::sim {

namespace {

// Pages that were held back leave at most once in a second (copied_until.h); a copy is repaired less often. At first: a
// fill, the same with what the other peer asked for, a return, and again when all is settled.
constexpr std::uint64_t first_passes = 8;
constexpr Duration pass_every{std::chrono::seconds{1}};
// Each of these four compares roots, leaves, and roots again. "Not now" is asked again after 300 ms (transfers.cc), a
// question without an answer after a second.
constexpr std::uint64_t first_comparisons = 12;
constexpr Duration compare_every{std::chrono::milliseconds{200}};
// From one peer to another, besides records: questions whose answer was "not now", and tables of tenures that differ,
// each at most once in 200 ms, with their answers; what is ready at different times goes in messages of its own.
constexpr std::uint64_t first_messages = 50;
constexpr Duration message_every{std::chrono::milliseconds{50}};
// Of a message without records, of each partition or tenure in it, of leaves (ring::max_leaves), of a record.
constexpr std::uint64_t message_bytes = 1024;
constexpr std::uint64_t row_bytes = 64;
constexpr std::uint64_t leaves_bytes = 4096;
constexpr std::uint64_t record_bytes = 512;
constexpr std::uint64_t large_bytes = 64 << 10;  // a robots.txt file of the web

std::uint64_t count_of(Duration time, Duration every) { return static_cast<std::uint64_t>(time / every); }

class Moves final : public Checker {
 public:
  std::string_view name() const override { return "moves"; }

  void message_sent(World& world, std::size_t from, std::size_t to, const ring::Message& message) override {
    if (world.peers()[from].core == nullptr) return;
    if (const auto* batch = std::get_if<ring::Batch>(&message.body)) {
      if (batch->kind != ring::BatchKind::transfer) return;
      std::uint64_t& last = last_sent_[{from, world.peers()[from].generation, to}];
      const bool again = batch->sequence <= last;  // there was no answer
      last = std::max(last, batch->sequence);
      std::map<ring::Partition, std::uint64_t> records;
      for (const ring::BatchRecord& record : batch->records) ++records[record.partition];
      if (!again)
        for (const auto& [partition, more] : records) sent(world, {from, to, partition}, more);
    }
    if (const auto* roots = std::get_if<ring::Roots>(&message.body))
      for (const ring::PartitionDigest& root : roots->roots) compared(world, {from, to, root.partition});
    if (const auto* leaves = std::get_if<ring::Leaves>(&message.body)) compared(world, {from, to, leaves->partition});
    if (const auto* answer = std::get_if<ring::TenuresCompared>(&message.body)) {
      const std::size_t most = std::exchange(rows_asked_[{to, from}], 0);
      if (answer->tenures.size() > most)
        world.fail(name(), "peer " + std::to_string(from) + " answers with " + std::to_string(answer->tenures.size()) +
                               " tenures, at most " + std::to_string(most) + " may differ");
    }
    if (world.faults_over()) count(world, message);
  }

  void message_arrived(World& world, std::size_t from, std::size_t to, const ring::Message& message) override {
    if (const auto* question = std::get_if<ring::CompareTenures>(&message.body))
      rows_asked_[{from, to}] = rows_that_may_differ(world.peers()[to], *question);
    const auto* refused = std::get_if<ring::BatchRefused>(&message.body);
    if (refused != nullptr && !refused->no_room()) ++refused_[{to, from}];
  }

  void stepped(World& world, std::size_t) override {
    std::vector<std::pair<Status, std::uint64_t>> there;
    for (const SimPeer& peer : world.peers()) there.emplace_back(peer.status, peer.generation);
    if (there == there_) return;
    there_ = std::move(there);
    calm_ = Calm{.since = world.now()};
  }
  void owners_changed(World& world, std::size_t) override { calm_ = Calm{.since = world.now()}; }

 private:
  struct Way {
    std::size_t from = 0;
    std::size_t to = 0;
    ring::Partition partition = 0;
    auto operator<=>(const Way&) const = default;
  };
  // Since the last change.
  struct Passes {
    std::uint64_t generations = 0;  // of both processes
    std::uint64_t ring = 0;
    ring::Tenure tenure;
    Time since{};
    std::uint64_t refused = 0;  // batches, before
    std::uint64_t records = 0;
    std::uint64_t had = 0;  // records at most: a partition that was dropped may have fewer now
    std::uint64_t comparisons = 0;
  };
  // Since the ring is calm: what all peers sent.
  struct Calm {
    Time since{};
    std::uint64_t messages = 0;  // without records
    std::uint64_t leaves = 0;    // of these
    std::uint64_t rows = 0;      // in these: partitions and tenures
    std::uint64_t batches = 0;
    std::uint64_t records = 0;
    std::uint64_t large = 0;  // of these
    std::uint64_t bytes = 0;
  };

  static std::size_t rows_that_may_differ(const SimPeer& asked, const ring::CompareTenures& question) {
    if (asked.core == nullptr) return 0;
    const ring::Tenures& tenures = asked.core->tenures();
    std::size_t ranges = 0;
    for (std::size_t range = 0; range < question.sums.size() && range < tenures.sums().size(); ++range)
      if (question.sums[range] != tenures.sums()[range]) ++ranges;
    return ranges * tenures.partitions_a_range();
  }

  Passes& passes(World& world, const Way& way) {
    const SimPeer& sender = world.peers()[way.from];
    const std::uint64_t generations = sender.generation + world.peers()[way.to].generation;
    const ring::Tenure tenure = sender.core->tenures().of(way.partition);
    Passes& now = passes_[way];
    if (now.since == Time{} || now.generations != generations || now.ring != sender.ring || now.tenure != tenure)
      now = {.generations = generations,
             .ring = sender.ring,
             .tenure = tenure,
             .since = world.now(),
             .refused = refused_[{way.from, way.to}]};
    return now;
  }

  // Records, rows of its hosts, and since when the sender does not know their last requests.
  static std::uint64_t records_of(storage::Store& store, ring::Partition partition) {
    std::uint64_t records = store.counts(partition).discovered() + 1;
    constexpr std::size_t limit = 256;
    std::string after;
    for (bool more = true; more;) {
      const auto hosts = store.hosts_of(partition, after, limit);
      if (!hosts) return UINT64_MAX / UINT32_MAX;  // the disk fails, and the peer ends
      records += hosts->size();
      more = hosts->size() == limit;
      if (more) after = hosts->back().row;
    }
    return records;
  }

  void sent(World& world, const Way& way, std::uint64_t more) {
    Passes& now = passes(world, way);
    now.records += more;
    const Duration lasts = world.now() - now.since;
    const std::uint64_t most = first_passes + count_of(lasts, pass_every) + refused_[{way.from, way.to}] - now.refused;
    storage::Store& store = *world.peers()[way.from].store;
    now.had = std::max(now.had, store.counts(way.partition).discovered());
    if (now.records <= most * now.had) return;
    now.had = std::max(now.had, records_of(store, way.partition));
    if (now.records > most * now.had)
      world.fail(name(), told(way) + " was sent " + std::to_string(now.records) + " records in " +
                             duration_text(lasts) + ", and had at most " + std::to_string(now.had));
  }

  void compared(World& world, const Way& way) {
    Passes& now = passes(world, way);
    ++now.comparisons;
    const Duration lasts = world.now() - now.since;
    if (now.comparisons > first_comparisons + count_of(lasts, compare_every))
      world.fail(name(),
                 told(way) + " was compared " + std::to_string(now.comparisons) + " times in " + duration_text(lasts));
  }

  static std::string told(const Way& way) {
    return "partition " + std::to_string(way.partition) + " of peer " + std::to_string(way.from) + " for peer " +
           std::to_string(way.to);
  }

  void count(World& world, const ring::Message& message) {
    const bool counts = std::visit(
        [this](const auto& body) {
          using Body = std::decay_t<decltype(body)>;
          if constexpr (std::is_same_v<Body, ring::Batch>) {
            ++calm_.batches;
            calm_.records += body.records.size();
            for (const ring::BatchRecord& record : body.records) calm_.large += record.record.size() > record_bytes;
            calm_.rows += body.tenures.size();
            return true;
          } else if constexpr (std::is_same_v<Body, ring::Leaves> || std::is_same_v<Body, ring::LeavesDiffer>) {
            ++calm_.leaves;
          } else if constexpr (std::is_same_v<Body, ring::Roots> || std::is_same_v<Body, ring::RecordsKnown>) {
            calm_.rows += body.roots.size();
          } else if constexpr (std::is_same_v<Body, ring::RootsCompared>) {
            calm_.rows += body.differ.size() + body.later.size() + body.tenures.size();
          } else if constexpr (std::is_same_v<Body, ring::CompareTenures>) {
            calm_.rows += body.sums.size() + body.members.size();
          } else if constexpr (std::is_same_v<Body, ring::TenuresCompared>) {
            calm_.rows += body.tenures.size() + 2 * body.members.size();
          } else if constexpr (std::is_same_v<Body, ring::AskRecords>) {
            calm_.rows += body.tenures.size() + 2 * body.members.size();
          } else if constexpr (std::is_same_v<Body, ring::Sync>) {
            if (body.tenures.empty()) return false;
            calm_.rows += body.tenures.size();
          } else {
            return false;
          }
          ++calm_.messages;
          return true;
        },
        message.body);
    if (!counts) return;
    calm_.bytes += ring::encode(message).size();
    judge(world);
  }

  // A hand-over or take-over is told to all, and each partition is compared with its copies.
  void judge(World& world) {
    const Settings& settings = world.parameters().settings;
    const std::uint64_t peers = world.peers().size();
    const Duration lasts = world.now() - calm_.since;
    // A question whose answer is late is asked again.
    const auto asked = static_cast<std::uint64_t>(1 + world.parameters().max_answer_lag / settings.batch_timeout);
    const std::uint64_t messages = peers * peers * (first_messages + count_of(lasts, message_every)) +
                                   asked * settings.partitions * (peers + 4 * settings.replicas);
    if (calm_.messages > messages)
      world.fail(name(), std::to_string(calm_.messages) + " messages to recover in " + duration_text(lasts) +
                             ", at most " + std::to_string(messages));
    const std::uint64_t bytes = message_bytes * (calm_.messages + calm_.batches) + leaves_bytes * calm_.leaves +
                                row_bytes * calm_.rows + record_bytes * calm_.records + large_bytes * calm_.large;
    if (calm_.bytes > bytes)
      world.fail(name(), std::to_string(calm_.bytes) + " bytes to recover, at most " + std::to_string(bytes));
  }

  std::map<std::tuple<std::size_t, std::uint64_t, std::size_t>, std::uint64_t> last_sent_;  // sequence
  std::map<Way, Passes> passes_;
  std::map<std::pair<std::size_t, std::size_t>, std::uint64_t> refused_;   // by the batch's sender and receiver
  std::map<std::pair<std::size_t, std::size_t>, std::size_t> rows_asked_;  // by who asks and who is asked
  std::vector<std::pair<Status, std::uint64_t>> there_;
  Calm calm_;
};

}  // namespace

std::unique_ptr<Checker> make_moves() { return std::make_unique<Moves>(); }

}  // namespace orbweaver::sim
