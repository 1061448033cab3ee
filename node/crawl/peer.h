// A peer's core: the one object that knows the whole loop. Pure: step(now, event, commands); no socket, clock, thread
// or random device; the only thing that it calls is the store. A loop feeds it events and carries out its commands, in
// order; the simulator does the same.
//
//   fetch -> parse -> resolve + canonicalise -> scope -> route -+- own ----> seen? -> frontier -> fetch
//                                                               +- foreign -> link cache -> outbox -> batch -> owner
//
// Its files: peer.cc (start, step, messages, what is due), peer_crawl.cc (fetches, outcomes), peer_robots.cc,
// peer_scope.cc (results of a search, what a page has used, traps and recrawl), peer_ring.cc (members, seeds, waves),
// peer_partitions.cc (batches, tenures, copies, transfers), peer_ask.cc (own answers to questions), peer_status.cc
// (status and metrics), peer_outside.cc (messages that are refused, stored rows that are left out). Thread rule: one
// owner (the peer's loop).
#pragma once

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "node/config/memory_plan.h"
#include "node/config/settings.h"
#include "node/crawl/budgets.h"
#include "node/crawl/copier.h"
#include "node/crawl/crash_book.h"
#include "node/crawl/events.h"
#include "node/crawl/explanation.h"
#include "node/crawl/forwarder.h"
#include "node/crawl/host_access.h"
#include "node/crawl/keeper.h"
#include "node/crawl/link_router.h"
#include "node/crawl/meta_names.h"
#include "node/crawl/mirror_table.h"
#include "node/crawl/outcome.h"
#include "node/crawl/page_allowance.h"
#include "node/crawl/page_links.h"
#include "node/crawl/partitioner.h"
#include "node/crawl/questions.h"
#include "node/crawl/recrawl_walk.h"
#include "node/crawl/site_policy.h"
#include "node/crawl/transfer_shares.h"
#include "node/crawl/trap_judge.h"
#include "node/crawl/trap_report.h"
#include "node/crawl/view.h"
#include "node/crawl/waves.h"
#include "node/crawl/workbench.h"
#include "node/url/canonicaliser.h"
#include "node/url/scope.h"

namespace orbweaver {

struct PeerStart {
  LoadedSettings settings;
  std::string address;      // that others reach it at
  ring::PeerId fresh_id;    // 128 random bits, used when the directory has no identity yet
  ring::RingId fresh_ring;  // 128 random bits, used when it makes a ring
  std::uint64_t random_seed = 0;
  std::vector<std::string> seeds;  // admitted once wait_for_peers members are active
  std::size_t wait_for_peers = 1;
  std::optional<Time> recrawl;                                  // what ended before is queued again (docs/recrawl.md)
  MemoryPlan memory = plan_memory({}, std::uint64_t{2} << 30);  // its shares of the process's
  std::vector<storage::UrlKey> at_work;  // when the last process ended, which was not clean (node/run/in_flight.h)
};

// Counts since the start of the process; the durable ones are in storage::Counts.
struct PeerCounters {
  std::uint64_t links_over_budget = 0;  // of pages with more than max_link_bytes, or more than a page may have
  std::uint64_t pages_cut = 0;          // not all of the page was read: beyond its bounds when unpacked
  std::uint64_t robots_fetched = 0;
  std::uint64_t robots_parsed_again = 0;  // read back from the store: after a restart, or dropped before
  std::uint64_t robots_rules_left_out = 0;
  std::uint64_t fetches = 0;  // pages asked for, robots.txt not counted
  std::uint64_t retries = 0;
  std::uint64_t pages_failed = 0;
  std::uint64_t bytes_received = 0;
  std::uint64_t archive_bytes = 0;
  std::uint64_t batches_received = 0;
  std::uint64_t records_received = 0;
  std::uint64_t records_malformed = 0;
  std::uint64_t messages_refused = 0;  // whole: of another ring, at fault, or more than can be taken on
  std::uint64_t claims_refused = 0;    // members and tenures in messages, too far from what is known (ring/messages.h)
  std::uint64_t rows_dropped = 0;      // of the data directory, at the start: not readable, or not plausible
};

class Peer {
 public:
  // Reads what an earlier run left in the store; makes or prepares to join a ring otherwise. Errors name the setting
  // that differs from the ring's, or what in the directory cannot be read.
  static Result<std::unique_ptr<Peer>> open(PeerStart start, storage::Store& store, Time now);

  void step(Time now, Event event, Commands& out);
  // When to step again (with a TickEvent) if nothing else happens.
  Time next_deadline(Time now) const;

  const ring::PeerId& id() const { return membership_.self().id; }
  const ring::RingId& ring_id() const { return ring_; }
  const Settings& settings() const { return settings_; }
  bool has_ring() const { return has_ring_; }
  // The partition's hosts may be asked by this peer now.
  bool fetches(ring::Partition partition) const;
  const ring::Tenures& tenures() const { return keeper_.tenures(); }
  bool stopping() const { return stopping_; }  // what is being fetched may be cancelled
  // What the loop has recorded of links, for own_status() and metrics(): pages, links, bytes, files_removed.
  void note_link_trace(std::map<std::string, std::uint64_t> counts) { link_trace_ = std::move(counts); }
  // What parts of this peer hold now, by the names of MemoryPlan::shares(), as far as it is known here.
  std::map<std::string_view, std::uint64_t> memory_use() const;
  // What the loop has found of all shares, for own_status().
  void note_memory(MemoryUse use) { memory_use_ = std::move(use); }
  nlohmann::json own_status() const;
  std::vector<std::pair<std::string, double>> metrics() const;

 private:
  struct Job {
    FetchJob job;
    bool parsing = false;  // the exchange is over, PageDone is to come
    int status = 0;
    Outcome outcome;
    Time ended{};
    Time started{};
    FetchError tls_fault = FetchError::none;
    std::uint64_t bytes = 0;  // of the response as received
    // A page with many links, which are committed in pieces, one a step.
    std::unique_ptr<PageDone> page = nullptr;
    PageLinks::Progress links = {};
  };
  Peer(PeerStart start, storage::Store& store, ring::Member self, Time now);
  Result<void> restore(const PeerStart& start, Time now);
  static Keeper::Config keeper_config(const Settings& settings);
  static Waves::Config waves_config(const Settings& settings);

  // peer_outside.cc
  void receive(Time now, MessageEvent& event, Commands& out);
  void refuse_message(const ring::Message& in, const std::string& cause, Commands& out);
  std::string sender_name(const ring::Message& in) const;
  void note_dropped(std::string_view row, const std::string& cause);
  static std::uint64_t last_incarnation(storage::Store& store, Time now);
  void restore_members(const std::string& row, Time now);
  void restore_seeds(const std::string& row);
  void restore_end(const std::string& row);

  // peer.cc
  void handle(Time now, MessageEvent& event, Commands& out);
  bool handle_before_ring(Time now, MessageEvent& event, Commands& out);
  void handle_within_ring(Time now, MessageEvent& event, Commands& out);
  void after(Time now, Commands& out);  // what is due after any event
  // `outcome`: of a page that this peer fetched; it has no copies before what the page brought has.
  bool apply(Time now, const storage::Commit& commit, Commands& out, storage::CommitResult* result = nullptr,
             const storage::UrlKey* outcome = nullptr);
  // For parts; what a failure leads to has been done then.
  Result<storage::CommitResult> write(const Step& step, const storage::Commit& commit);
  RecordWrite writer() {
    return [this](const Step& step, const storage::Commit& commit) { return write(step, commit); };
  }
  Result<void> start_filter();
  void start_access(bool made_ring);
  nlohmann::json seen_status() const;
  nlohmann::json seen_sets_status() const;
  nlohmann::json memory_status() const;
  void fail_for_good(const Error& error, Commands& out);
  void stop();
  void leave(Time now);
  void say_farewell(Time now, Commands& out);
  void exit(Time now, int code, std::string message, Commands& out);
  void finish(Time now, std::string reason, std::map<std::string, std::uint64_t> totals, Commands& out);
  void note(Commands& out, LogLevel level, std::string_view channel, std::string_view event,
            std::vector<std::pair<std::string_view, std::string>> fields, bool limited = false) const;

  // peer_crawl.cc
  void issue_fetches(Time now, Commands& out);
  bool serve_host(Time now, BenchHost& host, Commands& out);
  RobotsSlot& robots_slot(BenchHost& host, const std::string& origin);
  std::shared_ptr<const RobotsRules> robots_rules(BenchHost& host, RobotsSlot& slot, Time now, std::string& unread);
  void note_robots(Time now, BenchHost& host, RobotsSlot& slot, RobotsCache::Handle rules);
  void share_robots(const BenchHost& host, const RobotsSlot& slot, Time now);
  std::uint64_t start_robots_job(Time now, FetchKind kind, const BenchHost& host, const RobotsSlot& slot,
                                 CanonicalUrl url);
  bool start_parsing(Time now, const BenchHost& host, const RobotsSlot& slot, std::string body, Commands& out);
  void note_left_out(const RobotsSlot& slot, Commands& out);
  void finish_parsing(Time now, const Job& job, const PageDone& page);
  bool parsing_may_start() const;
  Result<BenchHost*> next_host(Time now);
  void release_held();
  void start_robots(Time now, BenchHost& host, RobotsSlot& slot, CanonicalUrl url, Commands& out);
  void on_fetch_ended(Time now, const FetchEnded& event, Commands& out);
  void give_up(std::uint64_t id);
  void on_page_done(Time now, PageDone& event, Commands& out);
  void finish_page(Time now, Job& job, PageDone* page, Commands& out);
  void finish_robots(Time now, Job& job, PageDone* page, Commands& out);
  bool commit_piece(Time now, Commands& out);
  bool take_detour(const Job& job, const PageDone* page);
  bool may_fetch() const;
  std::vector<std::string> held_back() const;
  // Whether a host may be asked now. `later`: its next_allowed says when; `asked`: it stays acquired until its address
  // or its turn is known; `held`: too much of its domain or network is under way.
  enum class AddressTurn : std::uint8_t { now, later, asked, held };
  AddressTurn may_begin(Time now, BenchHost& host, const std::string& url, Commands& out);
  TransferShares::Place place_of(BenchHost& host) const;
  void hold_back(BenchHost& host);
  void note_begin(Time now, BenchHost& host, std::uint64_t job);
  void end_job(std::uint64_t id);
  void on_resolved(Time now, HostResolved& event);

  // peer_scope.cc
  void add_results(Time now, const PageDone& page, storage::Commit& commit, Commands& out);
  void count_use(Time now, const Job& job, bool counted, storage::Commit& commit);
  nlohmann::json traps(Time now, const nlohmann::json& body, Commands& out);
  bool may_walk() const;
  nlohmann::json recrawl(Time now, const nlohmann::json& body, Commands& out);

  // peer_ring.cc
  void on_join(Time now, const ring::Message& message, const ring::Join& join, const ring::ReplyPath& reply,
               Commands& out);
  void on_welcome(Time now, const ring::Welcome& welcome, Commands& out);
  void on_sync(Time now, const ring::Message& message, const ring::Sync& sync, const ring::ReplyPath& reply,
               Commands& out);
  void on_wave_probe(Time now, const ring::Message& message, const ring::WaveProbe& probe, const ring::ReplyPath& reply,
                     Commands& out);
  void on_finish(Time now, const ring::Message& message, const ring::Finish& finish, const ring::ReplyPath& reply,
                 Commands& out);
  void membership_changed(Time now, Commands& out);
  bool admit_own_seeds(Time now, Commands& out);
  bool remember_end(Time now, const ring::Finish& finish, Commands& out);
  void check_seeds(Time now, const ring::PeerId& from, std::uint64_t fingerprint, Commands& out);
  bool add_seeds(Time now, const std::vector<std::string>& seeds, Commands& out, storage::Commit* into = nullptr);
  void send_seeds(const ring::PeerId& to, const std::vector<std::string>& seeds, Commands& out) const;
  void join_tick(Time now, Commands& out);
  void waves_tick(Time now, Commands& out);
  void leave_tick(Time now, Commands& out);
  bool passive() const;
  bool waves_wanted() const;
  ring::WaveReply wave_reply();
  std::vector<ring::PeerId> reachable_members() const;
  bool gone(const ring::PeerId& peer, Time now) const;
  bool waited_for(const ring::PeerId& peer, Time now) const;

  // peer_partitions.cc
  void on_batch(Time now, const ring::Message& message, const ring::Batch& batch, const ring::ReplyPath& reply,
                Commands& out);
  // What a batch holds, as it goes into the store.
  struct Intake {
    std::vector<storage::Merge> records;
    std::vector<CanonicalUrl> urls;  // theirs, one each
    std::map<storage::HostKey, storage::HostClock> clocks;
    std::map<std::pair<storage::HostKey, std::string>, storage::RobotsEntry> robots;  // by origin
    std::vector<std::string> seeds;
    std::size_t malformed = 0;
  };
  bool take_record(Time now, const ring::PeerId& from, const ring::BatchRecord& entry, ring::BatchKind kind,
                   Intake& intake, Commands& out);
  bool accepts(ring::Partition partition, ring::BatchKind kind) const;
  void on_batch_ack(Time now, const ring::PeerId& from, std::uint64_t sequence, Commands& out);
  void on_batch_refused(Time now, const ring::PeerId& from, const ring::BatchRefused& refused, Commands& out);
  void on_leaves(const ring::Message& message, const ring::Leaves& leaves, const ring::ReplyPath& reply, Commands& out);
  bool hear(Time now, const std::vector<ring::PartitionTenure>& tenures, Commands& out, bool asked = false);
  bool learn(Time now, const std::vector<ring::PartitionTenure>& tenures, Commands& out);
  bool decide(Time now, const Keeper::Changes& changes, Commands& out);
  void check_tenures(Time now, const ring::PeerId& from, std::uint64_t fingerprint, Commands& out);
  void send_tenures(const ring::PeerId& to, const std::vector<ring::PartitionTenure>& tenures, Commands& out) const;
  void confirm_tick(Time now, Commands& out);
  void doubt();
  bool partitions_tick(Time now, Commands& out);
  void acknowledge_copied(Commands& out);
  bool ready_to_move(ring::Partition partition, ring::TransferKind kind);
  bool paused() const;
  void copy_long_waits(Time now, const storage::Commit& commit);
  void copy_changes(Time now, const storage::CommitResult& result, const storage::UrlKey* outcome);

  // peer_ask.cc
  void first_seeds_tick(Time now, Commands& out);
  std::optional<ring::PeerId> who_knows(const CanonicalUrl& url);
  nlohmann::json answer_own(Time now, const std::string& verb, const nlohmann::json& body, Commands& out);
  nlohmann::json forget(const nlohmann::json& body, Time now);
  std::uint64_t held_in_flight() const;
  std::uint64_t orphaned() const;
  nlohmann::json seed(Time now, const nlohmann::json& body, Commands& out);

  Settings settings_;
  MemoryPlan memory_;
  MemoryUse memory_use_;
  Canonicaliser canonicaliser_;               // of settings_
  std::map<std::string, std::string> given_;  // settings that the user set: what a joiner insists on
  storage::Store* store_;
  bool overfull_told_ = false;  // of the seen-set's filter
  ring::RingId ring_;
  bool has_ring_ = false;  // knows its ring: made it, was welcomed, or restored it
  bool welcomed_ = false;  // some member answered our Join since the start
  ring::Membership membership_;
  std::uint64_t seen_version_ = 0;  // membership_.version() acted upon
  View view_;
  Partitioner partitioner_;  // of settings_
  std::set<std::string> seeds_;
  std::uint64_t seeds_fingerprint_ = 0;
  // Members whose last word of their seed set was not as this one's. No page is read then: a link would be judged by a
  // part of the scope.
  std::set<ring::PeerId> seeds_differ_;
  struct SharedRobots {
    RobotsSlot slot;
    storage::HostKey stored;  // whose the row in the store is
  };
  std::map<std::string, SharedRobots> origins_;  // robots.txt by origin, for a host's other partitions
  RobotsCache robots_;
  std::size_t parsing_ = 0;                  // stored files that workers parse now
  std::deque<storage::HostKey> parse_next_;  // held hosts whose stored files are next
  std::deque<storage::HostKey> parsed_;      // held hosts whose rules have come: their turn goes on
  std::uint64_t robots_work_ = 0;            // of this step: rules compared
  std::vector<std::string> first_seeds_;     // given at the start, not yet admitted
  std::size_t wait_for_peers_ = 1;
  std::size_t waited_ = 0;  // the most that was ever waited for
  std::unique_ptr<Scope> scope_;
  Workbench bench_;
  Forwarder forwarder_;
  Copier copier_;
  Keeper keeper_;
  Messenger messenger_;
  SitePolicy sites_;
  std::optional<HostAccess> access_;  // made with the ring's settings
  Waves waves_;
  std::set<std::string, std::less<>> seed_hosts_;
  TrapRules trap_rules_;
  MirrorTable mirrors_;
  TrapJudge trap_judge_;
  TrapReport trap_report_;
  RecrawlWalk walk_;
  LinkRouter router_;
  SeedRedirects redirects_;
  PageLinks links_;
  Explanation explanation_;
  Questions questions_;
  CrashBook crashes_;
  Budgets budgets_;
  PageAllowance allowance_;
  PeerCounters counters_;
  std::map<std::string, std::uint64_t> link_trace_;  // empty: none is recorded
  std::map<ring::PeerId, std::uint16_t> spoken_;     // protocol version of the last message from each member

  std::unordered_map<std::uint64_t, Job> jobs_;
  TransferShares shares_;                // of them
  std::deque<std::uint64_t> in_pieces_;  // jobs whose links are being committed
  // URLs whose server sent the fetch to another form of the same URL (docs/canonical-form.md): asked for by that form
  // next.
  struct Detour {
    CanonicalUrl url;  // CanonicalUrl's own form, no rule of the crawl applied
    std::uint8_t hops = 1;
  };
  std::map<ring::Md5, Detour> detours_;  // by the URL's digest; in memory only, detours_max at most
  std::uint64_t next_job_ = 1;
  std::uint64_t last_wave_ = 0;  // probes older than this are late copies, for a while
  Time last_wave_at_{};
  ring::PeerId last_wave_from_;
  std::uint64_t grant_applied_ = 0;

  // Batches whose senders are told once all that was written before has its copies.
  struct Unanswered {
    ring::ReplyPath reply;
    ring::PeerId from;
    std::uint64_t sequence = 0;
    std::uint64_t items = 0;  // Copier::safe() must have reached this
  };
  std::deque<Unanswered> unanswered_;
  // What must be safe before a partition that is to move may go: outbox number, item number; noted when it fell quiet.
  std::map<ring::Partition, std::pair<std::uint64_t, std::uint64_t>> safe_from_;
  bool plan_due_ = true;
  bool own_seeds_due_ = true;           // all of them: the owners have changed
  std::vector<std::string> seeds_due_;  // new ones
  std::optional<ring::Finish> ended_;   // of the crawl, told to this peer before (meta_name::ended)
  bool was_paused_ = false;
  bool applying_ = false;     // apply() is under way: the disk may be ahead of memory
  bool view_lost_ = false;    // the last view was not whole, and someone holds something who is not in it
  std::vector<Note> healed_;  // to be said with the first step
  // Heard, since the start or since this process last stood still, what the others know of who holds what: from one
  // that is confirmed itself, or from all. Before that nothing is fetched: another may have taken over. Only an answer
  // to a question asked since counts (nonce): what waited in a socket meanwhile is old.
  bool confirmed_ = false;
  std::uint64_t nonce_ = 0;
  std::set<ring::PeerId> answered_;  // the nonce
  Time next_question_{};
  ring::PeerId last_asked_;  // of the last round of questions
  Time stepped_{};           // the last step
  Time next_tenures_{};      // no table of tenures is sent before
  std::map<ring::PeerId, Time> down_since_;
  std::map<ring::PeerId, Time> twins_;  // joiners whose identity another process seems to have: first asked

  Time started_{};
  Time restarted_{};  // `started_` when the directory had a crawl in it
  Time leave_by_{};
  Time next_farewell_{};
  std::vector<std::string> join_;  // whom to ask: as set, or the members of the last run after a leave
  Time next_join_{};
  Time next_seed_sync_{};
  Time next_finish_{};
  std::set<ring::PeerId> finish_acks_;
  std::vector<ring::PeerId> finish_to_;  // who is told of the end: the members when it was found
  Time finish_since_{};
  bool stopping_ = false;
  bool leaving_ = false;
  bool exited_ = false;
  std::optional<Time> exit_at_;
  Exit exit_;
};

// A peer without a ring gives up when no member answered for this long.
inline constexpr Duration join_wait_max = std::chrono::seconds{60};

}  // namespace orbweaver
