#include "node/scheduling/fetch_limit.h"

#include <algorithm>
#include <utility>

namespace orbweaver {

std::string_view name_of(FetchLimit limit) {
  constexpr std::array<std::string_view, fetch_limits> names = {"held",   "page_limit", "connections", "workers",
                                                                "shares", "delays",     "answers",     "lookups",
                                                                "peers",  "other",      "nothing"};
  return names[static_cast<std::size_t>(limit)];
}

FetchLimits::Hosts FetchLimits::hosts() const {
  return {.shares = around_.jobs.shares().waiting(),
          .delays = around_.bench.scheduled() + around_.bench.waiting().size(),
          .answers = around_.jobs.size() - around_.jobs.to_read(),
          .workers = around_.jobs.to_read() + around_.robots.waiting_to_parse(),
          .lookups = around_.scheduler.lookups(),
          .peers = around_.access.asked()};
}

FetchLimit FetchLimits::limit() const {
  if (around_.state.store->held().queued == 0 && around_.jobs.empty()) return FetchLimit::nothing;
  if (!around_.gate.open()) return FetchLimit::held;
  if (!around_.allowance.may_start()) return FetchLimit::page_limit;
  const Hosts hosts = this->hosts();
  if (around_.jobs.full()) return hosts.workers > hosts.answers ? FetchLimit::workers : FetchLimit::connections;
  // Of equal ones the first.
  const std::array<std::pair<std::size_t, FetchLimit>, 6> groups = {{{hosts.delays, FetchLimit::delays},
                                                                     {hosts.answers, FetchLimit::answers},
                                                                     {hosts.workers, FetchLimit::workers},
                                                                     {hosts.lookups, FetchLimit::lookups},
                                                                     {hosts.peers, FetchLimit::peers},
                                                                     {hosts.shares, FetchLimit::shares}}};
  const auto& [most, limit] =
      *std::max_element(groups.begin(), groups.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  if (most > 0) return limit;
  return FetchLimit::other;
}

void FetchLimits::note(Time now) {
  if (noted_ != Time{}) times_[static_cast<std::size_t>(since_then_)] += std::max(now - noted_, Duration{});
  noted_ = now;
  since_then_ = limit();
}

}  // namespace orbweaver
