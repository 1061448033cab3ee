#include "node/crawl/peer_words.h"

#include <cstdio>
#include <nlohmann/json.hpp>

namespace orbweaver {

std::string utc(Time time) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(time);
  const std::chrono::year_month_day day(std::chrono::floor<std::chrono::days>(seconds));
  const std::chrono::hh_mm_ss clock(seconds - std::chrono::floor<std::chrono::days>(seconds));
  char text[32];
  std::snprintf(text, sizeof text, "%04d-%02u-%02uT%02d:%02d:%02dZ", static_cast<int>(day.year()),
                static_cast<unsigned>(day.month()), static_cast<unsigned>(day.day()),
                static_cast<int>(clock.hours().count()), static_cast<int>(clock.minutes().count()),
                static_cast<int>(clock.seconds().count()));
  return text;
}

std::string_view member_state_name(const ring::Member& member) {
  if (member.suspect && ring::reachable(member)) return "suspect";
  switch (member.state) {
    case ring::MemberState::joining:
      return "joining";
    case ring::MemberState::active:
      return "active";
    case ring::MemberState::leaving:
      return "leaving";
    case ring::MemberState::left:
      return "left";
    case ring::MemberState::down:
      return "down";
  }
  return "unknown";
}

void add_counts(nlohmann::json& totals, const nlohmann::json& counts) {
  for (const auto& [name, value] : counts.items())
    if (value.is_number_unsigned()) totals[name] = totals.value(name, std::uint64_t{0}) + value.get<std::uint64_t>();
}

}  // namespace orbweaver
