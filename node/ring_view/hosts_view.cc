#include "node/ring_view/hosts_view.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <span>

#include "node/crawl/outside_json.h"
#include "node/ring_view/ring_limit.h"

namespace orbweaver {

namespace {

using nlohmann::json;

constexpr double micros = 1e6;

HostView host_of(const std::string& peer, const json& entry) {
  constexpr double most = 1e15;
  const auto number = [&](const char* path) { return std::clamp(number_at(entry, path), 0.0, most); };
  HostView host;
  host.host = text_at(entry, "host");
  host.peer = peer;
  host.queued = static_cast<std::uint64_t>(number("/queued"));
  host.more = flag_field(entry, "more").value_or(false);
  host.delay_seconds = number("/delay_us") / micros;
  host.delay_why = text_at(entry, "delay_why");
  host.state = text_at(entry, "state");
  host.why = text_at(entry, "why");
  host.next_seconds = number("/next_us") / micros;
  host.failures = static_cast<std::uint64_t>(number("/failures"));
  host.address = text_at(entry, "address");
  return host;
}

}  // namespace

std::size_t hosts_of_each(std::size_t peers) {
  constexpr std::size_t of_ring = 600;
  return std::clamp<std::size_t>(of_ring / std::max<std::size_t>(peers, 1), 3, 100);
}

std::vector<HostView> hosts_view(const json* answer) {
  std::vector<HostView> hosts;
  if (answer == nullptr) return hosts;
  for (const json* const part : parts_of(*answer))
    for (const json& entry : list_field(*part, "hosts").value_or(std::span<const json>()))
      // An order about a host without a name, or with a pattern's, would be one about others.
      if (const std::string name = entry.is_object() ? text_at(entry, "host") : "";
          !name.empty() && !name.starts_with('*'))
        hosts.push_back(host_of(text_at(*part, "id"), entry));
  std::sort(hosts.begin(), hosts.end(), [](const HostView& a, const HostView& b) {
    return a.seconds_needed() != b.seconds_needed() ? a.seconds_needed() > b.seconds_needed() : a.host < b.host;
  });
  return hosts;
}

json to_json(const std::vector<HostView>& hosts) {
  json list = json::array();
  for (const HostView& host : hosts)
    list.push_back({{"host", host.host},
                    {"peer", host.peer},
                    {"queued", host.queued},
                    {"more", host.more},
                    {"delay_seconds", host.delay_seconds},
                    {"delay_why", host.delay_why},
                    {"state", host.state},
                    {"why", host.why},
                    {"next_seconds", host.next_seconds},
                    {"seconds_needed", host.seconds_needed()},
                    {"failures", host.failures},
                    {"address", host.address}});
  return list;
}

}  // namespace orbweaver
