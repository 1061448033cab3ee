// A peer's core: the one object that knows the whole loop. Pure: step(now, event, commands); no socket, clock, thread
// or random device; the only thing that it calls is the store. A loop feeds it events and carries out its commands, in
// order; the simulator does the same.
//
//   fetch -> parse -> resolve + canonicalise -> scope -> route -+- own ----> seen? -> frontier -> fetch
//                                                               +- foreign -> link cache -> outbox -> batch -> owner
//
// Its files: peer.cc (start, step, messages, what is due), peer_crawl.cc (fetches, outcomes), peer_robots.cc,
// peer_scope.cc (results of a search, what a page has used, traps and recrawl), peer_ring.cc (members, waves),
// peer_ask.cc (own answers to questions), peer_status.cc (status and metrics), peer_outside.cc
// (messages that are refused, stored rows that are left out). Thread rule: one owner (the peer's loop).
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

#include "node/crawl/batch_intake.h"
#include "node/crawl/budgets.h"
#include "node/crawl/crash_book.h"
#include "node/crawl/crawl_end.h"
#include "node/crawl/doorkeeper.h"
#include "node/crawl/ending.h"
#include "node/crawl/events.h"
#include "node/crawl/explanation.h"
#include "node/crawl/farewell.h"
#include "node/crawl/fence.h"
#include "node/crawl/host_access.h"
#include "node/crawl/lifecycle.h"
#include "node/crawl/link_router.h"
#include "node/crawl/meta_names.h"
#include "node/crawl/mirror_table.h"
#include "node/crawl/outcome.h"
#include "node/crawl/page_allowance.h"
#include "node/crawl/page_links.h"
#include "node/crawl/partition_moves.h"
#include "node/crawl/questions.h"
#include "node/crawl/recrawl_walk.h"
#include "node/crawl/ring_entry.h"
#include "node/crawl/seed_redirects.h"
#include "node/crawl/seed_set.h"
#include "node/crawl/transfer_shares.h"
#include "node/crawl/trap_judge.h"
#include "node/crawl/trap_report.h"
#include "node/crawl/workbench.h"
#include "node/scope/re2_patterns.h"
#include "node/scope/scope.h"
#include "node/scope/traps.h"
#include "node/settings/memory_plan.h"
#include "node/settings/settings.h"
#include "node/url/canonicaliser.h"

namespace orbweaver {

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
  std::uint64_t messages_refused = 0;  // whole: of another ring, at fault, or more than can be taken on
  std::uint64_t claims_refused = 0;    // members and tenures in messages, too far from what is known (ring/messages.h)
  std::uint64_t rows_dropped = 0;      // of the data directory, at the start: not readable, or not plausible
};

class Peer {
 public:
  // A peer of its ring, with what an earlier run left in the store. Errors: what in the directory cannot be read.
  static Result<std::unique_ptr<Peer>> enter(RingEntry entry, const Step& step);

  // An error: the store or the archive failed, and the process has to end.
  Result<void> step(const Step& step, Event& event);
  // When to step again (with a TickEvent) if nothing else happens.
  Time next_deadline(Time now) const;

  const ring::PeerId& id() const { return state_.id; }
  const ring::RingId& ring_id() const { return state_.ring; }
  const Settings& settings() const { return state_.settings; }
  // The partition's hosts may be asked by this peer now.
  bool fetches(ring::Partition partition) const;
  const ring::Tenures& tenures() const { return keeper_.tenures(); }
  const Lifecycle& lifecycle() const { return lifecycle_; }
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

  Peer(RingEntry&& entry, Time now);
  Result<void> restore(const RingEntry& entry, const Step& step);

  // peer_outside.cc
  Result<void> receive(Time now, MessageEvent& event, Commands& out);
  void refuse_message(const ring::Message& in, const std::string& cause, Commands& out);
  std::string sender_name(const ring::Message& in) const;
  void note_dropped(std::string_view row, const std::string& cause);

  // peer.cc
  Result<void> handle(Time now, MessageEvent& event, Commands& out);
  Result<void> handle_of_anyone(Time now, MessageEvent& event, Commands& out);
  Result<void> handle_of_ring(Time now, MessageEvent& event, Commands& out);
  Result<void> after(Time now, Commands& out);  // what is due after any event
  Result<void> take_own_outbox(const Step& step);
  // `outcome`: of a page that this peer fetched; it has no copies before what the page brought has.
  bool apply(Time now, const storage::Commit& commit, Commands& out, storage::CommitResult* result = nullptr,
             const storage::UrlKey* outcome = nullptr);
  RecordWrite writer() {
    return [this](const Step& step, const storage::Commit& commit) { return writer_.commit(step, commit); };
  }
  Result<void> start_filter();
  nlohmann::json seen_status() const;
  nlohmann::json seen_sets_status() const;
  nlohmann::json memory_status() const;
  void fail_for_good(const Error& error);
  void leave(Time now);
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
  AddressTurn may_begin(Time now, BenchHost& host, const CanonicalUrl& url, Commands& out);
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
  Result<void> on_welcome(Time now, const ring::Welcome& welcome, Commands& out);
  Result<void> on_sync(Time now, const ring::Message& message, const ring::Sync& sync, const ring::ReplyPath& reply,
                       Commands& out);
  void on_wave_probe(Time now, const ring::Message& message, const ring::WaveProbe& probe, const ring::ReplyPath& reply,
                     Commands& out);
  Result<void> membership_changed(const Step& step);
  void ask_for_admission(const Step& step);
  Result<void> end_tick(const Step& step);
  Result<void> leave_tick(const Step& step);
  bool passive() const;
  bool waves_wanted() const;
  ring::WaveReply wave_reply();

  // peer_ask.cc
  void first_seeds_tick(Time now, Commands& out);
  std::optional<ring::PeerId> who_knows(const CanonicalUrl& url);
  nlohmann::json answer_own(Time now, const std::string& verb, const nlohmann::json& body, Commands& out);
  nlohmann::json forget(const nlohmann::json& body, Time now);
  std::uint64_t held_in_flight() const;
  std::uint64_t orphaned() const;
  nlohmann::json seed(Time now, const nlohmann::json& body, Commands& out);

  PeerState state_;
  // Parts of it and of others, until all that use them are parts themselves.
  const Settings& settings_ = state_.settings;
  const MemoryPlan& memory_ = state_.memory;
  const Canonicaliser& canonicaliser_ = state_.canonicaliser;
  Partitioner& partitioner_ = state_.partitioner;
  const SitePolicy& sites_ = state_.sites;
  storage::Store* const store_ = state_.store;
  const Time& stepped_ = state_.stepped;
  MemoryUse memory_use_;
  Members members_;
  ring::Membership& membership_ = members_.membership();
  const View& view_ = members_.view();
  Replication replication_;
  OutboxSender& forwarder_ = replication_.outbox;
  Replicator& copier_ = replication_.replicator;
  Keeper& keeper_ = replication_.keeper;
  Messenger messenger_;
  Lifecycle lifecycle_;
  Workbench bench_;
  RecordWriter writer_;
  CrawlEnd end_;
  Farewell farewell_;
  Fence fence_;
  PartitionMoves moves_;
  SeedSet seeds_;
  Admission admission_;
  Doorkeeper doorkeeper_;
  Ending ending_;
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
  HostAccess access_;
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
  BatchIntake batches_;
  CrashBook crashes_;
  Budgets budgets_;
  PageAllowance allowance_;
  PeerCounters counters_;
  std::map<std::string, std::uint64_t> link_trace_;  // empty: none is recorded

  std::unordered_map<std::uint64_t, Job> jobs_;
  TransferShares shares_;                // of them
  std::deque<std::uint64_t> in_pieces_;  // jobs whose links are being committed
  // URLs whose server sent the fetch to another form of the same URL (docs/reference/canonical-form.md): asked for by
  // that form next.
  struct Detour {
    CanonicalUrl url;  // CanonicalUrl's own form, no rule of the crawl applied
    std::uint8_t hops = 1;
  };
  std::map<ring::Md5, Detour> detours_;  // by the URL's digest; in memory only, detours_max at most
  std::uint64_t next_job_ = 1;

  std::vector<Note> healed_;  // to be said with the first step
  std::optional<Error> failure_;
};

}  // namespace orbweaver
