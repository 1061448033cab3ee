// The simulated world: real peers' cores over stores in memory, a clock that jumps from event to event, a network that
// delays, loses, doubles and reorders, and a web made from a seed. The same Parameters give the same run, byte for
// byte.
//
// It drives a Peer as node/process/peer_process.cc does: StartFetch is answered by FetchEnded and, when the exchange
// succeeded, PageDone; messages go through ring::encode and decode; a step with TickEvent at next_deadline(). A crash
// drops the core and all that it had in memory. What its store wrote stays, and a new core opens it with a later
// incarnation. A paused peer is not stepped: its events wait, in order, and are delivered all at once afterwards.
// Each peer sees the time of its own clock; checkers see the true one.
//
// Faults end at Parameters::faults_end, or with the first message that the end is decided, whichever is earlier.
// (It is not promised yet that a peer which misses this message learns of the end later.)
//
// Six files: world.cc (peers, one step, the run), world_faults.cc (faults), world_web.cc (fetches), world_archive.cc,
// world_network.cc, world_questions.cc (questions of commands, and the status that peers report).
//
// Thread rule: one owner.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "node/crawl/sync_group.h"
#include "node/peer/core.h"
#include "storage/memory_kv.h"
#include "tests/sim/archive.h"
#include "tests/sim/checkers/checkers.h"
#include "tests/sim/fake_web.h"
#include "tests/sim/parameters.h"
#include "tests/sim/random.h"
#include "tests/sim/trace.h"

namespace orbweaver::sim {

// The status of a peer. absent: not started yet; down: crashed or stopped, its store is kept; gone: ended for good
// (finished, left, failed).
enum class Status : std::uint8_t { absent, up, down, gone };

struct SimPeer {
  std::size_t number = 0;
  std::string address;
  std::optional<std::size_t> through;  // it joins by this one
  LoadedSettings settings;
  std::vector<std::string> seeds;
  std::unique_ptr<storage::MemoryKv> kv;
  std::unique_ptr<storage::Store> store;  // null while down
  std::unique_ptr<Core> core;             // null while down or gone
  Status status = Status::absent;
  std::uint64_t generation = 0;               // counts the starts; events meant for an earlier one do not arrive
  std::map<std::uint64_t, Request> requests;  // by job: begun, not yet committed
  std::optional<Time> wake;
  bool cancelled = false;  // its fetcher was stopped
  bool leaving = false;
  std::optional<Duration> restart_after;  // once it has exited by itself
  std::uint64_t ring = 0;                 // fingerprint of its ring, when it last changed
  std::optional<Exit> exit;
  bool may_be_refused = false;   // a scenario sends it to a ring that must refuse it
  bool copy = false;             // of another's directory: it must end, and say why
  std::uint32_t idle_ticks = 0;  // in a row that did nothing and asked for another at once
  storage::Counts counts;        // of the store as last seen, up or not

  Duration skew{};          // its clock minus the true one
  Duration clock_step{};    // added to that at its next start
  Time takes_links_from{};  // as one that is slow: before that it takes no links
  std::size_t wait_for_peers = 1;
  bool paused = false;
  Time busy_until{};     // its last step lasts until then
  bool in_turn = false;  // it takes an event that waited
  struct Waiting {
    std::function<void()> deliver;
    bool probe = false;
    std::size_t bytes = 0;
  };
  std::deque<Waiting> waiting;                   // while it is paused or busy: events to be delivered afterwards
  std::size_t waiting_messages = 0;              // how many of them are messages
  std::size_t waiting_bytes = 0;                 // of those that are no probes
  Time paused_at{};                              // its last pause
  Time went_on{};                                // after that
  std::optional<storage::ErrorKind> disk_fault;  // the kind of failure that its disk is set to
  std::optional<std::uint64_t> reads_left;       // it has this many more reads before one fails
  std::optional<std::uint64_t> archive_left;     // and its archive takes so many more answers
  std::optional<Duration> disk_back;             // after which it is started again
  bool forgot_writes = false;                    // power cuts have taken some of its last writes
  std::uint32_t disks = 1;                       // number of disks it has had: a new one contains no identity
  std::optional<Request> uncommitted;            // the request whose outcome this step processes
  std::vector<Request> in_pieces;                // pages with very many links that this process has read
  std::optional<Fault> strike;                   // its disk is lost in its life `strike_life`
  std::uint64_t strike_life = 0;
  bool alone = false;                    // it was the only owner, and not all that it has has a second copy yet
  bool mute = false;                     // it is about to be killed: what it says does not leave
  std::vector<storage::UrlKey> at_work;  // pages that were being read when it crashed
  std::uint64_t steps = 0;
  Time started{};
  Time ended{};
  std::shared_ptr<SimArchive> archive;    // under durability = power
  std::unique_ptr<SyncGroup> sync_group;  // likewise: of this process's pages
  std::optional<Fault> power_fails;       // likewise: when it has written `writes` more records
  std::map<std::string, std::shared_ptr<storage::MemoryKv>> checkpoints;  // by snapshot
};

// More links than one commit of a peer takes.
inline constexpr std::size_t many_links = 1000;

// A recrawl that a command asked for: pages that ended before are visited again.
struct SimRecrawl {
  Time before{};       // the latest possible time by any peer's clock
  bool ahead = false;  // some clocks are behind: pages fetched since may be dated before it, and be visited once more
  Fault fault;
};

struct Traffic {
  std::uint64_t messages = 0;
  std::uint64_t bytes = 0;
};

struct WorldStats {
  std::uint64_t steps = 0;
  std::uint64_t messages = 0;
  std::uint64_t message_bytes = 0;
  std::map<std::string, Traffic> by_type;  // of messages, as sent
  std::uint64_t messages_lost = 0;
  std::uint64_t messages_refused = 0;
  std::uint64_t requests = 0;
  std::map<std::string, std::uint64_t> requests_to;  // by host
  std::uint64_t crashes = 0;
  std::uint64_t taken_over = 0;                    // times that a peer took partitions from others that seemed down
  std::uint64_t owners_changed = 0;                // after the first request
  std::map<std::string, std::uint64_t> faults;     // done while the crawl was in progress, by name; and outcomes
  std::map<std::string, std::uint64_t> tolerated;  // breaches that this version permits under the run's faults, by what
  // Only with watch_steps().
  std::chrono::nanoseconds step_time{};     // of all steps
  std::chrono::nanoseconds longest_step{};  // since the last forget_longest_step()
  std::string longest_step_was;
};

class World {
 public:
  World(Parameters parameters, bool keep_trace);

  // --- building and driving ---
  // Adds a peer that starts at `at`. `join`: number of a member, or none for a peer that makes a ring.
  std::size_t add_peer(Duration at, std::optional<std::size_t> join,
                       const std::function<void(LoadedSettings&)>& tweak = {});
  // Starts a process on a copy of the peer's directory, at an address of its own; its number.
  std::size_t start_copy(std::size_t of);
  void at(Duration since_start, std::function<void()> what);
  void crash(std::size_t peer, std::optional<Duration> restart_after);
  void stop(std::size_t peer, std::optional<Duration> restart_after);
  void leave(std::size_t peer, std::optional<Duration> restart_after = {});
  void start(std::size_t peer);
  void pause(std::size_t peer, Duration lasts, bool tick_last);
  // The peer takes no batches of links: its queue is full of others. All else reaches it.
  void take_no_links(std::size_t peer, Duration lasts) { peers_[peer].takes_links_from = now_ + lasts; }
  // Starts a cut or slow links, as the fault says.
  void disturb(const Fault& fault);
  // The peer's disk fails from its `after`th write on. The peer must exit, and is started again after `back`.
  void break_disk(std::size_t peer, storage::ErrorKind kind, std::uint64_t after, Duration back);
  // The same from its `after`th read on.
  void break_reads(std::size_t peer, std::uint64_t after, Duration back);
  // Its archive cannot be written from its `after`th answer on.
  void break_archive(std::size_t peer, std::uint64_t after, Duration back);
  // Ends all cuts, slow links and broken disks.
  void heal();
  // A command's question; the answer comes into answers().
  void ask(std::size_t peer, const std::string& verb, const std::string& body);
  // Runs until nothing more happens, all peers are gone, something failed, or `until`. False: failed.
  bool run(Duration until);
  // Runs to the end of the crawl and judges it. False: failed.
  bool run_to_end();

  // Measures the steps of the peers by this clock.
  void watch_steps(std::function<std::chrono::nanoseconds()> clock) { step_clock_ = std::move(clock); }
  void forget_longest_step() { stats_.longest_step = {}; }
  // For measurements of large rings: nothing is judged.
  void drop_checkers() { checkers_.clear(); }
  void add_checker(std::unique_ptr<Checker> checker) { checkers_.push_back(std::move(checker)); }
  // Its servers go on where those of the other world were.
  void continue_web(const World& before) { tries_ = before.tries_; }
  void follow(const std::string& url) { checkers_.push_back(make_follow(url)); }

  // --- for checkers ---
  void fail(std::string_view checker, const std::string& what);
  void tolerate(const std::string& what) { ++stats_.tolerated[what]; }
  void count(const std::string& what) { ++stats_.faults[what]; }
  void note(const std::string& line) { trace_.add(since_start(), line); }
  const Parameters& parameters() const { return parameters_; }
  const FakeWeb& web() const { return web_; }
  Time now() const { return now_; }
  // The cut that delays a message from one peer to the other longest; null: none.
  void leave_connections_stale(const Fault& cut);
  void forget_connections(std::size_t number);
  const Fault* cut_between(std::size_t from, std::size_t to) const;
  Duration since_start() const { return now_ - start_; }
  std::vector<SimPeer>& peers() { return peers_; }
  const WorldStats& stats() const { return stats_; }
  // Partitions changed hands after the crawl began, or network faults made it begin before all agreed on the owners.
  // In both cases this version fetches some URLs again.
  bool ring_moved() const { return stats_.owners_changed > 0 || (views_differed_ && parameters_.views_may_differ()); }
  // Nothing: a robots.txt under partition_by = url, which each peer that needs it fetches itself.
  std::optional<ring::Partition> partition_of(const Request& request) const;
  // Two peers held the partition at the same time, for a reason that this run permits (checkers/one_owner.cc). It is
  // forgotten once all peers have what they missed.
  void held_twice(ring::Partition partition) { held_twice_.insert(partition); }
  bool was_held_twice(const Request& request) const {
    const auto partition = partition_of(request);
    return partition && held_twice_.contains(*partition);
  }
  // The page's outcome died with a peer. Once for each death.
  bool take_single_copy(const std::string& url) { return single_copies_.erase(url) > 0; }
  // Or a peer was forgotten that was only not heard.
  bool sides_may_end_alone() const { return forgot_one_that_is_up_ || parameters_.sides_may_end_alone(); }
  // Disks lost records that had counted.
  bool disks_lost() const { return disks_lost_; }
  // And the others have not made good for it yet.
  bool copies_may_lack() const { return copies_may_lack_; }
  // How often the page may be visited again, given the time of its first request.
  std::uint32_t visits_again(const std::string& url, Time first) const;
  // Its peer has heard that the page is to be visited again.
  bool visits_again(const Request& request) const;
  // A peer crashed twice while it read the page.
  bool may_be_given_up(const std::string& url) const;
  // A disk was lost so recently that no peer can have noticed yet.
  bool disk_lost_just_now() const {
    return disk_lost_at_ && now_ - *disk_lost_at_ < parameters_.settings.suspicion_time;
  }
  // The same when the first peer said that the crawl has ended, or one was lost once that end was proposed: no peer
  // makes the lost copies again.
  bool disk_lost_as_it_ended() const { return disk_lost_as_it_ended_; }
  // All seeds that the ring was given, also later ones.
  const std::vector<std::string>& seeds() const { return seeds_; }
  void add_seed(const std::string& url) { seeds_.push_back(url); }
  // Given to a peer whose process ended before it answered: the ring may crawl them or not.
  const std::set<std::string>& unanswered_seeds() const { return unanswered_seeds_; }
  bool faults_over() const { return since_start() >= parameters_.faults_end; }
  // A peer has notified the others that the crawl has ended.
  bool ending() const { return ending_; }
  // Some peers may not have heard of an order to visit pages again.

  // --- outcome ---
  const std::vector<std::string>& failures() const { return failures_; }
  const std::vector<std::string>& answers() const { return answers_; }
  const Trace& trace() const { return trace_; }

 private:
  using Action = std::function<void()>;
  void schedule(Time at, Action action) {
    events_.emplace(std::make_pair(std::max(at, now_), next_event_++), std::move(action));
  }
  std::size_t build_peer(std::optional<std::size_t> join, const std::function<void(LoadedSettings&)>& tweak);
  void add_joiner(const Fault& fault);
  void begin_ending();
  void end_copy(std::size_t number);
  void inject(const Fault& fault);
  bool may_happen(const Fault& fault) const;
  bool is_member(const SimPeer& peer) const;
  std::optional<std::size_t> a_member(std::size_t other_than) const;
  void join(const Fault& fault);
  void go_on(std::size_t peer, std::uint64_t generation, bool tick_last);
  void lose_disk(std::size_t peer, std::optional<Duration> back);
  void crash_after_send(std::size_t peer, const ring::Message& message);
  void strike(const Fault& fault);
  void strike_after_write(SimPeer& peer, bool wrote);
  void strike_after_send(SimPeer& peer, const ring::Message& message);
  void cut_power(std::size_t peer, std::uint64_t writes, Duration back);
  void cut_power_after_record(SimPeer& peer);
  void disk_failed(std::size_t peer);
  void recount(SimPeer& peer);
  // True: the peer is paused or busy, and gets this action afterwards.
  bool wait_until_it_goes_on(std::size_t peer, Action action);
  bool wait_in_queue(std::size_t peer, bool probe, std::size_t bytes, Action action);
  bool is_busy(const SimPeer& peer) const;
  void occupy(std::size_t peer);
  void take_turn(std::size_t peer, std::uint64_t generation);
  const SimPeer* peer_with_work(std::size_t first) const;
  void die_of(std::size_t peer, const Request& request);
  void note_at_work(SimPeer& peer, const std::string& url);
  storage::UrlKey key_of(const CanonicalUrl& page) const;
  bool outcome_written(const SimPeer& peer, const Request& request) const;
  void put_question(const Fault& fault);
  void put_order(const Fault& fault);
  void take_back(const Fault& fault);
  bool obeyed_by(const SimPeer& peer, const Fault& order) const;
  bool excludes_for(const SimPeer& peer, const Fault& order) const;
  // It has not learned of the crawl.
  static bool knows_no_seeds(storage::Store& store);
  std::string body_of(const Fault& fault) const;
  void mix_in_status(const SimPeer& peer);
  void note_answer(const std::string& body);
  Time clock_of(const SimPeer& peer) const { return now_ + peer.skew; }
  Duration slowness_between(std::size_t from, std::size_t to) const;
  void step(std::size_t peer, Event event);
  void note_step_time(std::chrono::nanoseconds took, const std::string& what);
  void let_reads_fail(SimPeer& peer, bool fail) const;
  void carry_out(std::size_t peer, Command& command);
  void parse_robots(std::size_t peer, const ParseRobots& stored);
  void resolve_host(std::size_t peer, const ResolveHost& resolve);
  void make_checkpoint(std::size_t peer, const MakeCheckpoint& wanted);
  Listed listed(const Request& request, std::vector<CanonicalUrl> links, std::vector<std::uint8_t> scores) const;
  PageRead page_of(const Request& request);
  RobotsRead robots_of(const Request& request) const;
  void start_fetch(std::size_t peer, const StartFetch& fetch);
  void end_fetch(std::size_t peer, std::uint64_t generation, std::uint64_t job, bool cancelled);
  void tell_fetch_ended(std::size_t peer, std::uint64_t generation, std::uint64_t job, bool cancelled);
  void end_page(std::size_t peer, std::uint64_t generation, std::uint64_t job);
  void archive_page(std::size_t peer, std::uint64_t job, PageDone page);
  void begin_sync(std::size_t peer);
  void end_sync(std::size_t peer, std::uint64_t generation);
  void count_page(std::size_t peer, std::uint64_t job, PageDone page);
  // On its own connection; with a generation, as the answer on the connection of the receiver of that generation.
  void post(std::size_t from, std::size_t to, std::optional<std::uint64_t> only_generation,
            const ring::Message& message);
  void count_to_late_seed(const ring::Message& message);
  void seed_late(const Fault& fault);
  bool any_work() const;
  void deliver(std::size_t from, std::uint64_t from_life, std::size_t to, std::optional<std::uint64_t> only_generation,
               const std::string& bytes);
  void exited(std::size_t peer, const Exit& exit);
  void set_wake(std::size_t peer);
  void took_over(std::size_t peer);
  void note_single_copies(const SimPeer& peer);
  void look_whether_alone(SimPeer& peer);
  bool all_is_whole();
  void look_whether_whole();
  bool has_outcome(const std::string& url) const;  // of its last visit that a peer has heard of
  static std::string state_of(const SimPeer& member, const SimPeer& known_to);
  void move_elsewhere(SimPeer& peer);
  // `failed`: its store failed, and the outcome of the last step was not committed.
  void take_down(std::size_t peer, bool failed = false);

  template <class Call>
  void tell(Call call) {
    for (const auto& checker : checkers_) call(*checker);
  }

  Parameters parameters_;
  FakeWeb web_;
  Random random_;
  Time start_{std::chrono::seconds{1'700'000'000}};
  Time now_ = start_;
  std::map<std::pair<Time, std::uint64_t>, Action> events_;
  std::uint64_t next_event_ = 0;
  std::vector<SimPeer> peers_;
  std::map<std::string, std::size_t> by_address_;
  struct Link {  // from, to, and whether it is the connection of the receiver's questions
    std::size_t from = 0;
    std::size_t to = 0;
    bool answers = false;
    auto operator<=>(const Link&) const = default;
  };
  std::map<Link, Time> link_;                   // when its last message arrives: first in, first out
  std::map<Link, Time> stale_;                  // connections from before a cut: until when they lose what is sent
  std::map<std::string, std::uint32_t> tries_;  // requests by URL
  std::vector<std::unique_ptr<Checker>> checkers_;
  std::vector<std::string> seeds_;
  std::set<std::string> unanswered_seeds_;
  std::set<ring::Partition> held_twice_;
  std::set<std::string> single_copies_;  // URLs whose outcome one disk alone had, when its peer died
  std::vector<std::string> failures_;
  std::vector<std::string> answers_;
  std::vector<SimRecrawl> recrawls_;
  std::vector<Fault> late_seeds_;                                            // that wait for their message
  std::vector<Fault> crashes_to_come_;                                       // crash_at; power_cut with `what`
  std::map<std::pair<std::size_t, std::string>, std::uint32_t> crashes_at_;  // by peer and URL that it was reading
  bool ending_ = false;
  bool crawling_ = false;
  bool views_differed_ = false;
  bool forgot_ = false;  // a command has had a member forgotten
  bool forgot_one_that_is_up_ = false;
  bool disks_lost_ = false;
  bool copies_may_lack_ = false;
  std::set<ring::PeerId> without_disk_;
  void note_end(ring::EndStage stage);
  std::optional<Time> end_proposed_at_;
  std::optional<Time> disk_lost_at_;
  bool disk_lost_as_it_ended_ = false;
  std::map<std::uint64_t, Fault> disturbances_;  // cuts and slow links in progress, by number
  std::uint64_t next_disturbance_ = 0;
  Trace trace_;
  std::function<std::chrono::nanoseconds()> step_clock_;
  WorldStats stats_;
};

}  // namespace orbweaver::sim
