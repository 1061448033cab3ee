#include "node/crawl/fetch_outcomes.h"

#include <algorithm>
#include <utility>

#include "node/errors/storage_error.h"
#include "node/try.h"

namespace orbweaver {

namespace {

using storage::Reason;
using storage::UrlState;

// Links of one page in one write; further ones have steps of their own, so that others have their turn.
constexpr std::size_t links_a_commit = 1000;

// A page whose server redirects it within the canonical form waits so long while there is no room for such forms.
constexpr Duration redirects_wait = std::chrono::minutes{1};

}  // namespace

Result<void> FetchOutcomes::on_fetch_ended(const Step& step, const FetchEnded& event) {
  Job* const job = around_.jobs.find(event.id);
  if (job == nullptr) return {};
  job->status = event.status;
  job->ended = event.ended;
  job->tls_fault = event.tls_fault;
  job->bytes = event.bytes;
  counters_.bytes_received += event.bytes;
  const bool page = job->fetch.kind == FetchKind::page;
  job->outcome = judge_fetch(event.error, event.status, event.retry_after,
                             page ? job->fetch.queued.attempts : job->fetch.attempts, around_.state.settings);
  if (event.error != FetchError::none)
    step.log(LogLevel::debug, "fetch", "no response",
             {{"url", job->fetch.url.text()},
              {"error", std::string(storage::reason_name(job->outcome.reason))},
              {"text", event.error_text}},
             true);
  BenchHost* const host = around_.bench.find(job->fetch.host);
  if (event.error == FetchError::cancelled) {
    // It may have been asked: whoever has the host next waits.
    if (host != nullptr)
      host->next_allowed = std::max(
          host->next_allowed, event.ended + std::max(around_.state.sites.manners(host->name).delay, host->crawl_delay));
    around_.access.leases().give_back(step.now, job->fetch.host);
    give_up(around_.jobs.take(event.id));
    return {};
  }
  if (host != nullptr) free_host(event, *job, *host);
  if (page) around_.access.leases().give_back(step.now, job->fetch.host);
  if (event.error == FetchError::none) {
    job->parsing = true;
    return {};
  }
  Job ended = around_.jobs.take(event.id);
  if (page) return finish_page(step, ended, nullptr);
  ORBWEAVER_TRY(around_.robots.finish(step, ended, nullptr));
  around_.access.leases().give_back(step.now, ended.fetch.host);
  return {};
}

// The host of a page may be asked again after a while; that of a robots.txt is kept until it is read.
void FetchOutcomes::free_host(const FetchEnded& event, const Job& job, BenchHost& host) {
  host.ahead = around_.access.ask_ahead_by(host);
  host.failures = job.outcome.host_failed ? host.failures + 1 : 0;
  if (host.failures >= host_failures_max) host.down_until = event.ended + host_down_time;
  const Answer answer{event.ended - job.started, event.error == FetchError::none,
                      event.status == 429 || event.status == 503};
  Time next = event.ended + wait_after(around_.state.sites.manners(host.name), host.crawl_delay, answer, host.manners);
  const bool asked_to_wait = event.retry_after.has_value() && event.status >= 400;
  if (job.outcome.host_failed || asked_to_wait) next = std::max(next, event.ended + job.outcome.wait);
  if (job.fetch.kind == FetchKind::page) {
    around_.bench.release(host, next);
  } else {
    host.next_allowed = std::max(host.next_allowed, next);
  }
}

// Still queued on disk, as after a crash; this process will not fetch it.
void FetchOutcomes::give_up(const Job& job) {
  if (job.fetch.kind == FetchKind::page) {
    around_.allowance.page_ends();
    around_.bench.committed(job.fetch.queued.key);
    around_.budgets.page_ends(job.fetch.url);
  }
  if (job.fetch.kind == FetchKind::stored_robots) around_.robots.parsing_given_up();
}

Result<void> FetchOutcomes::on_page_done(const Step& step, PageDone& event) {
  Job* const found = around_.jobs.find(event.id);
  if (found == nullptr) return {};
  if (event.cancelled) {
    give_up(around_.jobs.take(event.id));
    return {};
  }
  counters_.archive_bytes += event.archived_bytes;
  if (event.failure) return tl::make_unexpected(*event.failure);
  counters_.links_over_budget += event.links_over_budget;
  if (event.decoded_cut) ++counters_.pages_cut;
  if (!event.command_fault.empty())
    step.log(LogLevel::warning, "parse", "no text from a command",
             {{"url", found->fetch.url.text()}, {"why", event.command_fault}}, true);
  const bool followed = found->fetch.kind == FetchKind::page && found->outcome.kind == Outcome::Kind::fetched &&
                        !event.detour && !event.unwanted_type;
  if (followed && PageLinks::count(event) > links_a_commit) {
    event.mark.waits();
    found->page = std::make_unique<PageDone>(std::move(event));
    in_pieces_.push_back(found->fetch.id);
    around_.jobs.end_transfer(found->fetch.id);
    return {};
  }
  Job job = around_.jobs.take(event.id);
  switch (job.fetch.kind) {
    case FetchKind::page:
      return finish_page(step, job, &event);
    case FetchKind::robots:
      ORBWEAVER_TRY(around_.robots.finish(step, job, &event));
      around_.access.leases().give_back(step.now, job.fetch.host);
      return {};
    case FetchKind::stored_robots:
      around_.robots.finish_parsing(step.now, job, event);
      return {};
  }
  return {};
}

// The page's outcome comes with the last links: until then it is queued, and what a crash leaves undone is done again
// (merging is idempotent).
Result<void> FetchOutcomes::commit_piece(const Step& step) {
  if (in_pieces_.empty()) return {};
  Job& job = *around_.jobs.find(in_pieces_.front());
  PageDone& page = *job.page;
  page.mark.at_work();
  if (job.links.next + links_a_commit >= PageLinks::count(page)) {
    in_pieces_.pop_front();
    Job last = around_.jobs.take(job.fetch.id);
    return finish_page(step, last, last.page.get());
  }
  storage::Commit commit;
  around_.links.add(step.now, job.fetch, page, links_a_commit, job.links, commit);
  ORBWEAVER_TRY(around_.writer.commit(step, commit));
  around_.router.remember(commit, commit.merges.size());
  page.mark.waits();
  return {};
}

// The record of a page whose fetch has ended. `redirected`: to another form of its URL, which is asked for next.
storage::UrlRecord FetchOutcomes::judge(const Job& job, PageDone* page, bool redirected) {
  const storage::QueuedUrl& queued = job.fetch.queued;
  storage::UrlRecord record = record_of(queued, UrlState::fetched, Reason::none, job.ended);
  record.status = static_cast<std::uint16_t>(job.status);
  if (page != nullptr) record.validator = job.status == 304 ? job.fetch.validator : std::move(page->validator);
  if (redirected) {
    record.state = UrlState::queued;
    record.attempts = queued.attempts;
  } else if (page != nullptr && page->detour) {
    // Not taken: too many are under way, and it is asked for again; or there is no end to them.
    const bool no_end = !around_.redirects.full();
    record.state = no_end ? UrlState::excluded : UrlState::queued;
    record.reason = no_end ? Reason::redirects : Reason::none;
    record.attempts = queued.attempts;
    record.changed = no_end ? job.ended : job.ended + redirects_wait;
  } else if (job.outcome.kind == Outcome::Kind::fetched) {
    around_.allowance.page_fetched();
    record.reason = reason_of(job.tls_fault);
  }
  if (job.outcome.kind == Outcome::Kind::retry) {
    ++counters_.retries;
    record.state = UrlState::queued;
    record.reason = job.outcome.reason;
    record.attempts = static_cast<std::uint8_t>(queued.attempts + 1);
    record.changed = job.ended + job.outcome.wait;
  } else if (job.outcome.kind == Outcome::Kind::failed) {
    ++counters_.failed;
    record.state = UrlState::failed;
    record.reason = job.outcome.reason;
    record.attempts = static_cast<std::uint8_t>(std::min<int>(queued.attempts + 1, 255));
  } else if (page != nullptr && page->noindex && record.state == UrlState::fetched) {
    record.reason = Reason::noindex;
  }
  if (page != nullptr && page->unwanted_type && record.state == UrlState::fetched) {
    record.state = UrlState::excluded;
    record.reason = Reason::content_type;
  }
  return record;
}

Result<void> FetchOutcomes::finish_page(const Step& step, Job& job, PageDone* page) {
  const storage::UrlKey key = job.fetch.queued.key;
  around_.allowance.page_ends();
  const bool redirected = around_.redirects.follow(key.url, page, job.outcome.kind == Outcome::Kind::retry);
  storage::UrlRecord record = judge(job, page, redirected);
  // Links of error pages lead to error pages; only a page that counts as fetched is followed.
  const bool followed = page != nullptr && record.state == UrlState::fetched;
  storage::Commit commit;
  if (followed) {
    around_.links.add(step.now, job.fetch, *page, SIZE_MAX, job.links, commit);
    if (page->result_page) around_.seeds.add_results(step, *page, commit);
    if (page->links_over_budget > 0 && record.reason == Reason::none) record.reason = Reason::links_over_budget;
  }
  if (record.state != UrlState::queued) around_.crashes.clear(key, commit);
  commit.merges.push_back({key, std::move(record)});
  const std::size_t links = commit.merges.size() - 1;
  count_use(step.now, job, !redirected, commit);
  around_.bench.committed(key);
  const auto result = around_.writer.commit(step, commit, &key);
  if (!result) return tl::make_unexpected(result.error());
  ORBWEAVER_TRY(follow_later_visit(key, *result, links));
  around_.router.remember(commit, links);
  if (followed && around_.state.settings.record_links) step.out.push_back(trace_of(step.now, job, *page));
  return {};
}

// The page was queued for a later visit meanwhile, by what another peer knew. `outcome`: which of the merges is its.
Result<void> FetchOutcomes::follow_later_visit(const storage::UrlKey& key, const storage::CommitResult& result,
                                               std::size_t outcome) {
  if (result.outcomes[outcome] != storage::MergeOutcome::known) return {};
  const auto known = around_.state.store->find(key);
  if (!known) return tl::make_unexpected(error_of(known.error()));
  if (*known && (*known)->state == UrlState::queued) around_.bench.reread(key);
  return {};
}

// The host's clock goes with the outcome of each of its pages, and with it what it has used; replicas hear of that
// (RecordWriter), so that who takes the host over goes on counting.
void FetchOutcomes::count_use(Time now, const Job& job, bool counted, storage::Commit& commit) {
  around_.budgets.page_ends(job.fetch.url);
  around_.allowance.count_bytes(job.bytes, commit);
  BenchHost* const host = around_.bench.find(job.fetch.host);
  const bool answered = counted && job.status > 0;  // not the answer that leads to another form of the URL
  const bool counts = answered && around_.budgets.count(job.fetch.url, job.bytes, host, commit);
  if (host == nullptr || (host->next_allowed <= now && !counts)) return;
  commit.clocks.emplace_back(host->key, storage::HostClock{host->next_allowed, host->failures,
                                                           std::string(CanonicalUrl::host_in(job.fetch.queued.url)),
                                                           host->manners.pace, host->pages, host->bytes});
}

RecordLinks FetchOutcomes::trace_of(Time now, Job& job, const PageDone& page) {
  RecordLinks trace{std::move(job.links.trace)};
  trace.page.url = job.fetch.queued.url;
  trace.page.at = now;
  trace.page.depth = job.fetch.queued.depth;
  trace.page.worker = page.worker;
  return trace;
}

}  // namespace orbweaver
