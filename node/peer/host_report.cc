#include "node/peer/host_report.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "node/crawl/outside_json.h"

namespace orbweaver {

using nlohmann::json;

namespace {

constexpr std::int64_t usual_hosts = 100;
constexpr std::size_t entry_bytes = 600;  // of one host, at most

struct Delay {
  Duration time{};
  const char* why = "settings";
};

Delay delay_of(const SitePolicy& sites, const BenchHost& host) {
  Delay delay{sites.pacing(host.name).delay};
  if (sites.order_of(host.name).delay) delay.why = "order";
  if (host.crawl_delay > delay.time) delay = {host.crawl_delay, "robots.txt"};
  if (host.pacing.pace > delay.time) delay = {host.pacing.pace, "slowed down"};
  return delay;
}

// How long what is known of its queue takes.
Duration time_needed(const SitePolicy& sites, const BenchHost& host) {
  return delay_of(sites, host).time * static_cast<std::int64_t>(host.head.size()) + host.pacing.usual;
}

}  // namespace

json HostReport::entry(Time now, const BenchHost& host) const {
  const Delay delay = delay_of(sites_, host);
  const HostOrder order = sites_.order_of(host.name);
  const Time next = std::max(host.next_allowed, host.down_until);
  const auto [state, why] = [&]() -> std::pair<const char*, const char*> {
    if (order.blocked) return {"blocked", "blocked by an operator"};
    if (order.paused) return {"paused", "paused by an operator"};
    if (host.busy) return {"asked", "it is being asked"};
    if (host.foreign) return {"foreign", "another peer fetches its partition"};
    if (host.down_until > now) return {"down", "it does not answer"};
    if (host.parked) return {"parked", "other hosts of its domain or network are being asked"};
    if (next > now) return {"delay", "its delay"};
    return host.head.empty() ? std::pair("empty", "nothing is queued") : std::pair("due", "its turn comes");
  }();
  return {{"host", host.name},
          {"queued", host.head.size()},
          {"more", host.more_on_disk},
          {"delay_us", delay.time.count()},
          {"delay_why", delay.why},
          {"next_us", std::max<std::int64_t>((next - now).count(), 0)},
          {"state", state},
          {"why", why},
          {"failures", host.failures},
          {"address", host.address}};
}

json HostReport::answer(Time now, const json& question, std::size_t room) const {
  const auto limit = number_field(question, "limit", usual_hosts, 1, max_hosts);
  if (!limit) return {{"error", limit.error().message}};
  std::vector<std::pair<Duration, const BenchHost*>> hosts;
  bench_.for_each([&](const BenchHost& host) { hosts.emplace_back(time_needed(sites_, host), &host); });
  const std::size_t shown = std::min({hosts.size(), static_cast<std::size_t>(*limit), room / entry_bytes});
  std::partial_sort(hosts.begin(), hosts.begin() + static_cast<std::ptrdiff_t>(shown), hosts.end(),
                    [](const auto& a, const auto& b) {
                      return a.first != b.first ? a.first > b.first : a.second->name < b.second->name;
                    });
  json entries = json::array();
  for (std::size_t i = 0; i < shown; ++i) entries.push_back(entry(now, *hosts[i].second));
  return {{"hosts", std::move(entries)}, {"hosts_in_memory", hosts.size()}};
}

}  // namespace orbweaver
