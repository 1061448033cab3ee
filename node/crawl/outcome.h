// What the end of a fetch means, as one table: done, try again later, or give up and why. Pure.
#pragma once

#include <optional>

#include "node/crawl/events.h"
#include "node/settings/settings.h"

namespace orbweaver {

struct Outcome {
  enum class Kind : std::uint8_t { fetched, retry, failed } kind = Kind::fetched;
  storage::Reason reason = storage::Reason::none;
  Duration wait{};           // retry: at least this long
  bool host_failed = false;  // no answer at all: the host's own trouble, not the page's
};

// `attempts`: tries that failed before this one.
//   status 2xx, 3xx                                   fetched
//   408, 425, 429, 500, 502, 503, 504                 retry (Retry-After obeyed up to an hour), then failed:
//   http_status other 4xx, 5xx                                    failed: http_status dns, connect, timeout,
//   empty_reply, broken        retry, then failed tls…, headers_too_large, address_refused, address_denied, no_contact,
//   bad_response, internal    failed
//
// The wait doubles with each try, from Settings::retry_delay, up to an hour.
Outcome judge_fetch(FetchError error, int status, std::optional<Duration> retry_after, std::uint8_t attempts,
                    const Settings& settings);

// The reason that records have for it.
storage::Reason reason_of(FetchError error);

inline constexpr Duration wait_max = std::chrono::hours{1};
// The circuit breaker: from this many tries in a row without any answer on, a host's queued URLs fail as host_down
// without being tried, for host_down_time; then one is tried, and either the host is well again or that time begins
// anew.
inline constexpr std::uint32_t host_failures_max = 10;
inline constexpr Duration host_down_time = std::chrono::hours{1};

}  // namespace orbweaver
