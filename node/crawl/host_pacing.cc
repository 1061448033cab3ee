#include "node/crawl/host_pacing.h"

#include <algorithm>

namespace orbweaver {

namespace {

constexpr std::uint8_t max_slow_row = 4;
// Below this nothing is called slow: it is the network's jitter.
constexpr Duration jitter = std::chrono::milliseconds{50};

// True: its answers have become slow.
bool note_latency(const Answer& answer, HostPacing& host) {
  const bool slow = host.usual > Duration{} && answer.took > 2 * host.usual + jitter;
  host.slow_row = slow ? static_cast<std::uint8_t>(host.slow_row + 1) : std::uint8_t{0};
  // A latency that stays slow becomes the usual one: the host may have moved.
  host.usual = host.usual == Duration{} ? std::max(answer.took, Duration{1}) : (7 * host.usual + answer.took) / 8;
  if (host.slow_row < max_slow_row) return false;
  host.slow_row = 0;
  return true;
}

}  // namespace

Duration next_delay(const PacingRules& rules, Duration crawl_delay, const Answer& answer, HostPacing& host) {
  const Duration delay = std::max(rules.delay, crawl_delay);
  if (rules.delay == Duration{}) return delay;
  const Duration longest = std::max(rules.max_delay, delay);
  host.pace = std::min(host.pace, longest);  // it may have come from another peer
  const bool slow = answer.came && note_latency(answer, host);
  if (answer.too_much || slow) {
    host.pace = std::min(std::max(2 * host.pace, 2 * delay), longest);
  } else if (answer.came) {
    host.pace -= host.pace / 8;
    if (host.pace <= delay) host.pace = Duration{};
  }
  const Duration latency = answer.came ? std::min(rules.delay_factor * answer.took, longest) : Duration{};
  return std::max({delay, latency, host.pace});
}

}  // namespace orbweaver
