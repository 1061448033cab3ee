// Sends another peer all that this one knows about a partition. This is the one way in which partitions move,
// copies are filled and repaired, and leftovers are returned (ring/messages.h, TransferKind). The steps for one
// partition:
//
//   ready?    the manager says when: a hand-off waits until the partition is frozen, its fetches have ended and what
//             they brought is safe
//   compare   the root of its digest tree is sent (many partitions in one message); equal roots: no records to send
//   leaves    of a large partition the leaves are compared, and only records of differing leaves are sent
//   send      records in key order, then its hosts' waits, robots.txt files and cookies, and
//             what its domains have used, in batches, a few in flight
//   complete  when all is acknowledged, a last batch says that this was all
//
// Merging is idempotent, so whatever goes wrong (a lost message, a refusal, a restart) the transfer starts again.
// Bounds: max_active partitions that move, as many others, and batch.max_in_flight batches for each peer at a time; the
// rest are names in a queue.
// Cost: tick() looks at the peers and partitions that have something due, and at hand-offs that are not ready yet.
// Pure except for reads of the store. Thread rule: one owner (the peer's loop).
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "node/base.h"
#include "node/crawl/peer_state.h"
#include "node/replication/batch_window.h"
#include "node/replication/due_times.h"
#include "ring/messages.h"
#include "ring/table_sizes.h"
#include "ring/tenures.h"
#include "storage/store.h"

namespace orbweaver {

class Transfers {
 public:
  struct Config {
    BatchLimits batch;            // its timeout counts for questions too
    std::size_t max_active = 32;  // partitions that move to one peer at a time, and others that are sent to it
    // Records; a partition with this many has its leaves compared.
    std::size_t leaves_from = RecoverySteps().leaves_from;
    std::size_t roots_a_message = RecoverySteps().partitions;  // partitions compared in one message
  };
  struct Task {
    ring::PeerId to;
    ring::Partition partition = 0;
    auto operator<=>(const Task&) const = default;
  };
  struct Done {
    Task task;
    ring::TransferKind kind = ring::TransferKind::backfill;
    bool agreed = false;   // the records were equal; release: and the holder's copies are whole
    bool in_part = false;  // some pages went as they were before their fetch, and only a fill brings their outcomes
  };
  struct Extras {
    bool already_sent = false;  // only the other peer's answer that there are enough copies is missing
    bool give = false;          // the other peer returns what it has of it; return_: it is owed
    bool hosts = false;         // hosts' waits go even if the records are equal
    bool fill = false;          // the copy is not known to be whole
    bool patient = false;       // begins a second after the last tick: more may be written meanwhile
  };
  struct Out {
    ring::PeerId to;
    ring::Body body;
  };
  // A record of a fetched page. Unless its outcome leaves it is sent as it was before: queued.
  enum class Outcome : std::uint8_t {
    leaves,
    follows,    // by itself, once the page's links have their copies (replicator.h)
    next_fill,  // a later fill brings it
  };
  struct World {  // what it needs to know and cannot see
    const ring::Tenures& tenures;
    std::function<bool(ring::Partition, ring::TransferKind)> ready;
    std::function<Outcome(const storage::Merge&)> outcome;
    std::function<std::uint64_t()> new_sequence;
    std::function<Time(ring::Partition)> last_access_unknown_since;  // storage::WireKind::last_access_unknown
    std::uint64_t fingerprint = 0;                                   // of the ring
  };

  Transfers(Config config, storage::Store& store) : config_(config), store_(&store) {}

  // A second call with another kind replaces the first; with the same kind it adds to the extras.
  void want(const Task& task, ring::TransferKind kind, const Extras& extras);
  void want(const Task& task, ring::TransferKind kind) { want(task, kind, Extras{}); }
  void cancel(const Task& task);
  // True: the task was of this kind.
  bool cancel_of(ring::TransferKind kind, const Task& task);
  // The partition's holder has changed: answers to earlier questions no longer count.
  void begin_anew(ring::Partition partition);
  // A page's outcome was not copied, and is not sent by itself: a transfer that has begun may have passed it.
  void note_unsent(ring::Partition partition);
  // The other peer lacks what was sent already.
  void send_anew(const Task& task);
  // Cancels the partition's tasks that `keep` denies.
  void cancel_unless(ring::Partition partition,
                     const std::function<bool(const ring::PeerId&, ring::TransferKind)>& keep);
  void cancel_all();

  Result<void> tick(Time now, const World& world, std::vector<Out>& out);
  // Answers; the last three return true when the batch was sent from here.
  void compared(const ring::PeerId& from, const ring::RootsCompared& answer, Time now);
  void leaves_differ(const ring::PeerId& from, const ring::LeavesDiffer& answer);
  bool acknowledged(const ring::PeerId& from, std::uint64_t sequence);
  bool refused(const ring::PeerId& from, std::uint64_t sequence, Time now);
  bool pushed_back(const ring::PeerId& from, std::uint64_t sequence, Time now);
  // The transfers that ended since the last call.
  std::vector<Done> take_done();
  bool any_done() const { return !done_.empty(); }
  // Those asked to give whose records are equal: they have nothing to give.
  std::vector<Task> take_equal() { return std::exchange(equal_, {}); }

  std::size_t tasks() const { return tasks_.size(); }
  std::size_t tasks(ring::TransferKind kind) const { return of_kind_[static_cast<std::size_t>(kind)]; }
  // Fills that send something, or of copies that are not known to be whole.
  std::size_t fills() const { return fills_; }
  // Returns of what the holder may lack, as far as this peer knows: not those that only answer the holder's question.
  std::size_t owed() const { return owed_; }
  bool wanted(const Task& task) const { return tasks_.contains(task); }
  // The partition's hand-off has begun: nothing more is fetched from it.
  bool frozen(ring::Partition partition) const { return frozen_.contains(partition); }
  // Partitions whose hand-off was called off since the last call.
  std::vector<ring::Partition> take_thawed() { return std::exchange(thawed_, {}); }
  std::uint64_t records_sent() const { return records_sent_; }
  std::uint64_t bytes_sent() const { return bytes_sent_; }
  std::optional<Time> next_deadline() const;
  ring::TableSizes tables() const;

 private:
  enum class Stage : std::uint8_t { waiting, getting_ready, comparing, comparing_leaves, sending };
  // What is to be done for a partition next: a target's tasks are listed by that.
  enum class Next : std::uint8_t {
    activate,
    wait_for_room,
    wait_to_move,  // for room too
    get_ready,
    ask_again,
    ask_for_leaves,
    send,
    hear
  };
  struct Place {  // in that list
    Next next = Next::activate;
    Time due{};  // activate, ask_again, ask_for_leaves: not before
    ring::Partition partition = 0;
    auto operator<=>(const Place&) const = default;
  };
  struct State {
    ring::TransferKind kind = ring::TransferKind::backfill;
    Stage stage = Stage::waiting;
    // The sequence of the Roots that asked last, or of this attempt's Leaves: other answers do not count.
    std::uint64_t question = 0;
    Time since{};         // comparing, comparing_leaves: when the question was sent; waiting: not before
    Duration patience{};  // comparing: the question is asked again after this long
    std::string differ;   // leaves to send; empty: all
    std::optional<storage::UrlKey> cursor;
    bool records_done = false;
    std::string hosts_cursor;
    bool last_access_unknown_sent = false;
    bool hosts_done = false;
    std::size_t in_flight = 0;   // batches with something of it
    bool complete_sent = false;  // return_, release: the batch that says that this was all
    bool active() const { return stage != Stage::waiting && !empty; }
    // It may not be ready for long, and others do not wait for that: it may wait for them.
    bool moves() const { return kind == ring::TransferKind::hand_off || kind == ring::TransferKind::release; }
    Extras extras;
    bool in_part = false;
    std::uint64_t root = 0;    // when it was compared last
    std::uint32_t passes = 0;  // of a hand-off, done before this one: something came in meanwhile
    bool empty = false;        // nothing to send: any number of these may go at a time
    bool no_room = false;      // its time has come, and max_active others go
    bool all_sent() const { return records_done && hosts_done; }
    bool counted = false;  // in fills(), or in owed()
    Place place;           // in Target::places
  };
  // The other peer is told that this was all.
  static bool returns(ring::TransferKind kind) {
    return kind == ring::TransferKind::return_ || kind == ring::TransferKind::release;
  }
  using Partitions = std::set<ring::Partition>;  // that wait for a batch's acknowledgement
  struct Target {
    explicit Target(const BatchLimits& limits) : window(limits) {}
    BatchWindow<Partitions> window;
    std::map<std::uint64_t, std::vector<ring::Partition>> questions;  // Roots sent, by sequence
    std::set<Place> places;                                           // of its tasks
    std::size_t active = 0;                                           // tasks that do not move a partition
    std::size_t moving = 0;                                           // and those that do
    std::size_t& going(const State& state) { return state.moves() ? moving : active; }
    bool news = false;  // since it was looked at
  };
  struct Turn {  // what one tick does for one target
    Time now;
    const World& world;
    const ring::PeerId& to;
    Target& target;
    std::vector<Out>& out;
  };
  Target& target_of(const ring::PeerId& peer) { return targets_.try_emplace(peer, config_.batch).first->second; }
  // `stage`: getting_ready lets a hand-off's partition stay frozen.
  void restart(const Task& task, State& state, Time not_before, Stage stage = Stage::waiting);
  void set_stage(const Task& task, State& state, Stage stage);
  void count(State& state);
  std::size_t& counter(ring::TransferKind kind) { return kind == ring::TransferKind::backfill ? fills_ : owed_; }
  Place place_of(ring::Partition partition, const State& state) const;
  // After each change of a task; `was_active`: before it.
  void list(Target& target, ring::Partition partition, State& state, bool was_active);
  void note_news(const ring::PeerId& to, Target& target);
  Result<void> serve(const Turn& turn);
  void rest(const Turn& turn);
  void activate(const Turn& turn);
  void ask(const Turn& turn);
  Result<void> compare_leaves(const Turn& turn);
  Result<void> send(const Turn& turn);
  void finish(const Task& task);
  Result<bool> send_one(const Turn& turn);
  Result<void> fill_batch(Time now, const World& world, ring::Partition partition, State& state,
                          std::vector<ring::BatchRecord>& records, std::size_t& bytes);
  void end(const Task& task, bool agreed);

  Config config_;
  storage::Store* store_;
  std::map<Task, State> tasks_;
  std::map<ring::Partition, std::set<ring::PeerId>> peers_of_;  // of the tasks
  std::array<std::size_t, 5> of_kind_{};                        // tasks, by kind
  std::size_t fills_ = 0;
  std::size_t owed_ = 0;
  std::map<ring::PeerId, Target> targets_;
  std::set<ring::Partition> frozen_;  // partitions whose hand-off is beyond `waiting`
  std::vector<ring::Partition> thawed_;
  std::vector<Done> done_;
  std::vector<Task> equal_;
  DueTimes due_;                          // when each target is to be looked at
  DueTimes wakes_;                        // when the wait of its first task is over
  std::set<ring::PeerId> getting_ready_;  // targets with a task that is not ready yet
  Time ticked_{};                         // the last time that something was due
  std::uint64_t records_sent_ = 0;
  std::uint64_t bytes_sent_ = 0;
};

}  // namespace orbweaver
