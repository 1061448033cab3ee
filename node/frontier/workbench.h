// Whose turn it is: hosts in memory, ordered by when they may next be asked, each with a short head of its queue
// (BUbiNG's workbench). A host is acquired by take() and given back by release(), so two requests to one host cannot
// overlap. Within a host the frontier's order (storage::QueueOrder) holds. Between hosts it is fair: of those whose
// turn has come the one that has waited longest goes first. Under best_first it is the one with the highest score at
// its head, but every fourth time the one that has waited longest anyway: with n hosts whose turn has come none
// waits for more than 4n turns, however low its scores.
//
// Bounded: at most hosts_max hosts with at most 2*head_max URLs each, and of those no more than head_bytes_max bytes
// (one URL at least); the rest is on disk and comes in as room is made. A host that has served head_max URLs makes room
// when others wait on disk; hosts that are held make room first. The sets of what is known of the hosts
// (storage/seen_sets.h) have their bytes: hosts beyond those come in only when none of the others has its turn, and
// go without a set as long as there is no room for it. So no set is read for less than head_max pages, and none is
// missed by a peer that has time. Pure but for reads of the store. Thread rule: one owner (the peer's loop).
//
// Its files: workbench.cc (turns), workbench_memory.cc (what is in memory).
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
#include <vector>

#include "node/base.h"
#include "node/crawl/host_pacing.h"
#include "node/crawl/robots_cache.h"
#include "storage/store.h"

namespace orbweaver {

// What is known of one origin's robots.txt.
struct RobotsSlot {
  std::string origin;
  RobotsCache::Handle rules;  // null: not known yet
  Time expires{};
  // Not none: rules stand for "could not be had" (disallow all), and its pages are excluded with these.
  storage::Reason unreachable = storage::Reason::none;
  std::uint16_t status = 0;   // HTTP
  std::uint8_t attempts = 0;  // tries that failed so far
  std::string redirect;       // where the last answer pointed: asked for at the host's next turn
  std::uint8_t hops = 0;      // redirects followed so far
};

struct BenchHost {
  storage::HostKey key;
  std::string name;
  std::deque<storage::QueuedUrl> head;  // sorted by position; only the workbench changes it
  std::size_t head_bytes = 0;           // of it, in memory
  storage::Position loaded;             // everything on disk up to here is in head or issued
  bool more_on_disk = false;            // there may be entries after `loaded`
  bool busy = false;                    // acquired
  bool foreign = false;                 // its partition is not fetched here now
  bool held = false;                    // in no queue until go_on()
  bool resumes = false;                 // acquired, and its turn goes on at queued_at
  Duration ahead{};                     // it is taken this long before next_allowed, to ask for its address's slot
  Time next_allowed{};
  Time queued_at{};        // its key in the ready queue, with turn; meaningful while in it
  std::uint64_t turn = 0;  // of hosts with the same time the one put in first is earlier
  bool in_ready = false;
  bool is_due = false;             // its turn has come: only under best_first
  std::uint32_t due_priority = 0;  // its key among those, with turn
  std::uint32_t failures = 0;      // tries in a row without an answer
  Time down_until{};               // with host_failures_max of them: not tried before this
  HostPacing pacing;
  std::string domain;        // registered; empty: not looked for yet
  std::string address_host;  // whose address it is: a canonical redirect asks by another name
  std::string address;       // as last resolved; empty: not known, or it has none
  Time address_until{};      // then it is looked up again
  Time address_slot_until{};
  Time address_slot{};        // given by the address's owner; the epoch: none
  std::uint32_t pending = 0;  // issued and not yet committed
  std::uint32_t served = 0;
  std::uint64_t pages = 0;  // answered, and their bytes: counted under a budget only
  std::uint64_t bytes = 0;
  Duration crawl_delay{};                                         // from robots.txt
  std::vector<std::pair<std::uint64_t, std::uint32_t>> contents;  // bodies seen recently, and how often
  std::vector<RobotsSlot> robots;                                 // by origin: few
};

class Workbench {
 public:
  struct Config {
    std::size_t hosts_max = 10'000;
    std::size_t head_max = 64;
    bool best_first = false;
    std::size_t head_bytes_max = 64u << 10;  // of one host's head
  };
  // A host in memory without its head.
  static constexpr std::size_t bare_host_bytes = 1024;
  // `fetches`: whether a partition's hosts may be asked; asked at every turn.
  Workbench(Config config, storage::Store& store, std::function<bool(std::uint16_t)> fetches);

  // A URL that a commit queued. `moved`: it may stand in the head at an older position.
  void admit(const storage::QueuedUrl& url, std::string_view host, bool moved);

  // The next host whose turn has come, acquired, with at least one URL at head.front() that may be tried now; null when
  // none.
  Result<BenchHost*> take(Time now);
  // Of those that were to go on (resume()) the first whose time has come; null when none. take() gives it too.
  Result<BenchHost*> take_resumed(Time now);
  // The front URL leaves the head and counts as issued.
  storage::QueuedUrl issue(BenchHost& host);
  // The front URL leaves the head for good (it was excluded or failed without a fetch).
  storage::QueuedUrl discard(BenchHost& host);
  void release(BenchHost& host, Time next_allowed);
  // What an acquired host waited for has come: it stays acquired, and at that time take() gives it before all others,
  // for its turn goes on. Not before its next_allowed.
  void resume(BenchHost& host, Time at);
  // Nothing may be asked now: whoever was to go on is released.
  void release_resumed();
  // An acquired host whose turn has come, and that must wait for something other than time: it stands where it stood
  // when go_on() is called. False: it made room for others, which wait on disk, and will be found there again.
  bool hold(BenchHost& host);
  void go_on(const storage::HostKey& key);
  // An issued URL's outcome is committed (or was given up: a stop).
  void committed(const storage::UrlKey& key);

  BenchHost* find(const storage::HostKey& key);
  // A record that its outcome did not settle, for it knew of a later visit: read again.
  void reread(const storage::UrlKey& key);
  // A host's clock that came from another peer: it is not asked before that, and has used this much.
  void delay(const storage::HostKey& key, const storage::HostClock& clock);
  // A queued URL became something else, by what another peer knew of it.
  void withdraw(const storage::UrlKey& key);
  // Partitions that may be fetched now, or not any more: their hosts are looked for on disk, or leave.
  void fetchability_changed(const std::vector<std::uint16_t>& partitions);

  std::optional<Time> next_deadline() const;  // when take() is worth calling again
  std::size_t hosts() const { return hosts_.size(); }
  std::size_t bytes() const { return hosts_.size() * bare_host_bytes + head_bytes_; }
  std::size_t issued() const { return issued_.size(); }
  bool is_issued(const storage::UrlDigest& url) const { return issued_.contains(url); }
  // It has issued URLs, or acquired hosts but for those that resume: a partition that is not fetched any more does not
  // wait for them.
  bool partition_busy(std::uint16_t partition) const;
  // Neither a restart nor a take-over may shorten a wait: hosts that are loaded get at least this as their next allowed
  // time.
  void set_earliest(std::function<Time(std::uint16_t partition, std::string_view host)> earliest) {
    earliest_ = std::move(earliest);
  }

 private:
  // While hosts are held, so many come in from disk in a second: most may be held in their turn, and each costs two
  // reads. So this takes a twentieth of a core's time at most, and 10,000 hosts on disk are all looked at in 20 s.
  static constexpr std::size_t discoveries_max = 512;
  static constexpr Duration discoveries_every = std::chrono::seconds{1};

  struct DigestHash {
    std::size_t operator()(const storage::UrlDigest& digest) const;
  };
  BenchHost& add_host(const storage::HostKey& key, std::string_view name);
  Result<void> discover();
  Result<void> refill(BenchHost& host);
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
  void put_aside_after_its_share(BenchHost& host);
  void put_away(BenchHost& host);
  void erase(BenchHost& host);

  Config config_;
  storage::Store* store_;
  std::function<bool(std::uint16_t)> fetches_;
  std::map<storage::HostKey, std::unique_ptr<BenchHost>> hosts_;
  std::set<std::tuple<Time, std::uint64_t, BenchHost*>> ready_;
  // Under best_first, hosts whose turn has come are here instead: by the place of their first URL, and by their time.
  std::set<std::tuple<std::uint32_t, std::uint64_t, BenchHost*>> due_;
  std::set<std::tuple<Time, std::uint64_t, BenchHost*>> due_by_time_;
  std::set<std::tuple<Time, std::uint64_t, BenchHost*>> resumed_;
  std::size_t head_bytes_ = 0;  // of all hosts
  std::size_t held_ = 0;        // hosts that are held
  std::uint64_t taken_ = 0;
  std::uint64_t next_turn_ = 0;
  Time taken_at_{};  // of the last take()
  std::unordered_set<storage::UrlDigest, DigestHash> issued_;
  bool dormant_ = true;       // hosts with queued URLs may be on disk only
  bool pass_clean_ = true;    // nothing was left out since the walk over the disk began
  Time discoveries_since_{};  // hosts that came in from disk since then
  std::size_t discoveries_ = 0;
  std::optional<storage::HostKey> cursor_;
  storage::HostKey hand_;  // the last host that was looked at for room
  std::function<Time(std::uint16_t, std::string_view)> earliest_ = [](std::uint16_t, std::string_view) {
    return Time{};
  };
};

}  // namespace orbweaver
