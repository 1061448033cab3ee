// How long a host is left alone after a request: the longest of
//   delay     the setting, or its own in `sites`, or its robots.txt's Crawl-delay when that is longer
//   latency   delay_factor times as long as the answer took (Heydon and Najork, Mercator, 1999; Heritrix's
//             delay-factor), up to max_delay: a slow host is asked less
//   pace      0 as long as all is well. It doubles, from `delay`, up to max_delay, when the host says that it is too
//             much (429, 503), or when four answers in a row took more than twice as long as is usual for it; each
//             other answer takes an eighth off
// and Retry-After, which fetch_verdict.h judges. With `delay` 0 (one's own servers) only Crawl-delay and Retry-After
// count. Pure. Thread rule: values.
#pragma once

#include <cstdint>

#include "node/base.h"

namespace orbweaver {

struct PacingRules {
  Duration delay{};
  std::uint32_t delay_factor = 0;  // 0: latency does not count
  Duration max_delay{};            // of latency and pace; a longer `delay` still counts
};

// What is known of one host.
struct HostPacing {
  Duration pace{};
  Duration usual{};           // a moving average of what its answers took, an eighth of each new one; 0: none yet
  std::uint8_t slow_row = 0;  // answers in a row that took more than twice as long

  bool operator==(const HostPacing&) const = default;
};

struct Answer {
  Duration took{};
  bool came = false;      // false: no answer at all
  bool too_much = false;  // status 429 or 503
};

// Notes the answer; returns the wait from its end to the next request. `crawl_delay`: of its robots.txt.
Duration next_delay(const PacingRules& rules, Duration crawl_delay, const Answer& answer, HostPacing& host);

}  // namespace orbweaver
