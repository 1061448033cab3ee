#include "node/scheduling/fetch_scheduler.h"

#include <algorithm>
#include <utility>

#include "node/robots/robots.h"
#include "node/try.h"
#include "node/url/bad_ports.h"

namespace orbweaver {

namespace {

using storage::Reason;
using storage::UrlState;

// URLs of one host that are excluded in one go before other hosts get their turn.
constexpr std::size_t exclusions_step = 256;
// Comparisons with robots rules in a step, in 16 bytes of path, and URLs excluded in one; about 10 ms each. The rest is
// done in the next step, at once. So hosts with very many rules, or with very many URLs that are not asked for, do not
// silence the peer.
constexpr std::uint64_t max_robots_work = 1'000'000;
constexpr std::uint64_t max_exclusions = 2000;

// A lookup costs a round trip, and addresses change rarely: the connection itself goes by the resolver's own lifetimes.
constexpr Duration address_lifetime = std::chrono::minutes{10};
// A host that is lent looks again after this long.
constexpr Duration while_lent = std::chrono::milliseconds{200};
// A host that an operator has paused looks this often whether it still is.
constexpr Duration while_paused = std::chrono::seconds{2};
// A lookup that failed may do better the next time.
constexpr Duration no_address_lifetime = std::chrono::seconds{2};

}  // namespace

Result<void> FetchScheduler::tick(const Step& step) {
  if (!around_.gate.open() || !around_.allowance.may_start()) {
    around_.robots.release_waiting();
    around_.bench.release_resumed();
    return {};
  }
  robots_work_ = 0;
  excluded_ = 0;
  while (!around_.jobs.full() && around_.allowance.may_start() && !step_is_full()) {
    around_.jobs.resume_waiting();
    const Result<BenchHost*> host = next_host(step.now);
    if (!host) return tl::make_unexpected(host.error());
    if (*host == nullptr && !around_.jobs.any_may_resume()) return {};
    if (*host != nullptr) ORBWEAVER_TRY(serve(step, **host));
  }
  return {};
}

std::optional<Time> FetchScheduler::next_deadline(Time now) const {
  if (!around_.gate.open() || around_.jobs.full() || !around_.allowance.may_start()) return std::nullopt;
  return around_.robots.any_may_go_on() ? std::optional(now) : around_.bench.next_deadline();
}

bool FetchScheduler::step_is_full() const { return robots_work_ >= max_robots_work || excluded_ >= max_exclusions; }

// A host that resumes, one that waits for a worker to parse its rules, or the next one whose turn has come.
Result<BenchHost*> FetchScheduler::next_host(Time now) {
  // Hosts whose rules are parsed go before others begin to parse, or the rules of others would take their place.
  if (Result<BenchHost*> host = around_.bench.take_resumed(now); !host || *host != nullptr) return host;
  if (BenchHost* host = around_.robots.next_to_parse()) return host;
  return around_.bench.take(now);
}

// One turn of an acquired host: a robots.txt or a page is asked for, or the host is released.
Result<void> FetchScheduler::serve(const Step& step, BenchHost& host) {
  host.ahead = {};
  host.elsewhere.clear();
  const HostOrder order = around_.state.sites.order_of(host.name);
  Time opens = around_.state.sites.first_allowed(host.name, step.now);
  if (order.paused) opens = std::max(opens, step.now + while_paused);
  if (opens > step.now && !order.blocked) {  // what is blocked waits for nothing
    around_.bench.release(host, opens);
    return {};
  }
  if (host.next_allowed > step.now) {  // taken ahead of its time, for its address's slot
    const Duration ahead = around_.access.ask_ahead_by(host);
    if (host.next_allowed - step.now <= ahead && around_.jobs.may_begin(host)) {
      around_.access.ask_ahead(step.now, host);
    } else {
      if (host.next_allowed - step.now > ahead) host.ahead = ahead;  // it was given a later time meanwhile
      around_.bench.release(host, host.next_allowed);
    }
    return {};
  }
  Turn turn{host};
  Next next = Next::another;
  while (next == Next::another && !host.head.empty() && turn.excluded.merges.size() < exclusions_step &&
         !step_is_full())
    next = take_front(step, turn);
  end_turn(step, host, next);
  if (!turn.excluded.merges.empty()) ORBWEAVER_TRY(around_.writer.commit(step, turn.excluded));
  return {};
}

void FetchScheduler::end_turn(const Step& step, BenchHost& host, Next next) {
  switch (next) {
    case Next::begun:
    case Next::asked:
      return;
    case Next::to_parse:
      return around_.robots.wait_to_parse(host);
    case Next::later:
      return around_.bench.release(host, host.next_allowed);
    case Next::share:
      around_.access.leases().give_back_unused(step.now, host.key);
      return around_.jobs.hold_back(host);
    case Next::another:
    case Next::over:
      around_.access.leases().give_back_unused(step.now, host.key);
      return around_.bench.release(host, host.next_allowed);
  }
}

// Takes the first URL of the host's queue.
FetchScheduler::Next FetchScheduler::take_front(const Step& step, Turn& turn) {
  BenchHost& host = turn.host;
  const storage::QueuedUrl& front = host.head.front();
  if (front.position.not_before() > step.now) return Next::over;
  const CanonicalUrl* const form = around_.redirects.form_of(front.key);
  Result<CanonicalUrl> url = form != nullptr ? *form : CanonicalUrl::of_stored(front.url, front.key.url);
  if (!url) return abandon(step, turn, UrlState::failed, Reason::internal);
  if (around_.state.sites.order_of(host.name).blocked)
    return abandon(step, turn, UrlState::excluded, Reason::operator_block);
  if (around_.crashes.given_up(front.key)) {
    around_.crashes.clear(front.key, turn.excluded);
    return abandon(step, turn, UrlState::failed, Reason::crashes_crawler);
  }
  if (is_bad_port(url->port(), around_.state.settings.allow_ports))
    return abandon(step, turn, UrlState::excluded, Reason::bad_port);
  if (host.failures >= max_host_failures && step.now < host.down_until)
    return abandon(step, turn, UrlState::failed, Reason::host_down);
  if (around_.state.settings.robots)
    if (const std::optional<Next> next = take_robots(step, turn, *url)) return *next;
  if (around_.budgets.spent(host, *url)) return abandon(step, turn, UrlState::excluded, Reason::budget);
  if (const std::optional<Next> next = wait_for_access(step, host, *url)) return *next;
  return start_page(step, turn, std::move(*url));
}

// What robots.txt says about the page.
std::optional<FetchScheduler::Next> FetchScheduler::take_robots(const Step& step, Turn& turn, const CanonicalUrl& url) {
  BenchHost& host = turn.host;
  RobotsSlot& slot = RobotsDesk::slot(host, std::string(url.origin()));
  std::string unread;
  const std::shared_ptr<const RobotsRules> rules = around_.robots.rules(step.now, host, slot, unread);
  if (rules == nullptr && !unread.empty()) {
    if (!around_.robots.parsing_may_start()) return Next::to_parse;
    if (around_.robots.start_parsing(step, host, slot, std::move(unread))) return Next::begun;
    return abandon(step, turn, UrlState::failed, Reason::internal);
  }
  if (rules == nullptr) return start_robots(step, turn, slot);
  // Rules may be read back after a restart, when earlier requests are not known: wait as after a request. Likewise
  // after a turn that was lent: the Crawl-delay may not have been known then.
  const Time held_since = around_.replication.partition_manager.held_since(host.key.partition);
  const Time asked = std::max({around_.state.started, held_since, host.lent_until});
  if (const Time earliest = asked + host.crawl_delay; step.now < earliest) {
    host.next_allowed = std::max(host.next_allowed, earliest);
    return Next::over;
  }
  robots_work_ += rules->size() * (1 + url.path_and_query().size() / 16);
  if (rules->allowed(url.path_and_query())) return std::nullopt;
  if (slot.unreachable == Reason::none) return abandon(step, turn, UrlState::excluded, Reason::robots);
  return abandon(step, turn, UrlState::excluded, slot.unreachable, slot.status);
}

FetchScheduler::Next FetchScheduler::start_robots(const Step& step, Turn& turn, RobotsSlot& slot) {
  Result<CanonicalUrl> robots_url =
      CanonicalUrl::of_stored(slot.redirect.empty() ? slot.origin + "/robots.txt" : slot.redirect);
  if (!robots_url) return abandon(step, turn, UrlState::failed, Reason::internal);
  turn.host.elsewhere = around_.robots.elsewhere(turn.host, *robots_url);
  const HostOrder order = around_.state.sites.order_of(turn.host.elsewhere);
  if (order.blocked) return abandon(step, turn, UrlState::excluded, Reason::operator_block);
  if (order.paused) {
    turn.host.next_allowed = std::max(turn.host.next_allowed, step.now + while_paused);
    return Next::later;
  }
  if (const std::optional<Next> next = wait_for_access(step, turn.host, *robots_url)) return *next;
  start_transfer(step, turn.host,
                 {.url = std::move(*robots_url), .host = turn.host.key, .what = RobotsDesk::fetch_of(turn.host, slot)});
  return Next::begun;
}

FetchScheduler::Next FetchScheduler::start_page(const Step& step, Turn& turn, CanonicalUrl url) {
  around_.budgets.page_begins(url);
  PageFetch fetch{.queued = around_.bench.issue(turn.host)};
  if (fetch.queued.visit > 0)
    if (const auto known = around_.state.store->find(fetch.queued.key); known && *known)
      fetch.validator = (*known)->validator;
  around_.allowance.page_begins();
  ++counters_.fetches;
  start_transfer(step, turn.host, {.url = std::move(url), .host = turn.host.key, .what = std::move(fetch)});
  return Next::begun;
}

void FetchScheduler::start_transfer(const Step& step, BenchHost& host, FetchJob fetch) {
  const bool elsewhere = !host.elsewhere.empty();
  fetch.delay = std::max(around_.state.sites.pacing(elsewhere ? host.elsewhere : host.name).delay,
                         elsewhere ? Duration{} : host.crawl_delay);
  const Job& job = around_.jobs.add(step.now, std::move(fetch));
  step.out.push_back(StartFetch{job.fetch, around_.cookies.header_for(step.now, job.fetch)});
  around_.jobs.begin_transfer(job.fetch.id, host);
  around_.access.note_request(step.now, host);
}

// Nothing: the host may be asked now.
std::optional<FetchScheduler::Next> FetchScheduler::wait_for_access(const Step& step, BenchHost& host,
                                                                    const CanonicalUrl& url) {
  if (host.elsewhere.empty()) {  // others ask it now, or come for its turn
    const Time until = around_.bench.is_lent(host.key) ? step.now + while_lent : host.yields_until;
    if (until > step.now) {
      host.next_allowed = std::max(host.next_allowed, until);
      return Next::later;
    }
  }
  if (host.address_until <= step.now || host.address_host != url.host()) {
    host.address_host = url.host();
    host.address_slot = Time{};
    ++lookups_;
    step.out.push_back(ResolveHost{host.key, std::string(url.bare_host()), url.port()});
    return Next::asked;
  }
  if (!around_.jobs.may_begin(host)) return Next::share;
  switch (around_.access.may_ask(step.now, host)) {
    case HostAccess::Verdict::now:
      return std::nullopt;
    case HostAccess::Verdict::later:
      return Next::later;
    case HostAccess::Verdict::asked:
      return Next::asked;
  }
  return Next::asked;
}

void FetchScheduler::on_resolved(Time now, HostResolved& event) {
  --lookups_;
  BenchHost* host = around_.bench.find(event.host);
  if (host == nullptr || !host->busy) return;
  host->address = event.address.size() == 4 || event.address.size() == 16 ? std::move(event.address) : std::string();
  host->address_until = now + (host->address.empty() ? no_address_lifetime : address_lifetime);
  around_.bench.resume(*host, now);
}

// The first URL ends without a fetch.
FetchScheduler::Next FetchScheduler::abandon(const Step& step, Turn& turn, UrlState state, Reason reason,
                                             std::uint16_t status) {
  ++excluded_;
  const storage::QueuedUrl queued = around_.bench.discard(turn.host);
  around_.redirects.forget(queued.key);
  storage::UrlRecord record = record_of(queued, state, reason, step.now);
  record.status = status;
  turn.excluded.merges.push_back({queued.key, std::move(record)});
  return Next::another;
}

}  // namespace orbweaver
