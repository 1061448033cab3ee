// What recovery sends has a bound (contract, 3). A partition's records go to another peer in passes: one to fill, return
// or hand over, some more when what was held back may leave (copied_until.h), when a copy is repaired, or when the other
// one refuses. Sooner than that nothing is sent, or compared, again. Counted from the last change: of the partition's
// holder, of the ring as the sender sees it, of either process.
#include <algorithm>
#include <map>

#include "ring/codec.h"
#include "tests/sim/checkers/checkers.h"
#include "tests/sim/world.h"

namespace orbweaver::sim {

namespace {

struct DebugMoves {
  std::map<std::string, std::pair<double, std::string>> max;
  ~DebugMoves() {
    for (auto& [n, m] : max) fprintf(stderr, "MOVES %-20s %.2f %s\n", n.c_str(), m.first, m.second.c_str());
  }
  void note(const std::string& n, double v, const std::string& s) {
    if (v > max[n].first) max[n] = {v, s};
  }
} debug;

double seconds(Duration d) { return std::chrono::duration<double>(d).count(); }

class Moves final : public Checker {
 public:
  std::string_view name() const override { return "moves"; }

  void message_sent(World& world, std::size_t from, std::size_t to, const ring::Message& message) override {
    if (world.peers()[from].core == nullptr) return;
    if (const auto* batch = std::get_if<ring::Batch>(&message.body);
        batch != nullptr && batch->kind == ring::BatchKind::transfer) {
      std::uint64_t& last = last_sent_[{from, world.peers()[from].generation, to}];
      if (batch->sequence <= last) return;  // sent again, without an answer
      last = batch->sequence;
      std::map<ring::Partition, std::uint64_t> rows;
      for (const ring::BatchRecord& record : batch->records) ++rows[record.partition];
      for (const auto& [partition, more] : rows) sent_rows(world, from, to, partition, more);
    }
    if (const auto* roots = std::get_if<ring::Roots>(&message.body))
      for (const ring::PartitionDigest& root : roots->roots) compared(world, from, to, root.partition);
    count(world, from, to, message);
  }

  void message_arrived(World&, std::size_t from, std::size_t to, const ring::Message& message) override {
    const auto* refused = std::get_if<ring::BatchRefused>(&message.body);
    if (refused != nullptr && !refused->no_room()) ++refused_[{to, from}];
  }

  void stepped(World& world, std::size_t) override { note_who_is_there(world); }
  void owners_changed(World& world, std::size_t) override { begin_window(world); }
  void ended(World& world) override { begin_window(world); }

 private:
  struct Passes {
    std::uint64_t generations = 0;  // of both processes
    std::uint64_t ring = 0;
    ring::Tenure tenure;
    std::uint64_t refused = 0;  // before
    Time since{};
    std::uint64_t rows = 0;
    std::uint64_t comparisons = 0;
  };

  Passes& passes(World& world, std::size_t from, std::size_t to, ring::Partition partition) {
    const SimPeer& sender = world.peers()[from];
    const std::uint64_t generations = sender.generation + world.peers()[to].generation;
    const ring::Tenure tenure = sender.core->tenures().of(partition);
    Passes& now = passes_[{from, to, partition}];
    if (now.generations != generations || now.ring != sender.ring || now.tenure != tenure)
      now = {.generations = generations,
             .ring = sender.ring,
             .tenure = tenure,
             .refused = refused_[{from, to}],
             .since = world.now()};
    return now;
  }

  static std::uint64_t rows_of(World& world, std::size_t from, ring::Partition partition) {
    storage::Store& store = *world.peers()[from].store;
    std::uint64_t rows = store.counts(partition).discovered();
    constexpr std::size_t limit = 256;
    std::string after;
    for (bool more = true; more;) {
      const auto hosts = store.hosts_of(partition, after, limit);
      if (!hosts) return UINT64_MAX / 1024;  // its disk fails
      rows += hosts->size();
      more = hosts->size() == limit;
      if (more) after = hosts->back().row;
    }
    return rows + 1;  // since when it does not know the hosts' last requests
  }

  void sent_rows(World& world, std::size_t from, std::size_t to, ring::Partition partition, std::uint64_t more) {
    Passes& now = passes(world, from, to, partition);
    now.rows += more;
    if (getenv("CALIBRATE")) {
      const double p = static_cast<double>(now.rows) / static_cast<double>(rows_of(world, from, partition)) -
                       static_cast<double>(refused_[{from, to}] - now.refused);
      const double t = seconds(world.now() - now.since);
      debug.note("passes-1/s", p - t, "seed " + std::to_string(world.parameters().seed) + " t " + std::to_string(t) + " rows " + std::to_string(now.rows));
      debug.note("passes", p, "seed " + std::to_string(world.parameters().seed) + " t " + std::to_string(t) + " rows " + std::to_string(now.rows));
    }
  }

  void compared(World& world, std::size_t from, std::size_t to, ring::Partition partition) {
    Passes& now = passes(world, from, to, partition);
    ++now.comparisons;
    const double t = seconds(world.now() - now.since);
    debug.note("comparisons", static_cast<double>(now.comparisons), "seed " + std::to_string(world.parameters().seed) + " t " + std::to_string(t));
    debug.note("comparisons-5/s", static_cast<double>(now.comparisons) - 5 * t, "seed " + std::to_string(world.parameters().seed) + " t " + std::to_string(t));
    debug.note("comparisons-1/s", static_cast<double>(now.comparisons) - t, "seed " + std::to_string(world.parameters().seed) + " t " + std::to_string(t));
  }

  void note_who_is_there(World& world) {
    std::vector<std::uint64_t> there;
    for (const SimPeer& peer : world.peers())
      there.push_back(peer.generation * 8 + static_cast<std::uint64_t>(peer.status));
    if (there == there_) return;
    there_ = std::move(there);
    begin_window(world);
  }

  void begin_window(World& world) {
    const double t = seconds(world.now() - window_.since);
    if (window_.since != Time{} && window_.messages.size() > 0) {
      std::uint64_t total = 0, bytes = 0;
      const double pairs = static_cast<double>(world.peers().size() * (world.peers().size() - 1));
      std::string s = "seed " + std::to_string(world.parameters().seed) + " t " + std::to_string(t) + " P " + std::to_string(world.parameters().settings.partitions) + " peers " + std::to_string(world.peers().size()) + " R " + std::to_string(world.parameters().settings.replicas);
      std::string detail;
      for (auto& [n, tr] : window_.messages) {
        total += tr.messages; bytes += tr.bytes;
        detail += " " + n + "=" + std::to_string(tr.messages) + "/" + std::to_string(tr.bytes);
        debug.note("w." + n + "/pair-5/s", static_cast<double>(tr.messages) / pairs - 5 * t, s + " n " + std::to_string(tr.messages));
      }
      debug.note("w.total/pair", static_cast<double>(total) / pairs, s + detail);
      debug.note("w.total/pair-10t", static_cast<double>(total) / pairs - 10 * t, s + detail);
      std::uint64_t records = 0;
      for (auto& peer : world.peers()) if (peer.store) records += peer.store->counts().discovered();
      const double cells = static_cast<double>(world.parameters().settings.partitions * world.parameters().settings.replicas);
      debug.note("w.bytes", static_cast<double>(bytes), s + " records " + std::to_string(records) + detail);
      debug.note("w.bytes/(cells*100+rec*200)/(1+t/5)", static_cast<double>(bytes) / (cells * 100 + static_cast<double>(records) * 200) / (1 + t / 5), s + " records " + std::to_string(records) + detail);
      debug.note("w.messages/(cells+rec+pairs)/(1+t/5)", static_cast<double>(total) / (cells + pairs + static_cast<double>(records)) / (1 + t / 5), s + " records " + std::to_string(records) + detail);
    }
    window_ = {.since = world.now(), .messages = {}};
  }

  void count(World& world, std::size_t, std::size_t, const ring::Message& message) {
    if (!world.faults_over() || !getenv("CALIBRATE")) return;
    const bool recovery = std::visit(
        [](const auto& body) {
          using Body = std::decay_t<decltype(body)>;
          if constexpr (std::is_same_v<Body, ring::Batch>) return body.kind == ring::BatchKind::transfer;
          if constexpr (std::is_same_v<Body, ring::Sync>) return !body.tenures.empty();
          return std::is_same_v<Body, ring::Roots> || std::is_same_v<Body, ring::RootsCompared> ||
                 std::is_same_v<Body, ring::Leaves> || std::is_same_v<Body, ring::LeavesDiffer> ||
                 std::is_same_v<Body, ring::AskRecords> || std::is_same_v<Body, ring::RecordsKnown> ||
                 std::is_same_v<Body, ring::CompareTenures> || std::is_same_v<Body, ring::TenuresCompared>;
        },
        message.body);
    if (!recovery) return;
    Traffic& traffic = window_.messages[std::string(ring::type_name(message.body))];
    ++traffic.messages;
    traffic.bytes += ring::encode(message).size();
  }

  struct Window {
    Time since{};
    std::map<std::string, Traffic> messages;
  };

  std::map<std::tuple<std::size_t, std::uint64_t, std::size_t>, std::uint64_t> last_sent_;  // sequence
  std::map<std::tuple<std::size_t, std::size_t, ring::Partition>, Passes> passes_;
  std::map<std::pair<std::size_t, std::size_t>, std::uint64_t> refused_;  // batches, by their sender and receiver
  std::vector<std::uint64_t> there_;
  Window window_;
};

}  // namespace

std::unique_ptr<Checker> make_moves() { return std::make_unique<Moves>(); }

}  // namespace orbweaver::sim
