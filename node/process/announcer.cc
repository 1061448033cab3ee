#include "node/process/announcer.h"

#include <nlohmann/json.hpp>
#include <set>
#include <utility>

namespace orbweaver {
namespace {

using nlohmann::json;

constexpr std::size_t brief_digits = 8;

std::string brief(const json& member) { return member.value("id", "").substr(0, brief_digits); }

bool is_here(const std::string& state) { return state == "active" || state == "joining" || state == "leaving"; }

const json& members_of(const json& status) {
  static const json none = json::array();
  const auto found = status.find("members");
  return found == status.end() ? none : *found;
}

std::size_t active(const json& status) {
  std::size_t count = 0;
  for (const json& member : members_of(status))
    if (is_here(member.value("state", "")) || member.value("state", "") == "suspect") ++count;
  return count;
}

std::string peers(std::size_t count) { return std::to_string(count) + (count == 1 ? " peer" : " peers"); }

std::string list(const std::vector<std::string>& texts) {
  std::string line;
  for (const std::string& text : texts) line += (line.empty() ? "" : ", ") + text;
  return line;
}

// How another member's state changed, for people. Empty: nothing worth a line.
std::string change(const std::string& before, const std::string& after) {
  if (before == after) return {};
  if (is_here(after)) {
    if (before.empty() || before == "left") return after == "leaving" ? "is leaving" : "joined";
    if (before == "down") return "is back";
    if (after == "leaving") return "is leaving";
    return before == "suspect" ? "answers again" : "";
  }
  if (after == "suspect") return "does not answer";
  if (after == "down") return before.empty() ? "" : "is down; others take over its partitions";
  if (after == "left") return before.empty() ? "" : "has left";
  return {};
}

}  // namespace

std::vector<std::string> Announcer::start(const Place& place, const json& status, Time now) {
  place_ = place;
  next_silence_ = now + silence_first;
  next_progress_ = now;
  std::vector<std::string> lines;
  lines.push_back("peer " + brief(status) + " listens on " + place.address + ", data in " + place.directory);
  if (!place.status_address.empty())
    lines.push_back("status and metrics at http://" + place.status_address + "/status");
  note_ring(status, lines);
  if (ring_.empty()) {
    const std::string at = list(place.join);
    lines.push_back("joining the ring" + (at.empty() ? "" : " at " + at));
  }
  note_members(status);
  return lines;
}

std::vector<std::string> Announcer::update(const json& status, Time now) {
  std::vector<std::string> lines;
  const bool was_in_ring = !ring_.empty();
  note_ring(status, lines);
  if (was_in_ring) {
    const std::string here = peers(active(status));  // once: all members may be news
    for (const json& member : members_of(status)) {
      if (member.value("id", "") == status.value("id", "")) continue;
      const auto known = states_.find(member.value("id", ""));
      const std::string what =
          change(known == states_.end() ? std::string() : known->second, member.value("state", ""));
      if (!what.empty())
        lines.push_back("peer " + brief(member) + " at " + member.value("address", "") + " " + what + " (" + here +
                        ")");
    }
  }
  note_members(status);
  note_silence(now, lines);
  note_leave(status, now, lines);
  return lines;
}

void Announcer::note_members(const json& status) {
  states_.clear();
  for (const json& member : members_of(status))
    if (member.value("id", "") != status.value("id", "")) states_[member.value("id", "")] = member.value("state", "");
}

void Announcer::note_ring(const json& status, std::vector<std::string>& lines) {
  if (!ring_.empty()) return;
  ring_ = status.value("ring", "");
  if (ring_.empty()) return;
  const std::size_t count = active(status);
  if (count > 1) {
    lines.push_back("in ring " + ring_.substr(0, brief_digits) + " of " + peers(count));
  } else {
    lines.push_back("in ring " + ring_.substr(0, brief_digits) +
                    " alone; others join it with: orbweaver node --dir DIR --join " + place_.address);
  }
}

// A ring ignores every peer that has another key, without an answer: that is how it keeps strangers out.
void Announcer::note_silence(Time now, std::vector<std::string>& lines) {
  if (!ring_.empty() || place_.join.empty() || now < next_silence_) return;
  next_silence_ = now + silence_every;
  lines.push_back(list(place_.join) + (place_.join.size() == 1 ? " does" : " do") +
                  " not answer: does a peer run there, and does it have the same ring key (--ring-key-file)?");
}

void Announcer::note_leave(const json& status, Time now, std::vector<std::string>& lines) {
  if (status.value("state", "") != "leaving" || now < next_progress_) return;
  next_progress_ = now + progress_every;
  const json counts = status.value("counts", json::object());
  const auto number = [&](const char* name) { return std::to_string(counts.value(name, std::uint64_t{0})); };
  if (!std::exchange(leaving_, true)) lines.emplace_back("leaving: handing over everything to the other peers");
  lines.push_back("leaving: " + number("partitions_held") + " partitions still here, " + number("records_moved") +
                  " URLs handed over, " + number("outbox") + " links in transit");
}

std::string Announcer::end(int code, const std::string& reason) {
  return "ended: " + (reason.empty() ? std::string("as asked") : reason) +
         (code == 0 ? "" : " (exit code " + std::to_string(code) + ")");
}

}  // namespace orbweaver
