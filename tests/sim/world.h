// The simulated world: real peers' cores over stores in memory, a clock that jumps from event to event, a network that
// delays, loses, doubles and reorders, and a web made from a seed. The same Parameters give the same run, byte for
// byte.
//
// It drives a Peer as node/run/peer_process.cc does: StartFetch is answered by FetchEnded and, when the exchange
// succeeded, PageDone; messages go through ring::encode and decode; a step with TickEvent at next_deadline(). A crash
// drops the core and all that it had in memory; what its store wrote stays, and a new core opens it with a later
// incarnation.
//
// Thread rule: one owner.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "node/crawl/peer.h"
#include "storage/memory_kv.h"
#include "tests/sim/checkers/checker.h"
#include "tests/sim/fake_web.h"
#include "tests/sim/parameters.h"
#include "tests/sim/random.h"
#include "tests/sim/trace.h"

namespace orbweaver::sim {

// Where a peer stands. absent: not started yet; down: crashed or stopped, its store is kept; gone: ended for good
// (finished, left, failed).
enum class Standing : std::uint8_t { absent, up, down, gone };

struct SimPeer {
  std::size_t number = 0;
  std::string address;
  LoadedSettings settings;
  std::vector<std::string> seeds;
  std::unique_ptr<storage::MemoryKv> kv;
  std::unique_ptr<storage::Store> store;  // null while down
  std::unique_ptr<Peer> core;             // null while down or gone
  Standing standing = Standing::absent;
  std::uint64_t life = 0;                     // counts the starts; what was meant for an earlier one does not arrive
  std::map<std::uint64_t, Request> requests;  // by job: begun, not yet committed
  std::optional<Time> wake;
  bool cancelled = false;  // its fetcher was stopped
  bool leaving = false;
  std::optional<Duration> restart_after;  // once it has exited by itself
  std::uint64_t ring = 0;                 // fingerprint of its ring, when it last changed
  std::optional<Exit> exit;
  bool may_be_refused = false;   // a scenario sends it to a ring that must not take it
  std::uint32_t idle_ticks = 0;  // in a row that did nothing and asked for another at once
  storage::Counts counts;        // of the store as last seen, up or not
};

struct WorldStats {
  std::uint64_t steps = 0;
  std::uint64_t messages = 0;
  std::uint64_t message_bytes = 0;
  std::uint64_t messages_lost = 0;
  std::uint64_t messages_refused = 0;
  std::uint64_t requests = 0;
  std::uint64_t crashes = 0;
  std::uint64_t owners_changed = 0;                // after the first request
  std::map<std::string, std::uint64_t> tolerated;  // breaches that this version permits under the run's faults, by what
};

class World {
 public:
  World(Parameters parameters, bool keep_trace);

  // --- building and driving ---
  // A further peer; it starts at `at`. `join`: number of a member, or none for one that makes a ring.
  std::size_t add_peer(Duration at, std::optional<std::size_t> join,
                       const std::function<void(LoadedSettings&)>& tweak = {});
  void at(Duration since_start, std::function<void()> what);
  void crash(std::size_t peer, std::optional<Duration> restart_after);
  void stop(std::size_t peer, std::optional<Duration> restart_after);
  void leave(std::size_t peer);
  void start(std::size_t peer);
  // A command's question; the answer comes into answers().
  void ask(std::size_t peer, const std::string& verb, const std::string& body);
  // Runs until nothing more happens, all peers are gone, something failed, or `until`. False: failed.
  bool run(Duration until);
  // Runs to the end of the crawl, judges it. False: failed.
  bool run_to_end();

  // --- for checkers ---
  void fail(std::string_view checker, const std::string& what);
  void tolerate(const std::string& what) { ++stats_.tolerated[what]; }
  void note(const std::string& line) { trace_.add(since_start(), line); }
  const Parameters& parameters() const { return parameters_; }
  const FakeWeb& web() const { return web_; }
  Time now() const { return now_; }
  Duration since_start() const { return now_ - start_; }
  std::vector<SimPeer>& peers() { return peers_; }
  const WorldStats& stats() const { return stats_; }
  // Partitions changed hands after the crawl began, or faults of the network made it begin before all agreed whose they
  // are: this version fetches some URLs again then.
  bool ring_moved() const { return stats_.owners_changed > 0 || (views_differed_ && parameters_.network_faulty()); }
  // Seeds that the ring was given, with when.
  const std::vector<std::string>& seeds() const { return seeds_; }
  void add_seed(const std::string& url) { seeds_.push_back(url); }
  bool faults_over() const { return since_start() >= parameters_.faults_end; }
  // A peer has told the others that the crawl has ended.
  bool ending() const { return ending_; }

  // --- what came of it ---
  const std::vector<std::string>& failures() const { return failures_; }
  const std::vector<std::string>& answers() const { return answers_; }
  const Trace& trace() const { return trace_; }

 private:
  using Action = std::function<void()>;
  void schedule(Time at, Action action) {
    events_.emplace(std::make_pair(std::max(at, now_), next_event_++), std::move(action));
  }
  void deal(const Deed& deed);
  void step(std::size_t peer, Event event);
  void carry_out(std::size_t peer, Command& command);
  void start_fetch(std::size_t peer, const StartFetch& fetch);
  void end_fetch(std::size_t peer, std::uint64_t life, std::uint64_t job, bool cancelled);
  void end_page(std::size_t peer, std::uint64_t life, std::uint64_t job);
  void post(std::size_t from, std::size_t to, std::optional<std::uint64_t> only_life, const ring::Message& message);
  void deliver(std::size_t from, std::uint64_t from_life, std::size_t to, std::optional<std::uint64_t> only_life,
               const std::string& bytes);
  void exited(std::size_t peer, const Exit& exit);
  void set_wake(std::size_t peer);
  void take_down(std::size_t peer);

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
  std::map<std::pair<std::size_t, std::size_t>, Time>
      link_;                                    // when the last message of a link arrives: first in, first out
  std::map<std::string, std::uint32_t> tries_;  // requests by URL
  std::vector<std::unique_ptr<Checker>> checkers_;
  std::vector<std::string> seeds_;
  std::vector<std::string> failures_;
  std::vector<std::string> answers_;
  bool ending_ = false;
  bool crawling_ = false;
  bool views_differed_ = false;
  Trace trace_;
  WorldStats stats_;
};

}  // namespace orbweaver::sim
