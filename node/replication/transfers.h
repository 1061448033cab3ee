// Making another peer know all that this one knows of a partition: the one way in which partitions move, copies are
// filled and repaired, and what is left over is given back (ring/messages.h, TransferKind). The steps, for one
// partition:
//
//   ready?    the manager says when: a hand-off waits until the partition is frozen, its fetches have ended and what
//             they brought is safe
//   compare   the root of its digest tree is sent (many partitions in one message); equal roots: no records to send
//   leaves    of a large partition the leaves are compared, and only records of those that differ are sent
//   send      records in key order, then its hosts' waits and robots.txt files, in batches, a few in flight
//   complete  when all is acknowledged, a last batch says that this was all
//
// Merging is idempotent, so whatever goes wrong (a lost message, a refusal, a restart) the transfer starts again.
// Bounds: active_max partitions and batch.max_in_flight batches for each peer at a time; the rest are names in a queue.
// Pure but for reads of the store. Thread rule: one owner (the peer's loop).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "node/base.h"
#include "node/replication/batch_window.h"
#include "ring/messages.h"
#include "ring/tenures.h"
#include "storage/store.h"

namespace orbweaver {

class Transfers {
 public:
  struct Config {
    BatchLimits batch;                   // its timeout counts for questions too
    std::size_t active_max = 32;         // partitions that are sent to one peer at a time
    std::size_t leaves_from = 2048;      // records from which on leaves are compared
    std::size_t roots_a_message = 1024;  // partitions compared in one message
  };
  struct Task {
    ring::PeerId to;
    ring::Partition partition = 0;
    auto operator<=>(const Task&) const = default;
  };
  struct Done {
    Task task;
    ring::TransferKind kind = ring::TransferKind::backfill;
    bool agreed = false;  // release: the owner and its replicas have all of it
  };
  struct Out {
    ring::PeerId to;
    ring::Body body;
  };
  struct World {  // what it needs to know and cannot see
    const ring::Tenures& tenures;
    std::function<bool(ring::Partition, ring::TransferKind)> ready;
    // Outcomes that must not leave yet go as what they were before: queued.
    std::function<bool(const storage::UrlKey&)> held_back;
    std::function<std::uint64_t()> new_sequence;
    std::function<Time(ring::Partition)> last_access_unknown_since;  // storage::WireKind::last_access_unknown
    std::uint64_t fingerprint = 0;                                   // of the ring
  };

  Transfers(Config config, storage::Store& store) : config_(config), store_(&store) {}

  // Again with another kind: as that kind. With the same: no change. `already_sent`: all was sent before, only the
  // other's word that it has enough copies is waited for.
  void want(const Task& task, ring::TransferKind kind, bool already_sent = false);
  void cancel(const Task& task);
  // Who holds the partition has changed: what was asked before is no answer any more.
  void begin_anew(ring::Partition partition);
  // Those that `keep` denies are cancelled.
  void cancel_unless(const std::function<bool(const Task&, ring::TransferKind)>& keep);
  bool wanted(const Task& task) const { return tasks_.contains(task); }

  Result<void> tick(Time now, const World& world, std::vector<Out>& out);
  // Answers; each true when it was to one of these.
  void compared(const ring::PeerId& from, const ring::RootsCompared& answer, Time now);
  void leaves_differ(const ring::PeerId& from, const ring::LeavesDiffer& answer);
  bool acknowledged(const ring::PeerId& from, std::uint64_t sequence);
  bool refused(const ring::PeerId& from, std::uint64_t sequence, Time now);
  // Those that came to their end since the last call.
  std::vector<Done> take_done();

  std::size_t tasks() const { return tasks_.size(); }
  std::size_t tasks(ring::TransferKind kind) const;
  // The partition's hand-off has begun: nothing more is fetched from it.
  bool frozen(ring::Partition partition) const { return frozen_.contains(partition); }
  // Partitions whose hand-off was called off since the last call.
  std::vector<ring::Partition> take_thawed() { return std::exchange(thawed_, {}); }
  std::uint64_t records_sent() const { return records_sent_; }
  std::uint64_t bytes_sent() const { return bytes_sent_; }
  std::optional<Time> next_deadline() const { return news_ ? std::optional<Time>(Time{}) : due_; }

 private:
  enum class Stage : std::uint8_t { waiting, getting_ready, comparing, comparing_leaves, sending };
  struct State {
    ring::TransferKind kind = ring::TransferKind::backfill;
    Stage stage = Stage::waiting;
    std::uint64_t question = 0;  // comparing: the sequence of the Roots that asked
    Time since{};                // comparing, comparing_leaves: when the question was sent; waiting: not before
    Duration patience{};         // comparing: after which it is asked again
    std::string differ;          // leaves to send; empty: all
    std::optional<storage::UrlKey> cursor;
    bool records_done = false;
    std::string hosts_cursor;
    bool last_access_unknown_sent = false;
    bool hosts_done = false;
    std::size_t in_flight = 0;   // batches with something of it
    bool complete_sent = false;  // return_, release: the word that this was all
    bool active() const { return stage != Stage::waiting && !empty; }
    bool already_sent = false;
    bool empty = false;  // nothing to send: no limit to how many of these go at a time
    bool all_sent() const { return records_done && hosts_done; }
  };
  using Partitions = std::set<ring::Partition>;  // that wait for a batch's acknowledgement
  struct Target {
    explicit Target(const BatchLimits& limits) : window(limits) {}
    BatchWindow<Partitions> window;
    std::map<std::uint64_t, std::vector<ring::Partition>> questions;  // Roots sent, by sequence
  };
  Target& target_of(const ring::PeerId& peer) { return targets_.try_emplace(peer, config_.batch).first->second; }
  void restart(const Task& task, State& state, Time not_before);
  void set_stage(const Task& task, State& state, Stage stage);
  void activate(Time now, const ring::PeerId& to);
  void ask(Time now, const World& world, const ring::PeerId& to, std::vector<Out>& out);
  Result<void> compare_leaves(Time now, const World& world, const ring::PeerId& to, std::vector<Out>& out);
  Result<void> send(Time now, const World& world, const ring::PeerId& to, std::vector<Out>& out);
  Result<void> fill_batch(Time now, const World& world, ring::Partition partition, State& state,
                          std::vector<ring::BatchRecord>& records, std::size_t& bytes);
  void end(const Task& task, bool agreed);
  void forget_what_nobody_waits_for(Time now);
  std::vector<ring::PeerId> peers() const;

  Config config_;
  storage::Store* store_;
  std::map<Task, State> tasks_;
  std::map<ring::PeerId, Target> targets_;
  std::set<ring::Partition> frozen_;  // those of hand-offs beyond `waiting`
  std::vector<ring::Partition> thawed_;
  std::vector<Done> done_;
  bool news_ = false;        // since the last tick()
  std::optional<Time> due_;  // of the next tick() without news
  std::uint64_t records_sent_ = 0;
  std::uint64_t bytes_sent_ = 0;
};

}  // namespace orbweaver
