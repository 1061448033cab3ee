// The outcome of a fetch: node/scheduling/fetch_outcomes.h, the table of node/frontier/fetch_verdict.h,
// docs/reference/politeness.md, docs/how-to/recrawl.md.
#include "node/scheduling/fetch_outcomes.h"

#include <cstring>

#include "tests/unit/fetch_rig.h"

namespace orbweaver {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;
using storage::Reason;
using storage::UrlState;
using Texts = std::vector<std::string>;

class FetchOutcomesTest : public FetchRig {
 protected:
  static constexpr const char* page_url = "http://a.test/";
  const FetchOutcomes::Counters& counters() const { return parts_->fetches.outcomes.counters(); }
  FetchJob begin_page(const std::string& text = page_url, storage::UrlRecord record = {}) {
    put(text, std::move(record));
    return begin();
  }
  std::optional<storage::HostClock> clock(const std::string& text = page_url) { return *store_->clock(key(text).host); }
  static PageRead page_with_links(std::size_t count) {
    LinkList list;
    for (std::size_t i = 0; i < count; ++i) list.links.push_back(url("http://l.test/" + std::to_string(i)));
    PageRead page;
    page.listed = std::move(list);
    return page;
  }
  static FetchEnded status(int code) {
    FetchEnded event;
    event.status = code;
    return event;
  }
};

// The end of an exchange waits for the loop. Meanwhile all that is known here may have got its copies.
TEST_F(FetchOutcomesTest, Contract5_APageWhoseEndCameLateCountsAsFetchedAfterWhatHasItsCopies) {
  settings().replicas = 2;
  start();
  const FetchJob job = begin_page();
  add_member(2);
  const Time ended = now_ + seconds{1};
  advance(seconds{5});
  CopiedUntil& copied_until = parts_->records.replication.copied_until;
  copied_until.move(now_, now_, 1, 1);
  FetchEnded event = status(200);
  event.id = job.id;
  event.ended = ended;
  ASSERT_TRUE(parts_->fetches.outcomes.on_fetch_ended(step(), event));
  ASSERT_TRUE(read(job, done(PageRead{})));
  const storage::UrlRecord page = record(page_url);
  ASSERT_EQ(page.state, UrlState::fetched);
  copied_until.note_unsent(page.since, 2, 2);
  EXPECT_TRUE(copied_until.lacks(page)) << "its links may be on this disk alone";
}

TEST_F(FetchOutcomesTest, EveryRowOfTheTableBecomesARecord) {
  struct Row {
    FetchError error;
    int status;
    UrlState state;
    Reason reason;
  };
  const Row rows[] = {
      {FetchError::none, 200, UrlState::fetched, Reason::none},
      {FetchError::none, 301, UrlState::fetched, Reason::none},
      {FetchError::none, 304, UrlState::fetched, Reason::none},
      {FetchError::none, 404, UrlState::failed, Reason::http_status},
      {FetchError::none, 408, UrlState::queued, Reason::http_status},
      {FetchError::none, 425, UrlState::queued, Reason::http_status},
      {FetchError::none, 429, UrlState::queued, Reason::http_status},
      {FetchError::none, 500, UrlState::queued, Reason::http_status},
      {FetchError::none, 501, UrlState::failed, Reason::http_status},
      {FetchError::none, 502, UrlState::queued, Reason::http_status},
      {FetchError::none, 503, UrlState::queued, Reason::http_status},
      {FetchError::none, 504, UrlState::queued, Reason::http_status},
      {FetchError::dns, 0, UrlState::queued, Reason::dns},
      {FetchError::connect, 0, UrlState::queued, Reason::connect},
      {FetchError::timeout, 0, UrlState::queued, Reason::timeout},
      {FetchError::empty_reply, 0, UrlState::queued, Reason::empty_reply},
      {FetchError::broken, 0, UrlState::queued, Reason::broken},
      {FetchError::tls, 0, UrlState::failed, Reason::tls},
      {FetchError::tls_expired, 0, UrlState::failed, Reason::tls_expired},
      {FetchError::tls_wrong_name, 0, UrlState::failed, Reason::tls_wrong_name},
      {FetchError::tls_self_signed, 0, UrlState::failed, Reason::tls_self_signed},
      {FetchError::tls_untrusted, 0, UrlState::failed, Reason::tls_untrusted},
      {FetchError::headers_too_large, 0, UrlState::failed, Reason::headers_too_large},
      {FetchError::bad_response, 0, UrlState::failed, Reason::bad_response},
      {FetchError::address_refused, 0, UrlState::failed, Reason::address_refused},
      {FetchError::address_denied, 0, UrlState::failed, Reason::address_denied},
      {FetchError::no_contact, 0, UrlState::failed, Reason::no_contact},
      {FetchError::internal, 0, UrlState::failed, Reason::internal},
  };
  start();
  std::uint64_t retried = 0;
  std::uint64_t failed = 0;
  int number = 0;
  for (const Row& row : rows) {
    const std::string text = "http://r" + std::to_string(number++) + ".test/";
    const FetchJob job = begin_page(text);
    ASSERT_TRUE(row.error == FetchError::none ? answer(job, row.status) : fail_with(job, row.error));
    expect(text, row.state, row.reason, row.status);
    const bool retry = row.state == UrlState::queued;
    retried += retry ? 1 : 0;
    failed += row.state == UrlState::failed ? 1 : 0;
    EXPECT_EQ(record(text).attempts, row.state == UrlState::fetched ? 0 : 1) << text;
    EXPECT_EQ(retry ? record(text).not_before : record(text).since, retry ? now_ + seconds(5) : now_) << text;
  }
  EXPECT_EQ(counters().retries, retried);
  EXPECT_EQ(parts_->records.writer.outcomes().in(UrlState::failed), failed);
  EXPECT_EQ(parts_->fetches.allowance.fetched(), 3u);
  EXPECT_EQ(parts_->fetches.allowance.in_flight(), 0u);
  EXPECT_EQ(parts_->records.bench.issued(), 0u);
  EXPECT_TRUE(parts_->fetches.jobs.empty());
}

TEST_F(FetchOutcomesTest, APageThatKeepsFailingIsTriedAsOftenAsTheSettingSaysAfterDoublingWaits) {
  settings().max_retries = 2;
  start();
  put(page_url);
  for (const Duration wait : {Duration{}, Duration{seconds(5)}, Duration{seconds(10)}}) {
    if (wait > Duration{}) {
      advance(wait - milliseconds(1));
      clear();
      tick();
      EXPECT_EQ(asked(), Texts{});
      advance(milliseconds(1));
    }
    ASSERT_TRUE(answer(begin(), 500));
  }
  expect(page_url, UrlState::failed, Reason::http_status, 500);
  EXPECT_EQ(record(page_url).attempts, 3);
}

TEST_F(FetchOutcomesTest, ACancelledFetchIsStillQueuedAndItsHostIsLeftAloneForItsDelay) {
  start();
  const FetchJob job = begin_page();
  const std::uint64_t writes = kv_.writes();
  ASSERT_TRUE(fail_with(job, FetchError::cancelled));
  EXPECT_EQ(kv_.writes(), writes);
  expect(page_url, UrlState::queued, Reason::none);
  EXPECT_EQ(record(page_url).attempts, 0);
  EXPECT_EQ(host(page_url).next_allowed, now_ + seconds(1)) << "it may have been asked";
  EXPECT_EQ(parts_->fetches.allowance.in_flight(), 0u);
  EXPECT_TRUE(parts_->fetches.jobs.empty());
}

TEST_F(FetchOutcomesTest, APageThatNoWorkerReadForThePeerStopsIsStillQueued) {
  start();
  const FetchJob job = begin_page();
  ASSERT_TRUE(end(job, status(200)));
  ASSERT_TRUE(read(job, done(NotRead{})));
  expect(page_url, UrlState::queued, Reason::none);
  EXPECT_EQ(parts_->fetches.allowance.in_flight(), 0u);
  EXPECT_TRUE(parts_->fetches.jobs.empty());
}

TEST_F(FetchOutcomesTest, AnEventOfAJobThatIsNotThereIsNothing) {
  start();
  const FetchJob job = begin_page();
  ASSERT_TRUE(answer(job, 200));
  const std::uint64_t writes = kv_.writes();
  EXPECT_TRUE(answer(job, 404));
  EXPECT_EQ(kv_.writes(), writes);
  expect(page_url, UrlState::fetched, Reason::none, 200);
}

TEST_F(FetchOutcomesTest, TheHostIsFreeOnceTheExchangeIsOverThePageWhenItIsRead) {
  start();
  put("http://a.test/1");
  put("http://a.test/2");
  const FetchJob job = begin();
  ASSERT_TRUE(end(job, status(200)));
  EXPECT_EQ(store_->held().queued, 2u);
  EXPECT_EQ(parts_->fetches.jobs.size(), 1u);
  advance(seconds(1));
  EXPECT_EQ(begin().url.text(), "http://a.test/2");
}

TEST_F(FetchOutcomesTest, Recrawl_NotModifiedKeepsTheValidatorAnotherAnswerBringsItsOwn) {
  start();
  storage::UrlRecord again;
  again.visit = 1;
  again.validator = "\"old\"";
  ASSERT_TRUE(answer(begin_page("http://a.test/", again), 304));
  EXPECT_EQ(record("http://a.test/").validator, "\"old\"");
  EXPECT_EQ(record("http://a.test/").visit, 1);
  PageRead page;
  page.validator = "\"new\"";
  ASSERT_TRUE(answer(begin_page("http://b.test/", again), 200, std::move(page)));
  EXPECT_EQ(record("http://b.test/").validator, "\"new\"");
}

TEST_F(FetchOutcomesTest, APageThatAsksNotToBeKeptIsFetchedAndItsLinksAreFollowed) {
  start();
  PageRead page = page_with_links(1);
  page.noindex = true;
  ASSERT_TRUE(answer(begin_page(), 200, std::move(page)));
  expect(page_url, UrlState::fetched, Reason::noindex, 200);
  expect("http://l.test/0", UrlState::queued, Reason::none);
}

TEST_F(FetchOutcomesTest, AnUnwantedTypeIsExcludedAndBringsNoLinks) {
  start();
  PageRead page = page_with_links(1);
  page.unwanted_type = true;
  ASSERT_TRUE(answer(begin_page(), 200, std::move(page)));
  expect(page_url, UrlState::excluded, Reason::content_type, 200);
  EXPECT_EQ(store_->held().discovered(), 1u);
}

TEST_F(FetchOutcomesTest, LinksOfErrorPagesAreNotFollowed) {
  start();
  ASSERT_TRUE(answer(begin_page("http://a.test/"), 404, page_with_links(3)));
  ASSERT_TRUE(answer(begin_page("http://b.test/"), 503, page_with_links(3)));
  EXPECT_EQ(store_->held().discovered(), 2u);
}

TEST_F(FetchOutcomesTest, AFaultOfACertificateThatIsOnlyRecordedIsInTheRecord) {
  start();
  FetchEnded event = status(200);
  event.tls_fault = FetchError::tls_expired;
  const FetchJob job = begin_page("https://a.test/");
  ASSERT_TRUE(end(job, event));
  ASSERT_TRUE(read(job, done(PageRead{})));
  expect("https://a.test/", UrlState::fetched, Reason::tls_expired, 200);
}

TEST_F(FetchOutcomesTest, APageWithMoreLinksThanItMayHaveSaysSo) {
  start();
  PageRead page = page_with_links(1);
  page.links_over_budget = 7;
  PageDone whole = done(std::move(page));
  whole.decoded_cut = true;
  ASSERT_TRUE(answer(begin_page(), 200, std::move(whole)));
  expect(page_url, UrlState::fetched, Reason::links_over_budget, 200);
  EXPECT_EQ(counters().links_over_budget, 7u);
  EXPECT_EQ(counters().pages_cut, 1u);
}

// --- redirects within the canonical form (docs/reference/canonical-form.md)

TEST_F(FetchOutcomesTest, CanonicalForm_TheServersFormIsAskedForNextAndThePageIsNotLost) {
  settings().max_pages_per_host = 5;
  start();
  PageRead page;
  page.canonical_redirect = url("http://www.a.test/");
  ASSERT_TRUE(answer(begin_page(), 301, std::move(page)));
  EXPECT_EQ(record(page_url).state, UrlState::queued);
  EXPECT_EQ(record(page_url).attempts, 0);
  EXPECT_EQ(parts_->fetches.allowance.fetched(), 0u);
  EXPECT_EQ(host(page_url).pages, 0u) << "it counts once";
  advance(seconds(10));
  const FetchJob job = begin();
  EXPECT_EQ(job.url.text(), "http://www.a.test/");
  ASSERT_TRUE(answer(job, 200, page_with_links(1)));
  expect(page_url, UrlState::fetched, Reason::none, 200);
  expect("http://l.test/0", UrlState::queued, Reason::none);
  EXPECT_EQ(host(page_url).pages, 1u);
  EXPECT_EQ(parts_->fetches.redirects.form_of(key(page_url)), nullptr);
}

// F15: one that had been tried before went behind all others of its host. With very many of them its form was
// forgotten before its turn came, and it was asked for again, for ever.
TEST_F(FetchOutcomesTest, CanonicalForm_AUrlThatWasTriedBeforeKeepsItsPlace) {
  start();
  storage::UrlRecord tried;
  tried.attempts = 1;
  tried.not_before = now_ - seconds(60);
  put(page_url, tried);
  tried.not_before = now_ - seconds(30);
  put("http://a.test/second", tried);
  PageRead page;
  page.canonical_redirect = url("http://www.a.test/");
  const FetchJob first = begin();
  ASSERT_EQ(first.url.text(), page_url);
  ASSERT_TRUE(answer(first, 301, std::move(page)));
  advance(seconds(10));
  EXPECT_EQ(begin().url.text(), "http://www.a.test/");
}

TEST_F(FetchOutcomesTest, CanonicalForm_NoMoreStepsThanRedirectsMax) {
  for (const std::uint32_t most : {0U, 1U, 3U}) {
    settings().max_redirects = most;
    start_fresh();
    const std::string text = "http://m" + std::to_string(most) + ".test/";
    put(text);
    std::uint32_t steps = 0;
    for (; record(text).state == UrlState::queued && steps < 10; ++steps) {
      PageRead page;
      page.canonical_redirect = url(text + std::to_string(steps));
      ASSERT_TRUE(answer(begin(), 301, std::move(page)));
      advance(minutes(5));
    }
    EXPECT_EQ(steps, most + 1) << "the URL itself, and so many forms";
    expect(text, UrlState::excluded, Reason::redirects, 301);
  }
}

TEST_F(FetchOutcomesTest, CanonicalForm_AnEndlessRedirectThatSaysNoindexIsStillOne) {
  settings().max_redirects = 1;
  start();
  put(page_url);
  for (int i = 0; i < 2; ++i) {
    PageRead page;
    page.canonical_redirect = url("http://a.test/x");
    page.noindex = true;
    ASSERT_TRUE(answer(begin(), 301, std::move(page)));
    EXPECT_NE(record(page_url).reason, Reason::noindex) << "it was not fetched";
    advance(minutes(5));
  }
  expect(page_url, UrlState::excluded, Reason::redirects, 301);
}

// --- many links

TEST_F(FetchOutcomesTest, ManyLinksAreCommittedInPiecesAndTheOutcomeWithTheLast) {
  start();
  PageRead page = page_with_links(2500);
  ASSERT_TRUE(answer(begin_page(), 200, std::move(page)));
  EXPECT_TRUE(parts_->fetches.outcomes.any_in_pieces());
  EXPECT_EQ(store_->held().discovered(), 1u);
  EXPECT_EQ(parts_->fetches.jobs.shares().under_way(), 0u) << "the transfer is over";
  for (const std::uint64_t known : {1001u, 2001u}) {
    ASSERT_TRUE(parts_->fetches.outcomes.commit_piece(step()));
    EXPECT_EQ(store_->held().discovered(), known);
    EXPECT_EQ(record(page_url).state, UrlState::queued) << "a crash now does it again";
  }
  ASSERT_TRUE(parts_->fetches.outcomes.commit_piece(step()));
  EXPECT_EQ(store_->held().discovered(), 2501u);
  expect(page_url, UrlState::fetched, Reason::none, 200);
  EXPECT_FALSE(parts_->fetches.outcomes.any_in_pieces());
  EXPECT_EQ(parts_->links.follower.found(), 2500u);
  ASSERT_TRUE(parts_->fetches.outcomes.commit_piece(step())) << "none is left";
}

TEST_F(FetchOutcomesTest, AThousandLinksAreOneWriteWithTheOutcome) {
  start();
  const FetchJob job = begin_page();
  const std::uint64_t writes = kv_.writes();
  ASSERT_TRUE(answer(job, 200, page_with_links(1000)));
  EXPECT_EQ(kv_.writes() - writes, 1u);
  EXPECT_EQ(store_->held().fetched, 1u);
  EXPECT_EQ(store_->held().queued, 1000u);
}

TEST_F(FetchOutcomesTest, UnderRecordLinksAPageInPiecesIsTracedOnceWithAllOfThem) {
  settings().record_links = true;
  start();
  ASSERT_TRUE(answer(begin_page(), 200, page_with_links(1500)));
  while (parts_->fetches.outcomes.any_in_pieces()) {
    EXPECT_EQ(said<RecordLinks>().size(), 0u);
    ASSERT_TRUE(parts_->fetches.outcomes.commit_piece(step()));
  }
  const auto traces = said<RecordLinks>();
  ASSERT_EQ(traces.size(), 1u);
  EXPECT_EQ(traces[0].page.url, page_url);
  EXPECT_EQ(traces[0].page.links.size(), 1500u);
}

// --- politeness

TEST_F(FetchOutcomesTest, TheHostsClockIsWrittenWithTheOutcome) {
  start();
  ASSERT_TRUE(answer(begin_page(), 200));
  ASSERT_TRUE(clock());
  EXPECT_EQ(clock()->next_allowed, now_ + seconds(1));
  EXPECT_EQ(clock()->host, "a.test");
  EXPECT_EQ(clock()->failures, 0u);
}

TEST_F(FetchOutcomesTest, TheUseOfABudgetIsWrittenThoughNoWaitIsLeft) {
  settings().delay = Duration{};
  settings().max_pages_per_host = 10;
  start();
  ASSERT_TRUE(answer(begin_page(), 200));
  ASSERT_TRUE(clock());
  EXPECT_EQ(clock()->pages, 1u);
  EXPECT_EQ(clock()->bytes, 100u);
  start();
  advance(minutes(1));
  put("http://a.test/2");
  begin();
  EXPECT_EQ(host(page_url).pages, 1u) << "it goes on after a restart";
}

TEST_F(FetchOutcomesTest, RetryAfterOfAnErrorHoldsTheHostUpToAnHour) {
  start();
  FetchEnded event = status(503);
  event.retry_after = minutes(20);
  FetchJob job = begin_page("http://a.test/");
  ASSERT_TRUE(end(job, event));
  ASSERT_TRUE(read(job, done(PageRead{})));
  EXPECT_EQ(host("http://a.test/").next_allowed, now_ + minutes(20));
  EXPECT_EQ(record("http://a.test/").not_before, now_ + minutes(20));
  event.retry_after = hours(5);
  job = begin_page("http://b.test/");
  ASSERT_TRUE(end(job, event));
  ASSERT_TRUE(read(job, done(PageRead{})));
  EXPECT_EQ(host("http://b.test/").next_allowed, now_ + hours(1));
}

TEST_F(FetchOutcomesTest, TryingAHostThatDoesNotAnswerCountsAndTenInARowMeanThatItIsDown) {
  settings().max_retries = 0;
  start();
  for (std::uint32_t i = 1; i <= 10; ++i) {
    ASSERT_TRUE(fail_with(begin_page("http://a.test/" + std::to_string(i)), FetchError::connect));
    EXPECT_EQ(host(page_url).failures, i);
    EXPECT_EQ(clock()->failures, i);
    EXPECT_GE(host(page_url).next_allowed, now_ + seconds(5));
    EXPECT_EQ(host(page_url).down_until, i < 10 ? Time{} : now_ + hours(1)) << i;
    advance(minutes(10));
  }
}

TEST_F(FetchOutcomesTest, AnyAnswerEndsARowOfFailures) {
  settings().max_retries = 0;
  start();
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(fail_with(begin_page("http://a.test/" + std::to_string(i)), FetchError::timeout));
    advance(minutes(10));
  }
  ASSERT_TRUE(answer(begin_page("http://a.test/x"), 500));
  EXPECT_EQ(host(page_url).failures, 0u);
}

TEST_F(FetchOutcomesTest, BytesAreCountedForEachResponse) {
  settings().max_bytes = 1'000'000;
  start();
  parts_->fetches.allowance.grant(10);
  PageDone page = done(PageRead{});
  page.archived_bytes = 40;
  ASSERT_TRUE(answer(begin_page(), 200, std::move(page)));
  EXPECT_EQ(counters().bytes_received, 100u);
  EXPECT_EQ(counters().archive_bytes, 40u);
  EXPECT_EQ(meta(meta_name::bytes), "100");
}

// --- failures of this peer's own

TEST_F(FetchOutcomesTest, AStoreThatFailsIsAnErrorAndNothingIsSaid) {
  settings().record_links = true;
  start();
  const FetchJob job = begin_page();
  ASSERT_TRUE(end(job, status(200)));
  clear();
  kv_.fail_after(0, storage::ErrorKind::disk_full);
  EXPECT_FALSE(read(job, done(page_with_links(3))));
  EXPECT_TRUE(out.empty());
  EXPECT_EQ(store_->held().fetched, 0u);
}

TEST_F(FetchOutcomesTest, AStoreThatFailsAtAPieceIsAnErrorToo) {
  start();
  ASSERT_TRUE(answer(begin_page(), 200, page_with_links(1001)));
  kv_.fail_after(0, storage::ErrorKind::io);
  EXPECT_FALSE(parts_->fetches.outcomes.commit_piece(step()));
}

TEST_F(FetchOutcomesTest, AnArchiveThatFailsIsAnErrorAndThePageIsStillQueued) {
  start();
  const Result<void> answered =
      answer(begin_page(), 200, done(NotWritten{Error{ErrorCode::io, "the archive cannot be written"}}));
  ASSERT_FALSE(answered);
  EXPECT_EQ(answered.error().message, "the archive cannot be written");
  EXPECT_EQ(store_->held().queued, 1u);
  EXPECT_EQ(store_->held().discovered(), 1u);
}

TEST_F(FetchOutcomesTest, APageThatEndedIsClearedFromTheCrashBook) {
  start();
  at_work_ = {key(page_url)};
  start();
  at_work_.clear();
  advance(seconds(1));
  ASSERT_TRUE(answer(begin_page(), 503));
  const auto ends = [this] {
    std::string all;
    if (const auto rows = store_->meta_rows(std::string(meta_name::crashed)); rows)
      for (const auto& row : *rows) all += row.second;
    return all;
  };
  EXPECT_EQ(ends(), "1") << "it has not ended yet";
  advance(minutes(1));
  ASSERT_TRUE(answer(begin(), 200));
  EXPECT_EQ(ends(), "");
}

TEST_F(FetchOutcomesTest, APageQueuedForALaterVisitMeanwhileIsVisitedAgain) {
  start();
  const FetchJob job = begin_page();
  storage::UrlRecord later;
  later.visit = 1;
  put(page_url, later);
  ASSERT_TRUE(answer(job, 200));
  EXPECT_EQ(record(page_url).state, UrlState::queued);
  advance(minutes(1));
  const FetchJob again = begin();
  EXPECT_EQ(again.url.text(), page_url);
  EXPECT_EQ(again.page()->queued.visit, 1);
}

TEST_F(FetchOutcomesTest, AUsersCommandThatGaveNoTextIsToldOf) {
  start();
  PageRead page;
  page.command_fault = "it ran too long";
  ASSERT_TRUE(answer(begin_page(), 200, std::move(page)));
  EXPECT_TRUE(logged("no text from a command"));
  expect(page_url, UrlState::fetched, Reason::none, 200);
}

}  // namespace
}  // namespace orbweaver
