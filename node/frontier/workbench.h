// Which host's turn it is: hosts in memory, ordered by when they may next be asked, each with a short head of its queue
// (BUbiNG's workbench). A host is acquired by take() and released by release(), so two requests to one host cannot
// overlap. Within a host, the frontier's order (storage::QueueOrder) decides. Between hosts it is fair: of the hosts
// whose turn has come, the one that has waited longest goes first. Under best_first the host with the highest score at
// its head goes first, and every fourth time the one that has waited longest. With n hosts whose turn has come, none
// waits for more than 4n turns, however low its scores.
//
// Bounded: at most max_hosts hosts with at most 2*max_head URLs each, and per host no more than max_head_bytes bytes of
// URLs (but at least one URL). The rest is on disk and comes in as places become free. When others need its place, a
// host that may not be asked for long_wait gives it up: it is dead or slow, or its URLs wait for another try. It comes
// back when it is due (waiting_hosts.h). A host that has served max_head URLs, or a fortieth of those in its set if
// that is more, gives up its place in the same way. Parked hosts make room first.
// The sets of what is known of the hosts (storage/seen_sets.h) have a limit of bytes: hosts beyond it come in only when
// no other host has its turn, and have no set as long as there is no room for one. So no set is read for fewer than
// max_head pages, nor more than 40 of its URLs for a page, unless its host waits long between them, and a peer that has
// time misses none. Pure except for reads of the store. Thread rule: one owner (the peer's loop).
//
// Its files: workbench.cc (turns), workbench_lent.cc (turns for others), workbench_memory.cc (what is in memory),
// workbench_places.cc (who has a place there).
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <unordered_set>
#include <utility>
#include <vector>

#include "node/base.h"
#include "node/frontier/bench_host.h"
#include "node/frontier/waiting_hosts.h"
#include "ring/table_sizes.h"
#include "storage/store.h"

namespace orbweaver {

class Workbench {
 public:
  struct Config {
    std::size_t max_hosts = 10'000;
    std::size_t max_head = 64;
    bool best_first = false;
    std::size_t max_head_bytes = 64u << 10;  // of one host's head
    Duration long_wait = std::chrono::seconds{10};
    std::size_t max_waiting_bytes = 64u << 20;  // of hosts that wait out of memory
  };
  // A host in memory without its head.
  static constexpr std::size_t bare_host_bytes = 1024;
  // `fetches`: whether a partition's hosts may be asked; checked at every turn.
  Workbench(Config config, storage::Store& store, std::function<bool(std::uint16_t)> fetches);

  // A URL that a commit queued. `moved`: it may be in the head at an older position.
  void admit(const storage::QueuedUrl& url, std::string_view host, bool moved);

  // The next host whose turn has come, acquired, with at least one URL at head.front() that may be tried now; null when
  // none.
  Result<BenchHost*> take(Time now);
  // Of the hosts that resume() queued, the first whose time has come; null when none. take() returns it too.
  Result<BenchHost*> take_resumed(Time now);
  // The front URL leaves the head and counts as issued.
  storage::QueuedUrl issue(BenchHost& host);
  // The front URL leaves the head for good (it was excluded or failed without a fetch).
  storage::QueuedUrl discard(BenchHost& host);
  void release(BenchHost& host, Time next_allowed);
  // What an acquired host waited for has come: it stays acquired, and at that time take() returns it before all others,
  // because its turn continues. Not before its next_allowed.
  void resume(BenchHost& host, Time at);
  // Nothing may be asked now: releases the hosts that were to continue.
  void release_resumed();
  // Parks an acquired host whose turn has come, and that must wait for something other than time. After unpark() it is
  // where it was. False: it made room for others that wait on disk, and will be found on disk again.
  bool park(BenchHost& host);
  void unpark(const storage::HostKey& key);
  // Whether hosts of the partition are asked here now.
  bool fetches(std::uint16_t partition) const { return fetches_(partition); }
  // A turn of the host for a request that is another host's (a robots.txt that is here), of this peer or another.
  // Nothing: it may be made now, and the host is not given out until take_back(). Else: when to come again, and until a
  // little later the host's own requests wait.
  std::optional<Time> lend(const storage::HostKey& key, std::string_view name, Time now);
  void take_back(const storage::HostKey& key, Time next_allowed, Time now);
  // What the store is to know of the host then.
  storage::HostClock clock_after(const storage::HostKey& key, std::string_view name, Time next_allowed, Time now);
  bool is_lent(const storage::HostKey& key) const;
  // As far as memory knows it; else 0.
  Duration crawl_delay(const storage::HostKey& key);
  // Hosts whose wait was cut since the last call, because the clock was set back. What is left of the wait is to be
  // stored, or it would be cut again and again, each time from then on.
  std::set<storage::HostKey> take_cut_waits() { return std::exchange(cut_, {}); }

  // An issued URL's outcome is committed (or was given up: a stop).
  void committed(const storage::UrlKey& key);

  BenchHost* find(const storage::HostKey& key);
  // A record that its outcome did not settle, because it has a later visit: read again.
  void reread(const storage::UrlKey& key);
  // A host's clock from another peer: the host is not asked before that, and has used this much.
  void delay(const storage::HostKey& key, const storage::HostClock& clock);
  // A queued URL became something else, because another peer knew more of it.
  void withdraw(const storage::UrlKey& key);
  // Partitions that may be fetched now, or no longer: their hosts are looked for on disk, or leave.
  void fetchability_changed(const std::vector<std::uint16_t>& partitions);

  std::optional<Time> next_deadline() const;  // when take() is worth calling again
  std::size_t hosts() const { return hosts_.size(); }
  void for_each(const std::function<void(const BenchHost&)>& look) const {
    for (const auto& [key, host] : hosts_) look(*host);
  }
  std::size_t bytes() const { return hosts_.size() * bare_host_bytes + head_bytes_; }
  const WaitingHosts& waiting() const { return waiting_; }
  // Hosts in memory that wait for their turn, or for the moment at which it goes on.
  std::size_t scheduled() const { return ready_.size() + due_.size() + resumed_.size(); }
  std::size_t issued() const { return issued_.size(); }
  bool is_issued(const storage::UrlDigest& url) const { return issued_.contains(url); }
  // It has issued URLs, or acquired hosts other than those that resume: a partition that is no longer fetched does not
  // wait for those.
  bool partition_busy(std::uint16_t partition) const;
  // Neither a restart nor a take-over may shorten a wait: hosts that are loaded get at least this as their next allowed
  // time.
  void set_earliest(std::function<Time(std::uint16_t partition, std::string_view host)> earliest) {
    earliest_ = std::move(earliest);
  }
  // Nor may a clock that was set back, or another peer's, make one longer: what comes from disk or from another peer
  // waits at most as long from now as it was to wait. `now`: of this step. `retry`: the wait after so many tries that
  // failed; a host that asked for more time waits as a host.
  void set_longest(std::function<Time()> now, std::function<Duration(std::uint8_t attempts)> retry) {
    now_ = std::move(now);
    longest_retry_ = std::move(retry);
  }
  ring::TableSizes tables() const;

 private:
  // While hosts are parked, this many come in from disk per second: most may be parked in their turn, and each costs
  // two reads. So this takes a twentieth of a core's time at most, and 10,000 hosts on disk are all looked at in 20 s.
  static constexpr std::size_t max_discoveries = 512;
  static constexpr Duration discoveries_every = std::chrono::seconds{1};
  // To pass a host that waits elsewhere costs a seek, and counts as a part of one that comes in.
  static constexpr std::uint64_t passed_a_discovery = 16;

  struct DigestHash {
    std::size_t operator()(const storage::UrlDigest& digest) const;
  };
  BenchHost& add_host(const storage::HostKey& key, std::string_view name);
  void learn_name(BenchHost& host, std::string_view name) const;
  Result<BenchHost*> bring_in(const storage::HostKey& key);
  Result<void> discover();
  Result<void> call_back();
  BenchHost* longest_waiter(bool in_exchange = false) const;
  bool place() const;
  bool may_come_in() const;
  bool one_is_due_elsewhere() const;
  void make_place();
  void wait_elsewhere(BenchHost& host);
  Result<void> fill_places();
  Result<void> refill(BenchHost& host);
  void limit_wait(storage::QueuedUrl& url) const;
  void insert(BenchHost& host, const storage::QueuedUrl& url);
  void cut(BenchHost& host);
  void clear_head(BenchHost& host);
  void remove(BenchHost& host, const storage::UrlDigest& url);
  void count(BenchHost& host, const storage::QueuedUrl& url, bool comes);
  void end_hold(BenchHost& host);
  void schedule(BenchHost& host);
  void unschedule(BenchHost& host);
  BenchHost* next_host(Time now);
  void end_resume(BenchHost& host);
  Result<bool> may_be_taken(BenchHost& host, Time now);
  bool room() const;
  bool nobody_due() const;
  bool wants_hosts() const;
  void make_room_for_sets();
  Result<void> note_due(Time now);
  void drop_if_idle(BenchHost& host);
  std::uint64_t share_of(const BenchHost& host) const;
  void put_aside_after_its_share(BenchHost& host);
  void put_away(BenchHost& host);
  void erase(BenchHost& host);

  Config config_;
  storage::Store* store_;
  std::function<bool(std::uint16_t)> fetches_;
  std::map<storage::HostKey, std::unique_ptr<BenchHost>> hosts_;
  WaitingHosts waiting_;
  std::set<std::tuple<Time, std::uint64_t, BenchHost*>> ready_;
  // Under best_first, hosts whose turn has come are here: by the priority of their first URL, and by their time.
  std::set<std::tuple<std::uint32_t, std::uint64_t, BenchHost*>> due_;
  std::set<std::tuple<Time, std::uint64_t, BenchHost*>> due_by_time_;
  std::set<std::tuple<Time, std::uint64_t, BenchHost*>> resumed_;
  struct Lent {
    bool out = false;       // else: it was returned, while it was not in memory
    bool acquired = false;  // in memory, and acquired for this
    Time next_allowed{};    // returned
    Time returned{};        // then; the epoch: it was not lent
  };
  void forget_returned(Time now);
  // Until when the host waits, by its clock in the store.
  Time wait_of(const storage::HostKey& key, const storage::HostClock& stored, Time now);

  std::map<storage::HostKey, Lent> lent_;
  std::set<storage::HostKey> cut_;
  std::size_t head_bytes_ = 0;  // of all hosts
  std::size_t parked_ = 0;      // hosts that are parked
  std::uint64_t taken_ = 0;
  std::uint64_t next_turn_ = 0;
  Time taken_at_{};  // of the last take()
  std::unordered_set<storage::UrlDigest, DigestHash> issued_;
  bool dormant_ = true;           // hosts with queued URLs may be on disk only
  bool pass_clean_ = true;        // nothing was left out since the walk over the disk began
  bool call_back_first_ = false;  // a host that was on disk got the last place
  Time discoveries_since_{};      // `discoveries_` hosts came in from disk since then
  std::size_t discoveries_ = 0;
  std::uint64_t passed_ = 0;  // hosts on disk that wait elsewhere
  std::optional<storage::HostKey> cursor_;
  storage::HostKey hand_;  // the last host that was looked at for room
  std::function<Time()> now_ = [] { return Time(Time::duration::max() / 2); };
  std::function<Duration(std::uint8_t)> longest_retry_ = [](std::uint8_t) { return Duration{}; };
  std::function<Time(std::uint16_t, std::string_view)> earliest_ = [](std::uint16_t, std::string_view) {
    return Time{};
  };
};

}  // namespace orbweaver
