// What the end of a fetch of robots.txt means, as one table (RFC 9309, 2.3.1 and 2.4). Pure. Thread rule: values.
//
//   200-299                       the rules in the body (of which robots_bytes_max are read)
//   300-399 with a usable target  followed, robots_hops_max times, to any host; the rules are the first authority's
//   300-399 else                  unavailable: allow all
//   400-499 but 429               unavailable: allow all (401 and 403 too: 2.3.1.3 names the whole class)
//   429, 500-599, anything else   asked again after its Retry-After (an hour at most) or the doubling retry delay,
//   no answer, TLS, DNS             `max_retries` times; then unreachable: disallow all
//
// Unreachable (2.3.1.4): an older copy stays in use while there is one, and robots.txt is asked for every hour; without
// one all is disallowed and it is asked for once a day. After 30 days without an answer it counts as unavailable.
#pragma once

#include <cstdint>
#include <optional>

#include "node/base.h"

namespace orbweaver {

// RFC 9309, 2.3.1.2: at least five redirects are followed.
inline constexpr std::uint8_t robots_hops_max = 5;
// 2.4: a copy is used for at most a day, unless robots.txt is unreachable.
inline constexpr Duration robots_lifetime = std::chrono::hours{24};
// How long an older copy is used before robots.txt is asked for again, when that could not be had.
inline constexpr Duration robots_stale_lifetime = std::chrono::hours{1};
// 2.3.1.4: "a reasonably long period of time (for example, 30 days)".
inline constexpr Duration robots_unreachable_max = std::chrono::hours{24 * 30};

// How an origin's robots.txt was found. Stored (storage::RobotsEntry::kind): append only.
enum class RobotsKind : std::uint8_t { rules = 1, allow_all = 2, unreachable = 3 };

struct RobotsAnswer {
  int status = 0;           // 0: none
  bool has_target = false;  // a redirect that says where to
  std::uint8_t hops = 0;    // redirects followed before
  bool may_retry = false;   // tries are left
};

enum class RobotsStep : std::uint8_t { follow, retry, rules, allow_all, unreachable };
RobotsStep robots_step(const RobotsAnswer& answer);

struct RobotsState {
  RobotsKind kind = RobotsKind::rules;
  Time fetched{};  // when the server last answered; the epoch: it never did
  Time expires{};
  bool same_body = false;    // the older copy's body goes with it
  Time unreachable_since{};  // when it was first asked for in vain, of a server that never answered; else the epoch
};
// `before`: what is stored of the origin, though it has expired. `step` is one of the last three.
RobotsState robots_state(RobotsStep step, const std::optional<RobotsState>& before, Time ended);

}  // namespace orbweaver
