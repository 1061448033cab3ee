// What is asked for next: one turn of a host at a time, a page or its robots.txt, as long as there is room for another
// fetch. Whatever keeps a page from being asked for is decided here, in one order: `take_front`. Lifetime: the peer's.
// Thread rule: one owner (the peer's loop).
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "node/crawl/site_jars.h"
#include "node/frontier/budgets.h"
#include "node/frontier/canonical_redirects.h"
#include "node/frontier/crash_book.h"
#include "node/frontier/page_allowance.h"
#include "node/scheduling/fetch_gate.h"
#include "node/scheduling/host_access.h"
#include "node/scheduling/robots_desk.h"

namespace orbweaver {

class FetchScheduler {
 public:
  // What it reads and changes of the peer; all outlive it.
  struct Around {
    const PeerState& state;
    const FetchGate& gate;
    const Replication& replication;
    Workbench& bench;
    RecordWriter& writer;
    JobTable& jobs;
    RobotsDesk& robots;
    HostAccess& access;
    CanonicalRedirects& redirects;
    PageAllowance& allowance;
    Budgets& budgets;
    CrashBook& crashes;
    SiteJars& cookies;
  };
  // Since the start of the process.
  struct Counters {
    std::uint64_t fetches = 0;  // pages asked for, robots.txt not counted
  };
  explicit FetchScheduler(Around around) : around_(around) {}

  // Starts as many fetches as there are hosts and room for.
  Result<void> tick(const Step& step);
  std::optional<Time> next_deadline(Time now) const;
  // The answer to ResolveHost.
  void on_resolved(Time now, HostResolved& event);
  const Counters& counters() const { return counters_; }
  std::size_t lookups() const { return lookups_; }  // names that are being looked up

 private:
  // How a turn continues.
  enum class Next : std::uint8_t {
    another,   // with the next URL
    begun,     // something was asked for
    over,      // nothing is asked for now
    later,     // at the host's next_allowed
    asked,     // the host stays acquired until its address, its slot or its lease is known
    share,     // too much of its domain or network is in flight
    to_parse,  // the host stays acquired until a worker may parse its robots.txt
  };
  struct Turn {
    BenchHost& host;
    storage::Commit excluded{};  // URLs that end without a fetch
  };

  bool step_is_full() const;
  Result<BenchHost*> next_host(Time now);
  Result<void> serve(const Step& step, BenchHost& host);
  void end_turn(const Step& step, BenchHost& host, Next next);
  Next take_front(const Step& step, Turn& turn);
  // Nothing: robots.txt allows the page.
  std::optional<Next> take_robots(const Step& step, Turn& turn, const CanonicalUrl& url);
  Next start_robots(const Step& step, Turn& turn, RobotsSlot& slot);
  Next start_page(const Step& step, Turn& turn, CanonicalUrl url);
  std::optional<Next> wait_for_access(const Step& step, BenchHost& host, const CanonicalUrl& url);
  void start_transfer(const Step& step, BenchHost& host, FetchJob fetch);
  Next abandon(const Step& step, Turn& turn, storage::UrlState state, storage::Reason reason, std::uint16_t status = 0);

  Around around_;
  std::uint64_t robots_work_ = 0;  // of this step: comparisons with robots rules
  std::uint64_t excluded_ = 0;     // of this step: URLs
  std::size_t lookups_ = 0;        // ResolveHost without its answer yet
  Counters counters_;
};

}  // namespace orbweaver
