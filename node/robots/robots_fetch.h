// The result of a fetch of robots.txt, as one table (RFC 9309, 2.3.1 and 2.4). Pure. Thread rule: values.
//
//   200-299                       the rules in the body (of which max_robots_bytes are read)
//   300-399 with a usable target  followed, max_robots_hops times, to any host; the rules are the first authority's
//   300-399 otherwise             unavailable: allow all
//   400-499 except 429            unavailable: allow all (401 and 403 too: 2.3.1.3 names the whole class)
//   429, 500-599, anything else   requested again after its Retry-After (an hour at most) or the doubling retry
//   no answer, TLS, DNS             delay, `max_retries` times; then unreachable: disallow all
//
// Unreachable (2.3.1.4): an older copy, if any, stays in use, and robots.txt is requested every hour; without a copy
// all is disallowed and it is requested once a day. After 30 days without an answer it counts as unavailable.
#pragma once

#include <cstdint>
#include <optional>

#include "node/base.h"

namespace orbweaver {

// RFC 9309, 2.3.1.2: at least five redirects are followed.
inline constexpr std::uint8_t max_robots_hops = 5;
// 2.4: a copy is used for at most a day, unless robots.txt is unreachable.
inline constexpr Duration robots_lifetime = std::chrono::hours{24};
// How long an older copy is used before robots.txt is requested again, when the last request failed.
inline constexpr Duration robots_stale_lifetime = std::chrono::hours{1};
// 2.3.1.4: "a reasonably long period of time (for example, 30 days)".
inline constexpr Duration max_robots_unreachable = std::chrono::hours{24 * 30};

// The outcome for an origin's robots.txt. Stored (storage::RobotsEntry::kind): append only.
enum class RobotsKind : std::uint8_t { rules = 1, allow_all = 2, unreachable = 3 };

struct RobotsAnswer {
  int status = 0;           // 0: none
  bool has_target = false;  // a redirect that names a target
  std::uint8_t hops = 0;    // redirects followed before
  bool may_retry = false;   // tries are left
};

enum class RobotsStep : std::uint8_t { follow, retry, rules, allow_all, unreachable };
RobotsStep robots_step(const RobotsAnswer& answer);

struct RobotsState {
  RobotsKind kind = RobotsKind::rules;
  Time fetched{};  // when the server last answered; the epoch: it never did
  Time expires{};
  bool same_body = false;    // the older copy's body is kept
  Time unreachable_since{};  // the first vain request to a server that never answered; else the epoch
};
// `before`: the origin's stored state, though it has expired. `step` is one of the last three.
RobotsState robots_state(RobotsStep step, const std::optional<RobotsState>& before, Time ended);

}  // namespace orbweaver
