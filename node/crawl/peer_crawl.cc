// Fetches and outcomes: how the peer crawls what is its own.
#include <algorithm>

#include "node/crawl/peer.h"
#include "node/errors/storage_error.h"
#include "node/robots/robots.h"
#include "node/robots/robots_fetch.h"
#include "node/scope/scope.h"
#include "node/url/bad_ports.h"

namespace orbweaver {

namespace {

using storage::Reason;
using storage::UrlState;

// URLs of one host excluded in one go before other hosts get their turn.
constexpr std::size_t exclusions_step = 256;
// Comparisons with robots rules in a step, in 16 bytes of path; some 10 ms. What is left is done in the next step, at
// once, so that hosts with very many rules do not silence the peer.
constexpr std::uint64_t robots_work_max = 1'000'000;

// Links of one page in one write; further ones have steps of their own, so that others have their turn.
constexpr std::size_t links_a_commit = 1000;

// URLs whose servers redirect within the canonical form, that are under way at once; further ones wait.
constexpr std::size_t detours_max = 16'384;
constexpr Duration detours_wait = std::chrono::minutes{1};

// A lookup costs a round trip, and addresses change seldom: the connection itself goes by the resolver's own lifetimes.
constexpr Duration address_lifetime = std::chrono::minutes{10};
// A lookup that failed may do better the next time.
constexpr Duration no_address_lifetime = std::chrono::seconds{2};

storage::UrlRecord record_of(const storage::QueuedUrl& queued, UrlState state, Reason reason, Time now) {
  storage::UrlRecord record;
  record.state = state;
  record.reason = reason;
  record.depth = queued.depth;
  record.steps = queued.steps;
  record.attempts = queued.attempts;
  record.since = now;
  record.url = queued.url;
  record.off_site = queued.off_site;
  record.visit = queued.visit;
  record.score = queued.score;
  return record;
}

}  // namespace

bool Peer::fetches(ring::Partition partition) const { return may_fetch() && keeper_.fetches(partition); }

bool Peer::may_fetch() const {
  return !lifecycle_.stopping() && !lifecycle_.ending() && fence_.confirmed() && seeds_.differing().empty() &&
         !copier_.full() && !members_.paused();
}

// Why no page is asked for at all, for "orbweaver status".
std::vector<std::string> Peer::held_back() const {
  std::vector<std::string> reasons;
  if (!fence_.confirmed()) reasons.emplace_back("asks the other members whether its partitions are still its own");
  for (const ring::PeerId& peer : seeds_.differing())
    reasons.push_back("peer " + peer.brief() + " knows other seeds, which are being exchanged");
  if (copier_.full()) reasons.emplace_back("too many writes wait for their second copy (copies_waiting)");
  if (members_.paused()) reasons.emplace_back("cut off from most members (on_cut = pause-minority)");
  if (lifecycle_.stopping() || lifecycle_.ending()) reasons.emplace_back("it is stopping");
  return reasons;
}

void Peer::issue_fetches(Time now, Commands& out) {
  if (!may_fetch() || !allowance_.may_start()) return release_held();
  robots_work_ = 0;
  while (jobs_.size() < settings_.fetches_max && allowance_.may_start() && robots_work_ < robots_work_max) {
    if (const auto held = shares_.next_held()) bench_.go_on(*held);
    const Result<BenchHost*> host = next_host(now);
    if (!host) return fail_for_good(host.error());
    if (*host == nullptr && !shares_.any_may_go()) return;
    if (*host != nullptr && !serve_host(now, **host, out)) return;
  }
}

TransferShares::Place Peer::place_of(BenchHost& host) const {
  if (host.domain.empty()) host.domain = registrable_domain(host.name);
  return {.domain = host.domain, .network = network_of(host.address)};
}

void Peer::hold_back(BenchHost& host) {
  const storage::HostKey key = host.key;
  const TransferShares::Place place = place_of(host);
  if (bench_.hold(host)) shares_.hold(key, place);
}

void Peer::note_begin(Time now, BenchHost& host, std::uint64_t job) {
  shares_.begin(job, place_of(host));
  access_.note_request(now, host);
}

Peer::AddressTurn Peer::may_begin(Time now, BenchHost& host, const CanonicalUrl& url, Commands& out) {
  if (host.address_until <= now || host.address_host != url.host()) {
    host.address_host = url.host();
    host.address_slot = Time{};
    out.push_back(ResolveHost{host.key, std::string(url.bare_host()), url.port()});
    return AddressTurn::asked;
  }
  if (!shares_.may_begin(place_of(host))) return AddressTurn::held;
  switch (access_.may_ask(now, host)) {
    case HostAccess::Verdict::now:
      return AddressTurn::now;
    case HostAccess::Verdict::later:
      return AddressTurn::later;
    case HostAccess::Verdict::asked:
      return AddressTurn::asked;
  }
  return AddressTurn::asked;
}

void Peer::on_resolved(Time now, HostResolved& event) {
  BenchHost* host = bench_.find(event.host);
  if (host == nullptr || !host->busy) return;
  host->address = event.address.size() == 4 || event.address.size() == 16 ? std::move(event.address) : std::string();
  host->address_until = now + (host->address.empty() ? no_address_lifetime : address_lifetime);
  bench_.release(*host, host->next_allowed);
}

// One turn of an acquired host: a robots.txt or a page is asked for, or the host is given back. False: the store
// failed.
bool Peer::serve_host(Time now, BenchHost& host, Commands& out) {
  host.ahead = {};
  if (const Time turn = sites_.first_allowed(host.name, now); turn > now) {
    bench_.release(host, turn);
    return true;
  }
  if (host.next_allowed > now) {  // taken ahead of its time, for its address's turn
    if (shares_.may_begin(place_of(host))) {
      access_.ask_ahead(now, host);
    } else {
      bench_.release(host, host.next_allowed);
    }
    return true;
  }
  storage::Commit excluded;
  const auto give_up = [&](Reason reason, UrlState state, std::uint16_t status = 0) {
    const storage::QueuedUrl queued = bench_.discard(host);
    detours_.erase(queued.key.url);
    excluded.merges.push_back({queued.key, record_of(queued, state, reason, now)});
    excluded.merges.back().record.status = status;
  };
  bool started = false;
  AddressTurn turn = AddressTurn::now;
  while (!started && !host.head.empty() && excluded.merges.size() < exclusions_step && robots_work_ < robots_work_max) {
    const storage::QueuedUrl& front = host.head.front();
    if (front.position.not_before() > now) break;
    Result<CanonicalUrl> url = CanonicalUrl::of_stored(front.url, front.key.url);
    if (const auto detour = detours_.find(front.key.url); detour != detours_.end()) url = detour->second.url;
    if (!url) {
      give_up(Reason::internal, UrlState::failed);
      continue;
    }
    if (crashes_.given_up(front.key)) {
      crashes_.clear(front.key, excluded);
      give_up(Reason::crashes_crawler, UrlState::failed);
      ++counters_.pages_failed;
      continue;
    }
    if (is_bad_port(url->port(), settings_.allow_ports)) {
      give_up(Reason::bad_port, UrlState::excluded);
      continue;
    }
    if (host.failures >= host_failures_max && now < host.down_until) {
      give_up(Reason::host_down, UrlState::failed);
      continue;
    }
    if (settings_.robots) {
      RobotsSlot& slot = robots_slot(host, std::string(url->origin()));
      std::string unread;
      const std::shared_ptr<const RobotsRules> rules = robots_rules(host, slot, now, unread);
      if (rules == nullptr && !unread.empty()) {
        if (!parsing_may_start()) {
          parse_next_.push_back(host.key);
          return excluded.merges.empty() || apply(now, excluded, out);
        }
        if (start_parsing(now, host, slot, std::move(unread), out)) {
          started = true;
          break;
        }
        give_up(Reason::internal, UrlState::failed);
        continue;
      }
      if (rules == nullptr) {
        turn = may_begin(now, host, *url, out);
        if (turn != AddressTurn::now) break;
        Result<CanonicalUrl> robots_url =
            CanonicalUrl::of_stored(slot.redirect.empty() ? slot.origin + "/robots.txt" : slot.redirect);
        if (!robots_url) {
          give_up(Reason::internal, UrlState::failed);
          continue;
        }
        start_robots(now, host, slot, std::move(*robots_url), out);
        started = true;
        break;
      }
      // Rules that were read back after a restart: what this peer asked for before it is not known, so wait as after
      // that.
      if (const Time earliest = std::max(state_.started, keeper_.held_since(host.key.partition)) + host.crawl_delay;
          now < earliest) {
        host.next_allowed = std::max(host.next_allowed, earliest);
        break;
      }
      robots_work_ += rules->size() * (1 + url->path_and_query().size() / 16);
      if (!rules->allowed(url->path_and_query())) {
        const bool had = slot.unreachable == Reason::none;
        give_up(had ? Reason::robots : slot.unreachable, UrlState::excluded, had ? std::uint16_t{0} : slot.status);
        continue;
      }
    }
    if (budgets_.spent(host, *url)) {
      give_up(Reason::budget, UrlState::excluded);
      continue;
    }
    turn = may_begin(now, host, *url, out);
    if (turn != AddressTurn::now) break;
    budgets_.page_begins(*url);
    FetchJob job{next_job_++, FetchKind::page, std::move(*url), bench_.issue(host), host.key, {}, 0, 0, {}};
    if (job.queued.visit > 0)
      if (const auto known = store_->find(job.queued.key); known && *known) job.validator = (*known)->validator;
    allowance_.page_begins();
    ++counters_.fetches;
    Job& slot = jobs_.emplace(job.id, Job{std::move(job), false, 0, {}, {}, now, FetchError::none, 0}).first->second;
    out.push_back(StartFetch{slot.job});
    note_begin(now, host, slot.job.id);
    started = true;
  }
  if (!started && turn != AddressTurn::asked) {
    if (turn != AddressTurn::later) access_.leases().give_back_unused(now, host.key);
    if (turn == AddressTurn::held) {
      hold_back(host);
    } else {
      bench_.release(host, host.next_allowed);
    }
  }
  return excluded.merges.empty() || apply(now, excluded, out);
}

void Peer::on_fetch_ended(Time now, const FetchEnded& event, Commands& out) {
  const auto found = jobs_.find(event.id);
  if (found == jobs_.end()) return;
  Job& job = found->second;
  job.status = event.status;
  job.ended = event.ended;
  job.tls_fault = event.tls_fault;
  job.bytes = event.bytes;
  counters_.bytes_received += event.bytes;
  BenchHost* host = bench_.find(job.job.host);
  const bool page = job.job.kind == FetchKind::page;
  job.outcome = judge_fetch(event.error, event.status, event.retry_after,
                            page ? job.job.queued.attempts : job.job.attempts, settings_);
  if (event.error != FetchError::none)
    note(out, LogLevel::debug, "fetch", "no response",
         {{"url", job.job.url.text()},
          {"error", std::string(storage::reason_name(job.outcome.reason))},
          {"text", event.error_text}},
         true);

  if (event.error == FetchError::cancelled) {
    // It may have been asked: whoever has the host next waits.
    if (host != nullptr)
      host->next_allowed =
          std::max(host->next_allowed, event.ended + std::max(sites_.manners(host->name).delay, host->crawl_delay));
    access_.leases().give_back(now, job.job.host);
    return give_up(event.id);
  }
  if (host != nullptr) {
    host->ahead = access_.ask_ahead_by(*host);
    host->failures = job.outcome.host_failed ? host->failures + 1 : 0;
    if (host->failures >= host_failures_max) host->down_until = event.ended + host_down_time;
    const Answer answer{event.ended - job.started, event.error == FetchError::none,
                        event.status == 429 || event.status == 503};
    Time next = event.ended + wait_after(sites_.manners(host->name), host->crawl_delay, answer, host->manners);
    const bool asked_to_wait = event.retry_after.has_value() && event.status >= 400;
    if (job.outcome.host_failed || asked_to_wait) next = std::max(next, event.ended + job.outcome.wait);
    if (page) {
      bench_.release(*host, next);
    } else {
      host->next_allowed = std::max(host->next_allowed, next);  // kept until its robots.txt is read
    }
  }
  if (page) access_.leases().give_back(now, job.job.host);
  if (event.error == FetchError::none) {
    job.parsing = true;
    return;
  }
  Job ended = std::move(job);
  end_job(event.id);
  if (page) {
    finish_page(now, ended, nullptr, out);
  } else {
    finish_robots(now, ended, nullptr, out);
    access_.leases().give_back(now, ended.job.host);
  }
}

// Still queued on disk, as after a crash; this process will not fetch it.
void Peer::give_up(std::uint64_t id) {
  const auto found = jobs_.find(id);
  const Job& job = found->second;
  if (job.job.kind == FetchKind::page) {
    allowance_.page_ends();
    bench_.committed(job.job.queued.key);
    budgets_.page_ends(job.job.url);
  }
  if (job.job.kind == FetchKind::stored_robots) --parsing_;
  end_job(id);
}

void Peer::end_job(std::uint64_t id) {
  jobs_.erase(id);
  shares_.end(id);
}

void Peer::on_page_done(Time now, PageDone& event, Commands& out) {
  const auto found = jobs_.find(event.id);
  if (found == jobs_.end()) return;
  if (event.cancelled) return give_up(event.id);
  counters_.archive_bytes += event.archived_bytes;
  if (event.failure) return fail_for_good(*event.failure);
  counters_.links_over_budget += event.links_over_budget;
  if (event.decoded_cut) ++counters_.pages_cut;
  if (!event.command_fault.empty())
    note(out, LogLevel::warning, "parse", "no text from a command",
         {{"url", found->second.job.url.text()}, {"why", event.command_fault}}, true);
  const bool followed = found->second.job.kind == FetchKind::page &&
                        found->second.outcome.kind == Outcome::Kind::fetched && !event.detour && !event.unwanted_type;
  if (followed && PageLinks::count(event) > links_a_commit) {
    event.mark.waits();
    found->second.page = std::make_unique<PageDone>(std::move(event));
    in_pieces_.push_back(found->first);
    shares_.end(found->first);
    return;
  }
  Job job = std::move(found->second);
  end_job(event.id);
  switch (job.job.kind) {
    case FetchKind::page:
      return finish_page(now, job, &event, out);
    case FetchKind::robots:
      finish_robots(now, job, &event, out);
      return access_.leases().give_back(now, job.job.host);
    case FetchKind::stored_robots:
      --parsing_;
      return finish_parsing(now, job, event);
  }
}

// One write of the links of a page that has many. Its outcome comes with the last ones: until then it is queued, and
// what a crash leaves undone is done again (merging is idempotent). False: the store failed.
bool Peer::commit_piece(Time now, Commands& out) {
  if (in_pieces_.empty()) return true;
  const auto found = jobs_.find(in_pieces_.front());
  Job& job = found->second;
  PageDone& page = *job.page;
  page.mark.at_work();
  if (job.links.next + links_a_commit >= PageLinks::count(page)) {
    in_pieces_.pop_front();
    Job last = std::move(job);
    jobs_.erase(found);
    finish_page(now, last, last.page.get(), out);
    return !failure_;
  }
  storage::Commit commit;
  links_.add(now, job.job, page, links_a_commit, job.links, commit);
  if (!apply(now, commit, out)) return false;
  router_.remember(commit, commit.merges.size());
  page.mark.waits();
  return true;
}

// A redirect to what the crawl's rules take for the same URL would be lost among the seen ones, and the page with it:
// the form that the server names is asked for instead, in another turn of the host. False: there is none, or no end to
// them.
bool Peer::take_detour(const Job& job, const PageDone* page) {
  const ring::Md5& url = job.job.queued.key.url;
  const auto before = detours_.find(url);
  if (page != nullptr && page->detour) {
    if (before == detours_.end() && detours_.size() < detours_max) {
      detours_.emplace(url, Detour{*page->detour, 1});
      return true;
    }
    if (before != detours_.end() && before->second.hops < settings_.redirects_max) {
      before->second.url = *page->detour;
      ++before->second.hops;
      return true;
    }
  }
  if (before != detours_.end() && job.outcome.kind != Outcome::Kind::retry) detours_.erase(before);
  return false;
}

// The page's outcome and its links, own and foreign, in one atomic write.
void Peer::finish_page(Time now, Job& job, PageDone* page, Commands& out) {
  const storage::QueuedUrl& queued = job.job.queued;
  allowance_.page_ends();
  storage::Commit commit;
  storage::UrlRecord record = record_of(queued, UrlState::fetched, Reason::none, job.ended);
  record.status = static_cast<std::uint16_t>(job.status);
  if (page != nullptr) record.validator = job.status == 304 ? job.job.validator : std::move(page->validator);
  const bool detour = take_detour(job, page);
  if (detour) {
    record.state = UrlState::queued;
    record.attempts = queued.attempts;
    record.not_before = job.ended;
  } else if (page != nullptr && page->detour) {
    // Not taken: too many are under way, and it is asked for again; or there is no end to them.
    const bool no_end = detours_.size() < detours_max;
    record.state = no_end ? UrlState::excluded : UrlState::queued;
    record.reason = no_end ? Reason::redirects : Reason::none;
    record.attempts = queued.attempts;
    if (!no_end) record.not_before = job.ended + detours_wait;
  } else if (job.outcome.kind == Outcome::Kind::fetched) {
    allowance_.page_fetched();
    record.reason = reason_of(job.tls_fault);
  }
  if (job.outcome.kind == Outcome::Kind::failed) ++counters_.pages_failed;
  if (job.outcome.kind == Outcome::Kind::retry) {
    ++counters_.retries;
    record.state = UrlState::queued;
    record.reason = job.outcome.reason;
    record.attempts = static_cast<std::uint8_t>(queued.attempts + 1);
    record.not_before = job.ended + job.outcome.wait;
  } else if (job.outcome.kind == Outcome::Kind::failed) {
    record.state = UrlState::failed;
    record.reason = job.outcome.reason;
    record.attempts = static_cast<std::uint8_t>(std::min<int>(queued.attempts + 1, 255));
  } else if (page != nullptr && page->noindex) {
    record.reason = Reason::noindex;
  }
  // Links of error pages lead to error pages; only a page that counts as fetched is followed.
  if (page != nullptr && page->unwanted_type && record.state == UrlState::fetched) {
    record.state = UrlState::excluded;
    record.reason = Reason::content_type;
  }
  const bool traced = settings_.record_links && page != nullptr && record.state == UrlState::fetched;
  if (page != nullptr && record.state == UrlState::fetched) {
    links_.add(now, job.job, *page, SIZE_MAX, job.links, commit);
    if (page->result_page) add_results(now, *page, commit, out);
    if (page->links_over_budget > 0 && record.reason == Reason::none) record.reason = Reason::links_over_budget;
  }
  if (record.state == UrlState::queued) {
    record.since = Time{};
  } else {
    crashes_.clear(queued.key, commit);
  }
  commit.merges.push_back({queued.key, std::move(record)});
  const std::size_t links = commit.merges.size() - 1;
  count_use(now, job, !detour, commit);
  bench_.committed(queued.key);
  storage::CommitResult result;
  if (!apply(now, commit, out, &result, &queued.key)) return;
  // It was queued for a later visit meanwhile, by what another peer knew.
  if (result.outcomes[links] == storage::MergeOutcome::known) {
    const auto known = store_->find(queued.key);
    if (!known) return fail_for_good(error_of(known.error()));
    if (*known && (*known)->state == UrlState::queued) bench_.reread(queued.key);
  }
  router_.remember(commit, links);
  if (!traced) return;
  RecordLinks trace{std::move(job.links.trace)};
  trace.page.url = queued.url;
  trace.page.at = now;
  trace.page.depth = queued.depth;
  trace.page.worker = page->worker;
  out.push_back(std::move(trace));
}

}  // namespace orbweaver
