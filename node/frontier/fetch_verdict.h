// What the end of a fetch means, as one table: done, try again later, or give up and why. Pure.
#pragma once

#include <optional>

#include "node/crawl/events.h"
#include "node/settings/settings.h"

namespace orbweaver {

struct FetchVerdict {
  enum class Kind : std::uint8_t { fetched, retry, failed } kind = Kind::fetched;
  storage::Reason reason = storage::Reason::none;
  Duration wait{};           // retry: at least this long
  bool host_failed = false;  // no answer at all: the host's own trouble, not the page's
};

// `attempts`: tries that failed before this one.
//
//   end of the fetch                                      outcome                          reason
//   --------------------------------------------------    -----------------------------    ---------------------
//   status 2xx, 3xx                                       fetched
//   status 408, 425, 429, 500, 502, 503, 504              retry, up to `max_retries`       http_status
//   any other status                                      failed                           http_status
//   dns, connect, timeout, empty_reply                    retry, up to `max_retries`       same name; host_failed
//   broken                                                retry, up to `max_retries`       broken
//   tls, tls_expired, tls_wrong_name, tls_self_signed,
//     tls_untrusted, headers_too_large, bad_response,
//     address_refused, address_denied, no_contact         failed                           same name
//   anything else                                         failed                           internal
//
// The wait before a retry: retry_wait(), or Retry-After if that is longer; at most max_wait.
FetchVerdict judge_fetch(FetchError error, int status, std::optional<Duration> retry_after, std::uint8_t attempts,
                         const Settings& settings);

// Settings::retry_delay, doubled with each of the `attempts` that failed before; at most max_wait.
Duration retry_wait(std::uint8_t attempts, const Settings& settings);

// The record of a queued URL that enters this state at `at`.
storage::UrlRecord record_of(const storage::QueuedUrl& queued, storage::UrlState state, storage::Reason reason,
                             Time at);

// The reason that records give for the error.
storage::Reason reason_of(FetchError error);

inline constexpr Duration max_wait = std::chrono::hours{1};
// The circuit breaker: after this many tries in a row without any answer, a host's queued URLs fail as host_down
// without being tried, for host_down_time. Then one is tried: either the host is well again, or that time begins
// again.
inline constexpr std::uint32_t max_host_failures = 10;
inline constexpr Duration host_down_time = std::chrono::hours{1};

}  // namespace orbweaver
