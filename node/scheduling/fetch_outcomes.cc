#include "node/scheduling/fetch_outcomes.h"

#include <algorithm>
#include <utility>

#include "node/crawl/meta_names.h"
#include "node/errors/storage_error.h"
#include "node/overloaded.h"
#include "node/try.h"

namespace orbweaver {

namespace {

using storage::Reason;
using storage::UrlState;

// Links of one page in one write; further ones have steps of their own, so that other pages are not delayed.
constexpr std::size_t links_a_commit = 1000;

// Tries that failed before this one.
std::uint8_t attempts_of(const FetchJob& fetch) {
  return std::visit(Overloaded{[](const PageFetch& page) { return page.queued.attempts; },
                               [](const RobotsFetch& robots) { return robots.attempts; },
                               [](const RobotsParse&) { return std::uint8_t{0}; }},
                    fetch.what);
}

}  // namespace

Result<void> FetchOutcomes::on_fetch_ended(const Step& step, const FetchEnded& event) {
  Job* const job = around_.jobs.find(event.id);
  if (job == nullptr) return {};
  job->status = event.status;
  around_.jobs.received(*job, event.ended);
  job->tls_fault = event.tls_fault;
  job->bytes = event.bytes;
  counters_.bytes_received += event.bytes;
  const bool page = job->fetch.page() != nullptr;
  job->verdict =
      judge_fetch(event.error, event.status, event.retry_after, attempts_of(job->fetch), around_.state.settings);
  if (event.error != FetchError::none)
    step.log(LogLevel::debug, "fetch", "no response",
             {{"url", job->fetch.url.text()},
              {"error", std::string(storage::reason_name(job->verdict.reason))},
              {"text", event.error_text}},
             true);
  BenchHost* const host = around_.bench.find(job->fetch.host);
  if (event.error == FetchError::cancelled) {
    // The host may have been asked: the next to ask it waits.
    if (host != nullptr)
      host->next_allowed = std::max(
          host->next_allowed, event.ended + std::max(around_.state.sites.pacing(host->name).delay, host->crawl_delay));
    around_.access.leases().give_back(step.now, job->fetch.host);
    abandon(around_.jobs.take(event.id));
    return {};
  }
  around_.cookies.take(step.now, job->fetch, event.set_cookies);
  if (host != nullptr && !page && !host->elsewhere.empty()) {
    free_elsewhere(step.now, event, *job, *host);
  } else if (host != nullptr) {
    free_host(event, *job, *host);
  }
  if (page) around_.access.leases().give_back(step.now, job->fetch.host);
  if (event.error == FetchError::none) return {};  // a PageDone follows
  Job ended = around_.jobs.take(event.id);
  if (page) return finish_page(step, ended, nullptr);
  ORBWEAVER_TRY(around_.robots.finish(step, ended, nullptr));
  around_.access.leases().give_back(step.now, ended.fetch.host);
  return {};
}

// The host of a page may be asked again after a while; that of a robots.txt stays acquired until the file is read.
void FetchOutcomes::free_host(const FetchEnded& event, const Job& job, BenchHost& host) {
  host.ahead = around_.access.ask_ahead_by(host);
  host.failures = job.verdict.host_failed ? host.failures + 1 : 0;
  if (host.failures >= max_host_failures) host.down_until = event.ended + host_down_time;
  const Answer answer{event.ended - job.started, event.error == FetchError::none,
                      event.status == 429 || event.status == 503};
  Time next = event.ended + next_delay(around_.state.sites.pacing(host.name), host.crawl_delay, answer, host.pacing);
  const bool asked_to_wait = event.retry_after.has_value() && event.status >= 400;
  if (job.verdict.host_failed || asked_to_wait) next = std::max(next, event.ended + job.verdict.wait);
  if (job.fetch.page() != nullptr) {
    around_.bench.release(host, next);
  } else {
    host.next_allowed = std::max(host.next_allowed, next);
  }
}

// The request of a robots.txt went to another host: that one rests now, and what it answered says nothing of this one.
void FetchOutcomes::free_elsewhere(Time now, const FetchEnded& event, const Job& job, BenchHost& host) {
  const Answer answer{event.ended - job.started, event.error == FetchError::none,
                      event.status == 429 || event.status == 503};
  HostPacing unknown;
  Duration wait = next_delay(around_.state.sites.pacing(host.elsewhere), {}, answer, unknown);
  if (event.retry_after && event.status >= 400) wait = std::max(wait, job.verdict.wait);
  around_.access.leases().give_back_elsewhere(now, host.key, event.ended - now + wait);
  // Its own address is looked up again.
  host.address.clear();
  host.address_host.clear();
  host.address_slot = Time{};
}

// The page is still queued on disk, as after a crash; this process will not fetch it.
void FetchOutcomes::abandon(const Job& job) {
  if (const PageFetch* const page = job.fetch.page()) {
    around_.allowance.page_ends();
    around_.bench.committed(page->queued.key);
    around_.budgets.page_ends(job.fetch.url);
  }
  if (std::holds_alternative<RobotsParse>(job.fetch.what)) around_.robots.parsing_given_up();
}

Result<void> FetchOutcomes::on_page_done(const Step& step, PageDone& event) {
  Job* const found = around_.jobs.find(event.id);
  if (found == nullptr) return {};
  counters_.archive_bytes += event.archived_bytes;
  if (event.decoded_cut) ++counters_.pages_cut;
  return std::visit(
      Overloaded{[&](const NotRead&) -> Result<void> {
                   abandon(around_.jobs.take(event.id));
                   return {};
                 },
                 [](const NotWritten& not_written) -> Result<void> { return tl::make_unexpected(not_written.failure); },
                 [&](RobotsRead& read) { return on_robots_read(step, event.id, read); },
                 [&](PageRead&) { return on_page_read(step, *found, event); }},
      event.what);
}

Result<void> FetchOutcomes::on_robots_read(const Step& step, std::uint64_t id, RobotsRead& read) {
  const Job job = around_.jobs.take(id);
  if (std::holds_alternative<RobotsParse>(job.fetch.what)) {
    around_.robots.finish_parsing(step.now, job, read);
    return {};
  }
  ORBWEAVER_TRY(around_.robots.finish(step, job, &read));
  around_.access.leases().give_back(step.now, job.fetch.host);
  return {};
}

Result<void> FetchOutcomes::on_page_read(const Step& step, Job& job, PageDone& done) {
  const PageRead& page = std::get<PageRead>(done.what);
  counters_.links_over_budget += page.links_over_budget;
  if (!page.command_fault.empty())
    step.log(LogLevel::warning, "parse", "no text from a command",
             {{"url", job.fetch.url.text()}, {"why", page.command_fault}}, true);
  const bool followed =
      job.verdict.kind == FetchVerdict::Kind::fetched && !page.canonical_redirect && !page.unwanted_type;
  if (followed && LinkFollower::count(page) > links_a_commit) {
    done.mark.waits();
    job.page = std::make_unique<PageDone>(std::move(done));
    in_pieces_.push_back(job.fetch.id);
    around_.jobs.end_transfer(job.fetch.id);
    return {};
  }
  Job ended = around_.jobs.take(done.id);
  return finish_page(step, ended, &done);
}

Result<void> FetchOutcomes::store_clocks(const Step& step) {
  storage::Commit commit;
  commit.clocks = around_.access.leases().take_clocks();
  for (const storage::HostKey& key : around_.bench.take_cut_waits()) {
    const auto known = around_.state.store->clock(key);
    if (!known) return tl::make_unexpected(error_of(known.error()));
    if (!*known || (*known)->until(step.now) == (*known)->next_allowed) continue;  // it was written anew since
    commit.clocks.emplace_back(key, **known);
    commit.clocks.back().second.next_allowed = (*known)->until(step.now);
  }
  if (commit.clocks.empty()) return {};
  ORBWEAVER_TRY(around_.writer.commit(step, commit));
  return {};
}

// The page's outcome comes with the last links. Until then the page is queued, and what a crash leaves undone is done
// again (merging is idempotent).
Result<void> FetchOutcomes::commit_piece(const Step& step) {
  if (in_pieces_.empty()) return {};
  Job& job = *around_.jobs.find(in_pieces_.front());
  const PageRead& page = std::get<PageRead>(job.page->what);
  job.page->mark.at_work();
  if (job.links.next + links_a_commit >= LinkFollower::count(page)) {
    in_pieces_.pop_front();
    Job last = around_.jobs.take(job.fetch.id);
    return finish_page(step, last, last.page.get());
  }
  storage::Commit commit;
  KnownLinks known;
  if (job.dependent == 0 && around_.state.settings.replicas > 1)
    job.dependent = around_.replication.dependents.begin(Dependents::Kind::outcome);
  add_links(step.now, job, page, links_a_commit, known, commit);
  ORBWEAVER_TRY(around_.writer.commit(step, commit, {.dependent = job.dependent, .links = &known}));
  around_.router.remember(commit, commit.merges.size());
  job.page->mark.waits();
  return {};
}

// Notes links that were known already: the page's outcome waits for them too.
void FetchOutcomes::add_links(Time now, Job& job, const PageRead& page, std::size_t most, KnownLinks& known,
                              storage::Commit& commit) {
  if (around_.state.settings.replicas > 1) {
    known.copied = [this](ring::Partition partition) {
      return around_.replication.partition_manager.copies_whole(partition, around_.view);
    };
    around_.router.note_known_in(&known);
  }
  around_.links.add(now, job.fetch, page, most, job.links, commit);
  around_.router.note_known_in(nullptr);
}

// The record of a page whose fetch has ended. `redirected`: to another form of its URL, which is asked for next.
storage::UrlRecord FetchOutcomes::judge(const Job& job, PageRead* page, bool redirected) {
  const PageFetch& fetch = *job.fetch.page();
  const storage::QueuedUrl& queued = fetch.queued;
  storage::UrlRecord record = record_of(queued, UrlState::fetched, Reason::none, job.ended);
  record.status = static_cast<std::uint16_t>(job.status);
  if (page != nullptr && job.status == 304) {
    record.validator = fetch.validator;
  } else if (page != nullptr) {
    record.validator = std::move(page->validator);
  }
  if (redirected) {
    record.state = UrlState::queued;
    record.attempts = queued.attempts;
    record.not_before = queued.position.not_before();  // it keeps its place, as one that was never tried does
  } else if (page != nullptr && page->canonical_redirect) {
    // There were too many of them.
    record.state = UrlState::excluded;
    record.reason = Reason::redirects;
    record.attempts = queued.attempts;
  } else if (job.verdict.kind == FetchVerdict::Kind::fetched) {
    around_.allowance.page_fetched();
    record.reason = reason_of(job.tls_fault);
  }
  if (job.verdict.kind == FetchVerdict::Kind::retry) {
    ++counters_.retries;
    record.state = UrlState::queued;
    record.reason = job.verdict.reason;
    record.attempts = static_cast<std::uint8_t>(queued.attempts + 1);
    record.not_before = job.ended + job.verdict.wait;
  } else if (job.verdict.kind == FetchVerdict::Kind::failed) {
    record.state = UrlState::failed;
    record.reason = job.verdict.reason;
    record.attempts = static_cast<std::uint8_t>(std::min<int>(queued.attempts + 1, 255));
  } else if (page != nullptr && page->noindex && record.state == UrlState::fetched) {
    record.reason = Reason::noindex;
  }
  if (page != nullptr && page->unwanted_type && record.state == UrlState::fetched) {
    record.state = UrlState::excluded;
    record.reason = Reason::content_type;
  }
  if (record.state == UrlState::queued) record.since = Time{};
  return record;
}

Result<void> FetchOutcomes::finish_page(const Step& step, Job& job, PageDone* done) {
  PageRead* const page = done == nullptr ? nullptr : &std::get<PageRead>(done->what);
  const storage::UrlKey key = job.fetch.page()->queued.key;
  around_.allowance.page_ends();
  const bool redirected = around_.redirects.follow(key, page, job.verdict.kind == FetchVerdict::Kind::retry);
  storage::UrlRecord record = judge(job, page, redirected);
  // Links of error pages lead to error pages; only a page that counts as fetched is followed.
  const bool followed = page != nullptr && record.state == UrlState::fetched;
  storage::Commit commit;
  commit.taken = &job.fetch.page()->queued;
  KnownLinks known;
  if (followed) {
    add_links(step.now, job, *page, SIZE_MAX, known, commit);
    if (const auto* list = std::get_if<ResultList>(&page->listed)) around_.seeds.add_results(step, *list, commit);
    if (page->links_over_budget > 0 && record.reason == Reason::none) record.reason = Reason::links_over_budget;
  }
  if (record.state != UrlState::queued) around_.crashes.clear(key, commit);
  record.fetched_here = record.state == UrlState::fetched;
  if (record.fetched_here && around_.state.settings.replicas > 1) {
    CopiedUntil& copied_until = around_.replication.copied_until;
    record.since = copied_until.moment_of(record.since);
    if (auto row = copied_until.note_fetched(record.since))
      commit.meta.emplace_back(meta_name::copied_until, std::move(*row));
  }
  commit.merges.push_back({key, std::move(record)});
  const std::size_t links = commit.merges.size() - 1;
  count_use(step.now, job, !redirected, commit);
  around_.cookies.write(step.now, job.fetch, commit);
  around_.bench.committed(key);
  const auto result =
      around_.writer.commit(step, commit, {.outcome = &key, .dependent = job.dependent, .links = &known});
  if (!result) return tl::make_unexpected(result.error());
  ORBWEAVER_TRY(follow_later_visit(key, *result, links));
  around_.router.remember(commit, links);
  if (followed && around_.state.settings.record_links) step.out.push_back(trace_of(step.now, job, done->worker));
  return {};
}

// The page was queued for a later visit meanwhile, by another peer's record. `outcome`: the page's place in the merges.
Result<void> FetchOutcomes::follow_later_visit(const storage::UrlKey& key, const storage::CommitResult& result,
                                               std::size_t outcome) {
  if (result.outcomes[outcome] != storage::MergeOutcome::known) return {};
  const auto known = around_.state.store->find(key);
  if (!known) return tl::make_unexpected(error_of(known.error()));
  if (*known && (*known)->state == UrlState::queued) around_.bench.reread(key);
  return {};
}

// The host's clock goes with the outcome of each of its pages, and with it what the host has used. Replicas receive
// that (RecordWriter), so that the peer that takes the host over continues the count.
void FetchOutcomes::count_use(Time now, const Job& job, bool counted, storage::Commit& commit) {
  around_.budgets.page_ends(job.fetch.url);
  around_.allowance.count_bytes(job.bytes, commit);
  BenchHost* const host = around_.bench.find(job.fetch.host);
  const bool answered = counted && job.status > 0;  // not the answer that leads to another form of the URL
  const bool counts = answered && around_.budgets.count(job.fetch.url, job.bytes, host, commit);
  if (host == nullptr || (host->next_allowed <= now && !counts)) return;
  commit.clocks.emplace_back(
      host->key, storage::HostClock{host->next_allowed, host->failures,
                                    std::string(CanonicalUrl::host_in(job.fetch.page()->queued.url)), host->pacing.pace,
                                    host->pages, host->bytes, std::max(host->next_allowed - now, Duration{})});
}

RecordLinks FetchOutcomes::trace_of(Time now, Job& job, std::uint16_t worker) {
  RecordLinks trace{std::move(job.links.trace)};
  trace.page.url = job.fetch.page()->queued.url;
  trace.page.at = now;
  trace.page.depth = job.fetch.page()->queued.depth;
  trace.page.worker = worker;
  return trace;
}

}  // namespace orbweaver
