// Every row of the table in node/frontier/fetch_verdict.h.
#include "node/frontier/fetch_verdict.h"

#include <gtest/gtest.h>

#include <set>

namespace orbweaver {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;
using storage::Reason;
using Kind = FetchVerdict::Kind;

Settings three_tries() {
  Settings settings;
  settings.max_retries = 3;
  settings.retry_delay = seconds(5);
  return settings;
}

FetchVerdict judge(FetchError error, int status, std::uint8_t attempts = 0, std::optional<Duration> retry_after = {}) {
  return judge_fetch(error, status, retry_after, attempts, three_tries());
}

TEST(FetchVerdict, EveryStatusHasItsRow) {
  const std::set<int> may_pass = {408, 425, 429, 500, 502, 503, 504};
  for (int status = 200; status < 600; ++status) {
    const FetchVerdict first = judge(FetchError::none, status);
    const FetchVerdict last = judge(FetchError::none, status, 3);
    EXPECT_FALSE(first.host_failed) << status << ": the host answered";
    if (status < 400) {
      EXPECT_EQ(first.kind, Kind::fetched) << status;
      EXPECT_EQ(last.kind, Kind::fetched) << status;
      EXPECT_EQ(first.reason, Reason::none) << status;
    } else {
      EXPECT_EQ(first.kind, may_pass.contains(status) ? Kind::retry : Kind::failed) << status;
      EXPECT_EQ(last.kind, Kind::failed) << status;
      EXPECT_EQ(first.reason, Reason::http_status) << status;
      EXPECT_EQ(last.reason, Reason::http_status) << status;
    }
  }
}

TEST(FetchVerdict, AStatusThatIsNoneIsNeverAPage) {
  for (const int status : {-1, 0, 99, 100, 103, 199, 600, 999})
    EXPECT_EQ(judge(FetchError::none, status).kind, Kind::failed);
}

TEST(FetchVerdict, EveryErrorHasItsRow) {
  struct Row {
    FetchError error;
    Reason reason;
    bool may_pass;
    bool host_failed;  // no answer at all
  };
  const Row rows[] = {{FetchError::dns, Reason::dns, true, true},
                      {FetchError::connect, Reason::connect, true, true},
                      {FetchError::timeout, Reason::timeout, true, true},
                      {FetchError::empty_reply, Reason::empty_reply, true, true},
                      {FetchError::broken, Reason::broken, true, false},
                      {FetchError::tls, Reason::tls, false, false},
                      {FetchError::headers_too_large, Reason::headers_too_large, false, false},
                      {FetchError::address_refused, Reason::address_refused, false, false},
                      {FetchError::address_denied, Reason::address_denied, false, false},
                      {FetchError::no_contact, Reason::no_contact, false, false},
                      {FetchError::bad_response, Reason::bad_response, false, false},
                      {FetchError::internal, Reason::internal, false, false}};
  for (const Row& row : rows)
    for (const int status : {0, 200}) {  // a page that broke off in its body had a status; it still counts as an error
      const std::string which(storage::reason_name(row.reason));
      const FetchVerdict first = judge(row.error, status);
      EXPECT_EQ(first.kind, row.may_pass ? Kind::retry : Kind::failed) << which;
      EXPECT_EQ(first.reason, row.reason) << which;
      EXPECT_EQ(first.host_failed, row.host_failed) << which;
      const FetchVerdict last = judge(row.error, status, 3);
      EXPECT_EQ(last.kind, Kind::failed) << which;
      EXPECT_EQ(last.reason, row.reason) << which;
    }
}

TEST(FetchVerdict, Settings_RetriesAreFurtherTries) {
  Settings settings = three_tries();
  for (const std::uint32_t retries : {0u, 1u, 3u, 100u}) {
    settings.max_retries = retries;
    std::uint32_t tries = 1;
    while (judge_fetch(FetchError::timeout, 0, {}, static_cast<std::uint8_t>(tries - 1), settings).kind ==
               Kind::retry &&
           tries < 200)
      ++tries;
    EXPECT_EQ(tries, 1 + retries);
  }
}

TEST(FetchVerdict, TheWaitDoublesUpToAnHour) {
  Settings settings = three_tries();
  settings.max_retries = 100;
  Duration wanted = seconds(5);
  for (int attempts = 0; attempts < 100; ++attempts) {
    const auto made = judge_fetch(FetchError::timeout, 0, {}, static_cast<std::uint8_t>(attempts), settings);
    ASSERT_EQ(made.kind, Kind::retry);
    ASSERT_EQ(made.wait, std::min<Duration>(wanted, hours(1))) << attempts;
    wanted = std::min<Duration>(2 * wanted, hours(1));
  }
  settings.retry_delay = hours(24);  // the largest value that the setting allows
  for (const std::uint8_t attempts : {std::uint8_t{0}, std::uint8_t{50}, std::uint8_t{99}})
    EXPECT_EQ(judge_fetch(FetchError::timeout, 0, {}, attempts, settings).wait, hours(1));
  settings.retry_delay = {};
  EXPECT_EQ(judge_fetch(FetchError::timeout, 0, {}, 7, settings).wait, Duration{});
}

TEST(FetchVerdict, RetryAfterIsObeyedUpToAnHour) {
  EXPECT_EQ(judge(FetchError::none, 503, 0, seconds(120)).wait, seconds(120));
  EXPECT_EQ(judge(FetchError::none, 429, 0, minutes(59)).wait, minutes(59));
  EXPECT_EQ(judge(FetchError::none, 503, 0, hours(24 * 365)).wait, hours(1));
  EXPECT_EQ(judge(FetchError::none, 503, 0, Duration::max()).wait, hours(1));
  // Never earlier than without it.
  EXPECT_EQ(judge(FetchError::none, 503, 0, seconds(0)).wait, seconds(5));
  EXPECT_EQ(judge(FetchError::none, 503, 2, seconds(7)).wait, seconds(20));
  EXPECT_EQ(judge(FetchError::none, 503, 0, seconds(-9)).wait, seconds(5));
  EXPECT_EQ(judge(FetchError::none, 503, 0, Duration::min()).wait, seconds(5));
  EXPECT_EQ(judge(FetchError::none, 503, 2, seconds(120)).kind, Kind::retry);
  EXPECT_EQ(judge(FetchError::none, 404, 0, seconds(120)).kind, Kind::failed) << "it does not make a 404 pass";
}

}  // namespace
}  // namespace orbweaver
