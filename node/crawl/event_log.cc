#include "node/crawl/event_log.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "node/crawl/peer_words.h"

namespace orbweaver {

using nlohmann::json;

namespace {

std::string_view name_of(LogLevel level) {
  constexpr std::array<std::string_view, 4> names = {"debug", "info", "warning", "error"};
  return names.at(static_cast<std::size_t>(level));
}

}  // namespace

void EventLog::note(Time at, const LogEntry& line) {
  if (line.level < LogLevel::info || line.limited) return;
  if (events_.size() >= max_events) events_.pop_front();
  events_.push_back({++last_, at, line});
  for (auto& [name, value] : events_.back().line.fields)
    if (value.size() > max_value_bytes) value.resize(max_value_bytes);
}

json EventLog::after(std::uint64_t after, std::size_t most) const {
  const auto first = std::find_if(events_.begin(), events_.end(), [&](const Event& e) { return e.number > after; });
  json found = json::array();
  for (auto at = first; at != events_.end() && found.size() < most; ++at) {
    json fields = json::object();
    for (const auto& [name, value] : at->line.fields) fields[std::string(name)] = value;
    found.push_back({{"number", at->number},
                     {"at", utc(at->at)},
                     {"level", name_of(at->line.level)},
                     {"channel", at->line.channel},
                     {"event", at->line.event},
                     {"fields", std::move(fields)}});
  }
  return found;
}

}  // namespace orbweaver
