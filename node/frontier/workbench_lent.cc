// Turns of hosts for requests that are other hosts': robots.txt files elsewhere (node/scheduling/lease_desk.h).
#include <algorithm>

#include "node/frontier/workbench.h"

namespace orbweaver {

namespace {

// Who comes while a request is under way comes again so much later.
constexpr Duration while_busy = std::chrono::milliseconds{200};
// A peer that was told to come again may be late by a round trip and its own loop.
constexpr Duration late = std::chrono::milliseconds{500};
// At so many hosts that were asked for or returned, those whose time has come are forgotten.
constexpr std::size_t many = 1000;

}  // namespace

std::optional<Time> Workbench::lend(const storage::HostKey& key, std::string_view name, Time now) {
  const auto known = lent_.find(key);
  if (known != lent_.end() && known->second.out) return now + while_busy;
  BenchHost* const host = find(key);
  Time at = earliest_(key.partition, name);
  if (known != lent_.end()) at = std::max(at, known->second.next_allowed);
  if (host == nullptr) {
    if (const auto clock = store_->clock(key); clock && *clock) at = std::max(at, wait_of(key, **clock, now));
    if (const WaitingHost* const waiting = waiting_.find(key)) at = std::max(at, waiting->next_allowed);
  } else {
    // What its own requests wait for, because another peer comes, does not count here.
    const bool yields = known != lent_.end() && host->yields_until == host->next_allowed;
    if (!yields) at = std::max(at, host->next_allowed);
    // Two hosts may each wait for a turn of the other: that wait is no request.
    if ((host->busy && host->elsewhere.empty()) || host->parked) at = std::max(at, now + while_busy);
  }
  if (at > now) {
    if (host == nullptr) {
      waiting_.yield(key, at + late);
      return at;
    }
    host->yields_until = at + late;
    if (lent_.size() >= many) forget_returned(now);
    lent_.insert_or_assign(key, Lent{.next_allowed = at});
    return at;
  }
  Lent lent{.out = true};
  if (host != nullptr && !host->busy) {
    unschedule(*host);
    host->busy = lent.acquired = true;
  }
  lent_.insert_or_assign(key, lent);
  return std::nullopt;
}

void Workbench::take_back(const storage::HostKey& key, Time next_allowed, Time now) {
  const auto found = lent_.find(key);
  if (found == lent_.end() || !found->second.out) return;
  const Lent lent = found->second;
  lent_.erase(found);
  BenchHost* const host = find(key);
  if (host == nullptr) {
    if (lent_.size() >= many) forget_returned(now);
    lent_.emplace(key, Lent{.next_allowed = next_allowed, .returned = now});
    return;
  }
  host->lent_until = now;
  host->yields_until = Time{};
  if (lent.acquired) return release(*host, next_allowed);
  host->next_allowed = std::max(host->next_allowed, next_allowed);
  if (!host->busy && !host->parked) schedule(*host);
}

storage::HostClock Workbench::clock_after(const storage::HostKey& key, std::string_view name, Time next_allowed,
                                          Time now) {
  storage::HostClock clock;
  if (const auto known = store_->clock(key); known && *known) clock = **known;
  if (const BenchHost* const host = find(key)) {
    clock.failures = host->failures;
    clock.pace = host->pacing.pace;
    clock.pages = host->pages;
    clock.bytes = host->bytes;
    next_allowed = std::max(next_allowed, host->next_allowed);
  }
  clock.next_allowed = std::max(clock.until(now), next_allowed);
  clock.wait = std::max(clock.next_allowed - now, Duration{});
  clock.host = name;
  return clock;
}

bool Workbench::is_lent(const storage::HostKey& key) const {
  const auto found = lent_.find(key);
  return found != lent_.end() && found->second.out;
}

Duration Workbench::crawl_delay(const storage::HostKey& key) {
  if (const BenchHost* const host = find(key)) return host->crawl_delay;
  const WaitingHost* const waiting = waiting_.find(key);
  return waiting == nullptr ? Duration{} : waiting->crawl_delay;
}

void Workbench::forget_returned(Time now) {
  std::erase_if(lent_, [now](const auto& entry) { return !entry.second.out && entry.second.next_allowed <= now; });
}

}  // namespace orbweaver
