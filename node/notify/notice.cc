#include "node/notify/notice.h"

#include <algorithm>
#include <array>

#include "node/crawl/outside_json.h"
#include "node/crawl/peer_words.h"
#include "node/settings/notice_kinds.h"

namespace orbweaver {

namespace {

using nlohmann::json;

std::string_view field_of(const LogEntry& line, std::string_view name) {
  const auto at = std::find_if(line.fields.begin(), line.fields.end(), [&](const auto& f) { return f.first == name; });
  return at == line.fields.end() ? std::string_view() : std::string_view(at->second);
}

struct Line {
  std::string_view event, notice;
};
constexpr std::array<Line, 9> lines = {{{"many peers have come or gone", "peers_changed"},
                                        {"a peer is forgotten", "peer_left"},
                                        {"cut off from most members, pausing", "paused"},
                                        {"continuing", "resumed"},
                                        {"the disk is almost full: nothing is asked for", "disk_low"},
                                        {"the disk has room again", "disk_has_room"},
                                        {"operators' orders are news", "orders"},
                                        {"snapshot saved", "snapshot_saved"},
                                        {"snapshot failed", "snapshot_failed"}}};

}  // namespace

std::optional<std::string_view> event_of(const LogEntry& line) {
  if (line.event == "a peer has come or gone") {
    const std::string_view state = field_of(line, "state");
    if (state == "down") return "peer_lost";
    if (state == "active") return "peer_joined";
    if (state == "left") return "peer_left";
    return std::nullopt;
  }
  const auto at =
      std::find_if(lines.begin(), lines.end(), [&](const Line& known) { return known.event == line.event; });
  return at == lines.end() ? std::nullopt : std::optional(at->notice);
}

json details_of(const LogEntry& line) {
  json details = json::object();
  for (const auto& [name, value] : line.fields) details[std::string(name)] = value;
  return details;
}

std::string notice(const NoticeSource& source, std::uint64_t number, Time at, std::string_view event,
                   const json& details) {
  const NoticeKind* const kind = find_notice_kind(event);
  std::string text = "peer " + source.peer.substr(0, 8) + " at " + source.address + ": " +
                     std::string(kind == nullptr ? event : kind->what);
  std::string separator = ": ";
  for (const auto& [name, value] : details.items()) {
    text += separator + name + "=" + (value.is_string() ? value.get<std::string>() : value.dump());
    separator = ", ";
  }
  return json_text({{"id", source.peer.substr(0, 16) + "-" + std::to_string(at.time_since_epoch().count()) + "-" +
                               std::to_string(number)},
                    {"event", event},
                    {"text", text},
                    {"at", utc(at)},
                    {"ring", source.ring},
                    {"peer", source.peer},
                    {"address", source.address},
                    {"details", details}});
}

bool tells_for_ring(const json& status) {
  const std::string self = text_field(status, "id").value_or("");
  for (const json& member : list_field(status, "members").value_or(std::span<const json>())) {
    const std::string state = text_field(member, "state").value_or("");
    const bool runs = state == "active" || state == "leaving";
    if (runs && text_field(member, "id").value_or("") < self) return false;
  }
  return true;
}

}  // namespace orbweaver
