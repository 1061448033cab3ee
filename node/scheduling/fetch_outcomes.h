// What happens after a fetch: the exchange ends, and its host is free again; a worker has read the response; the page's
// outcome and its links, own and foreign, go into the store in one atomic write. Lifetime: the peer's. Thread rule: one
// owner (the peer's loop).
#pragma once

#include <cstdint>
#include <deque>

#include "node/crawl/site_jars.h"
#include "node/frontier/budgets.h"
#include "node/frontier/canonical_redirects.h"
#include "node/frontier/crash_book.h"
#include "node/frontier/page_allowance.h"
#include "node/links/seed_intake.h"
#include "node/scheduling/host_access.h"
#include "node/scheduling/robots_desk.h"
#include "ring/table_sizes.h"

namespace orbweaver {

class FetchOutcomes {
 public:
  static constexpr std::size_t max_in_pieces = 8;
  // What it reads and changes of the peer; all outlive it.
  struct Around {
    const PeerState& state;
    const View& view;
    Workbench& bench;
    Replication& replication;
    RecordWriter& writer;
    JobTable& jobs;
    RobotsDesk& robots;
    HostAccess& access;
    CanonicalRedirects& redirects;
    PageAllowance& allowance;
    Budgets& budgets;
    CrashBook& crashes;
    SiteJars& cookies;
    LinkRouter& router;
    LinkFollower& links;
    SeedIntake& seeds;
  };
  // Since the start of the process.
  struct Counters {
    std::uint64_t retries = 0;
    std::uint64_t bytes_received = 0;
    std::uint64_t archive_bytes = 0;
    std::uint64_t links_over_budget = 0;  // of pages with more than max_link_bytes, or more than a page may have
    std::uint64_t pages_cut = 0;          // not all of the page was read: beyond its bounds when unpacked
  };
  explicit FetchOutcomes(Around around) : around_(around) {}

  Result<void> on_fetch_ended(const Step& step, const FetchEnded& event);
  Result<void> on_page_done(const Step& step, PageDone& event);
  // Writes one piece of the links of a page that has many.
  Result<void> commit_piece(const Step& step);
  // The clocks of hosts whose turns were lent (lease_desk.h), and of those whose wait was cut (Workbench).
  Result<void> store_clocks(const Step& step);
  bool any_in_pieces() const { return !in_pieces_.empty(); }
  // So many such pages wait that they take the places of other fetches.
  bool many_in_pieces() const { return in_pieces_.size() > max_in_pieces; }
  const Counters& counters() const { return counters_; }
  ring::TableSizes tables() const;

 private:
  void free_elsewhere(Time now, const FetchEnded& event, const Job& job, BenchHost& host);
  void free_host(const FetchEnded& event, const Job& job, BenchHost& host);
  void abandon(const Job& job);
  Result<void> on_robots_read(const Step& step, std::uint64_t id, RobotsRead& read);
  Result<void> on_page_read(const Step& step, Job& job, PageDone& done);
  // `done`, `page`: null without a response.
  Result<void> finish_page(const Step& step, Job& job, PageDone* done);
  storage::UrlRecord judge(const Job& job, PageRead* page, bool redirected);
  void count_use(Time now, const Job& job, bool counted, storage::Commit& commit);
  Result<void> follow_later_visit(const storage::UrlKey& key, const storage::CommitResult& result, std::size_t outcome);
  void add_links(Time now, Job& job, const PageRead& page, std::size_t most, KnownLinks& known,
                 storage::Commit& commit);
  static RecordLinks trace_of(Time now, Job& job, std::uint16_t worker);

  Around around_;
  std::deque<std::uint64_t> in_pieces_;  // jobs whose links are being committed
  Counters counters_;
};

}  // namespace orbweaver
