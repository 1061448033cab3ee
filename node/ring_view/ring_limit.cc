#include "node/ring_view/ring_limit.h"

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <span>
#include <string_view>

#include "node/crawl/outside_json.h"

namespace orbweaver {

namespace {

using nlohmann::json;

// From this use on, a thread or all processors count as full.
constexpr double full = 0.9;
// The share of max_memory for bodies is a limit from this use on.
constexpr double full_share = 0.95;

std::string count(double number, const char* one, const char* many) {
  char text[64];
  std::snprintf(text, sizeof text, "%.0f %s", number, number == 1 ? one : many);
  return text;
}

std::string largest(const std::map<std::string, double>& shares) {
  const auto at =
      std::max_element(shares.begin(), shares.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  return at == shares.end() ? std::string() : at->first;
}

bool memory_is_full(const json& peer) {
  const double bound = number_at(peer, "/memory/shares/bodies/bound");
  return bound > 0 && number_at(peer, "/memory/shares/bodies/used") >= full_share * bound;
}

// Empty: it has passed meanwhile.
std::string why_held(const json& status) {
  for (const json* const peer : parts_of(status))
    for (const json& reason : list_field(*peer, "not_fetching_because").value_or(std::span<const json>()))
      if (reason.is_string()) return ": " + reason.get<std::string>();
  return {};
}

// Of all peers.
double sum(const json& status, const char* path) {
  double all = 0;
  for (const json* const peer : parts_of(status)) all += number_at(*peer, path);
  return all;
}

// All peers know the same orders, in the end.
std::string paused_hosts(const json& status) {
  double orders = 0;
  for (const json* const peer : parts_of(status)) orders = std::max(orders, number_at(*peer, "/orders/paused_hosts"));
  return orders == 0 ? "" : "; " + count(orders, "order pauses", "orders pause") + " hosts (orbweaver orders)";
}

std::string text_of(const std::string& by, double peers, const json& status) {
  const double delays = sum(status, "/limit/hosts/delays");
  const double answers = sum(status, "/limit/hosts/answers");
  const double workers = sum(status, "/limit/hosts/workers");
  if (by == "delays")
    return "politeness: " + count(delays, "host waits", "hosts wait") +
           " until they and their address may be asked again, " + count(answers, "is", "are") +
           " being asked. Hosts at other addresses would make it faster, more peers would not" + paused_hosts(status);
  if (by == "answers")
    return "the sites: " + count(answers, "host is", "hosts are") + " being asked, " + count(delays, "waits", "wait") +
           " for their turn";
  if (by == "connections")
    return "max_fetches: " + count(answers + workers, "request is", "requests are") + " in flight";
  if (by == "workers" || by == "processor")
    return "the processor: " + count(workers, "page waits", "pages wait") +
           " to be read, or to be on the disk. More or faster machines would help";
  if (by == "memory") return "memory: the bodies of pages use all that max_memory leaves them";
  if (by == "lookups")
    return "name servers: " + count(sum(status, "/limit/hosts/lookups"), "name is", "names are") + " being looked up";
  if (by == "peers")
    return "answers of other peers: " + count(sum(status, "/limit/hosts/peers"), "host waits", "hosts wait") +
           " for a slot of an address or a lease";
  if (by == "shares")
    return "the shares of domains and networks: " +
           count(sum(status, "/limit/hosts/shares"), "host waits", "hosts wait") +
           " (max_fetches_per_domain, max_fetches_per_network)";
  if (by == "held") return count(peers, "peer", "peers") + " may not fetch" + why_held(status);
  if (by == "page_limit")
    return "the limit of pages or bytes: what is left of it is being shared out (max_pages, max_bytes)";
  if (by == "other") return "partitions that move, or hosts that are read from the disk";
  if (by == "nothing") return "nothing: no URL is left to fetch";
  return "not known: the peers do not say";
}

}  // namespace

double number_at(const json& object, const char* path) {
  const json* at = &object;
  for (std::string_view rest(path); !rest.empty();) {
    rest.remove_prefix(1);  // the slash
    const std::string_view name = rest.substr(0, rest.find('/'));
    rest.remove_prefix(name.size());
    const auto found = at->is_object() ? at->find(name) : at->end();
    if (found == at->end()) return 0;
    at = &*found;
  }
  return at->is_number() ? at->get<double>() : 0;
}

std::string text_at(const json& object, const char* name) { return text_field(object, name).value_or(std::string()); }

std::vector<const json*> parts_of(const json& status) {
  std::vector<const json*> parts;
  for (const json& part : list_field(status, "peers").value_or(std::span<const json>()))
    if (part.is_object()) parts.push_back(&part);
  return parts;
}

std::map<std::string, const json*> parts_by_id(const json* status) {
  std::map<std::string, const json*> parts;
  if (status == nullptr) return parts;
  for (const json* const part : parts_of(*status)) parts.emplace(text_at(*part, "id"), part);
  return parts;
}

std::optional<double> seconds_between(const json& before, const json& now) {
  if (text_at(before, "started") != text_at(now, "started")) return std::nullopt;
  const double seconds = (number_at(now, "/clock_us") - number_at(before, "/clock_us")) / 1e6;
  return seconds > 0 ? std::optional(seconds) : std::nullopt;
}

PeerLimit peer_limit(const json* before, const json& now) {
  PeerLimit limit;
  const bool same = before != nullptr && seconds_between(*before, now);
  const auto grown = [&](const std::string& path) {
    return same ? number_at(now, path.c_str()) - number_at(*before, path.c_str()) : 0;
  };
  // Each part has the time at which it was taken.
  const json limits = now.contains("limit") ? now["limit"] : json();
  if (const double noted = grown("/limit/at_us") / 1e6; noted > 0 && limits.contains("seconds"))
    for (const auto& [by, seconds] : limits["seconds"].items())
      if (const double spent = grown("/limit/seconds/" + by); spent > 0)
        limit.shares[by] = std::min(spent / noted, 1.0);
  if (const double looked = grown("/process/at_us") / 1e6; looked > 0) {
    limit.processors = grown("/process/cpu_seconds") / looked;
    limit.loop = grown("/process/loop_cpu_seconds") / looked;
  }
  limit.by = largest(limit.shares);
  if (limit.shares.empty()) limit.by = text_at(limits, "by");
  const double processors = number_at(now, "/process/processors");
  if ((limit.loop && *limit.loop >= full) ||
      (limit.processors && processors > 0 && *limit.processors >= full * processors))
    limit.by = "processor";
  if (memory_is_full(now)) limit.by = "memory";
  return limit;
}

RingLimit ring_limit(const json* before, const json& now) {
  std::map<std::string, double> peers;
  std::map<std::string, const json*> earlier = parts_by_id(before);
  for (const json* const peer : parts_of(now)) ++peers[peer_limit(earlier[text_at(*peer, "id")], *peer).by];
  // Those that have nothing left do not hold the others back.
  if (peers.size() > 1) peers.erase("nothing");
  RingLimit limit;
  limit.by = largest(peers);
  limit.text = text_of(limit.by, limit.by.empty() ? 0 : peers[limit.by], now);
  return limit;
}

}  // namespace orbweaver
