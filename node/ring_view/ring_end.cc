#include "node/ring_view/ring_end.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

namespace orbweaver {

namespace {

using nlohmann::json;

std::string count(std::uint64_t number, const char* one, const char* many) {
  return std::to_string(number) + " " + (number == 1 ? one : many);
}

// What an operator has paused or blocked has no end.
std::string without_words(const std::vector<HostView>& hosts) {
  const auto held = std::count_if(hosts.begin(), hosts.end(),
                                  [](const HostView& host) { return host.held_back() && host.queued > 0; });
  if (held == 0) return {};
  return "; without what " +
         count(static_cast<std::uint64_t>(held), "paused or blocked host has", "paused or blocked hosts have") +
         " in memory";
}

// Another peer fetches the partition of a foreign one, and names it too.
bool is_waited_for(const HostView& host) { return !host.held_back() && host.state != "foreign"; }

std::string why(const HostView& host) {
  std::array<char, 32> delay{};
  std::snprintf(delay.data(), delay.size(), "%.3g s", host.delay_seconds);
  std::string text = (host.host.empty() ? "one host" : host.host) +
                     " needs that long: " + count(host.queued, "URL", "URLs") + ", " + delay.data() + " apart";
  if (host.delay_why == "robots.txt") text += " as its robots.txt says";
  if (host.delay_why == "slowed down") text += " since it is slow";
  if (host.delay_why == "order") text += " by an operator's order";
  return text;
}

}  // namespace

RingEnd ring_end(const RingLoad& load, const std::vector<HostView>& hosts) {
  if (load.queued == 0 && load.in_flight == 0) return {0.0, false, "nothing", "", "now: no URL is left to fetch"};
  if (load.held) return {std::nullopt, false, "held", "", "not known: peers may not fetch"};
  std::optional<double> by_rate;
  std::uint64_t left_out = 0;
  for (const HostView& host : hosts) left_out += host.held_back() ? host.queued : 0;
  if (load.pages && *load.pages > 0)
    by_rate = static_cast<double>(load.queued - std::min(left_out, load.queued)) / *load.pages;
  const auto host =
      std::find_if(hosts.begin(), hosts.end(), [](const HostView& h) { return is_waited_for(h) && h.queued > 0; });
  const double by_host = host == hosts.end() ? 0 : host->seconds_needed();
  RingEnd end;
  end.at_least = std::any_of(hosts.begin(), hosts.end(), [](const HostView& h) { return h.more && is_waited_for(h); });
  if (host != hosts.end() && by_host >= by_rate.value_or(0)) {
    end.seconds = by_host;
    end.by = "host";
    end.host = host->host;
    end.text = (end.at_least ? "in " + time_words(by_host) + " at the earliest" : "in about " + time_words(by_host)) +
               " if no more is found: " + why(*host) + (end.at_least ? ", and more is on disk" : "");
  } else if (by_rate) {
    end.seconds = by_rate;
    end.by = "rate";
    end.text = (end.at_least ? "in " + time_words(*by_rate) + " at the earliest" : "in about " + time_words(*by_rate)) +
               " at the rate of now, if no more is found";
  } else {
    end.at_least = false;
    end.text = "not known: no page was fetched in between";
  }
  end.text += without_words(hosts);
  return end;
}

json to_json(const RingEnd& end) {
  return {{"seconds", end.seconds ? json(*end.seconds) : json()},
          {"at_least", end.at_least},
          {"by", end.by},
          {"host", end.host},
          {"text", end.text}};
}

std::string time_words(double seconds) {
  constexpr double most = 1e12;
  const auto whole = static_cast<std::uint64_t>(std::ceil(std::clamp(seconds, 0.0, most)));
  const std::uint64_t minutes = (whole + 59) / 60;
  if (whole < 60) return std::to_string(whole) + " s";
  if (minutes < 60) return std::to_string(minutes) + " min";
  const auto pair = [](std::uint64_t large, const char* name, std::uint64_t small, const char* other) {
    return std::to_string(large) + name + (small == 0 ? "" : " " + std::to_string(small) + other);
  };
  if (minutes < 24 * 60) return pair(minutes / 60, " h", minutes % 60, " min");
  const std::uint64_t hours = (minutes + 59) / 60;
  return pair(hours / 24, " d", hours % 24, " h");
}

}  // namespace orbweaver
