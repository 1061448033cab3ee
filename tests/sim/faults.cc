#include "tests/sim/faults.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "node/settings/settings.h"
#include "node/settings/units.h"

namespace orbweaver::sim {

namespace {

using Kind = Fault::Kind;

constexpr auto names = std::to_array<std::pair<Kind, std::string_view>>({
    {Kind::crash, "crash"},
    {Kind::crash_all, "crash_all"},
    {Kind::stop, "stop"},
    {Kind::crash_at, "crash_at"},
    {Kind::copy, "copy"},
    {Kind::leave, "leave"},
    {Kind::join, "join"},
    {Kind::cut, "cut"},
    {Kind::one_way, "one_way"},
    {Kind::slow, "slow"},
    {Kind::pause, "pause"},
    {Kind::disk_error, "disk_error"},
    {Kind::disk_full, "disk_full"},
    {Kind::read_error, "read_error"},
    {Kind::no_archive, "no_archive"},
    {Kind::disk_gone, "disk_gone"},
    {Kind::strike, "strike"},
    {Kind::power_cut, "power_cut"},
    {Kind::ask, "ask"},
    {Kind::recrawl, "recrawl"},
    {Kind::order, "order"},
    {Kind::late_seed, "late_seed"},
});

template <class Number>
bool read_number(std::string_view text, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() && !text.empty();
}

bool read_side(std::string_view text, std::set<std::size_t>& side) {
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    std::uint64_t peer = 0;
    if (!read_number(text.substr(0, comma), peer)) return false;
    side.insert(peer);
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return true;
}

bool read_duration(std::string_view text, Duration& duration) {
  const Result<Duration> parsed = parse_duration(text);
  if (parsed) duration = *parsed;
  return parsed.has_value();
}

// "-10m": back by ten minutes.
bool read_clock(std::string_view text, Duration& clock) {
  const bool back = text.starts_with('-');
  if (!read_duration(text.substr(back ? 1 : 0), clock)) return false;
  if (back) clock = -clock;
  return true;
}

bool read_word(std::string_view name, std::string_view value, Fault& fault) {
  std::uint64_t flag = 0;
  if (name == "peer") return read_number(value, fault.peer);
  if (name == "at") return read_duration(value, fault.at);
  if (name == "for") return read_duration(value, fault.down);
  if (name == "side") return read_side(value, fault.side);
  if (name == "by") return read_duration(value, fault.by);
  if (name == "clock") return read_clock(value, fault.clock);
  if (name == "writes") return read_number(value, fault.writes);
  if (name == "sends") return read_number(value, fault.sends);
  if (name == "through") return read_number(value, fault.through);
  if (name == "host") return read_number(value, fault.host);
  if (name == "page") return read_number(value, fault.page);
  if (name == "what") {
    fault.what = value;
    return !value.empty();
  }
  if (name == "held" || name == "tick_last") {
    if (!read_number(value, flag)) return false;
    (name == "held" ? fault.held : fault.tick_last) = flag != 0;
    return true;
  }
  return false;
}

}  // namespace

std::string_view fault_name(Kind kind) {
  const auto* const found =
      std::find_if(names.begin(), names.end(), [&](const auto& row) { return row.first == kind; });
  return found == names.end() ? "unknown" : found->second;
}

bool Fault::of_one_peer() const {
  return kind != Kind::crash_all && kind != Kind::crash_at && kind != Kind::cut && kind != Kind::one_way &&
         kind != Kind::slow;
}

bool Fault::disturbs_views() const {
  return kind != Kind::crash && kind != Kind::crash_all && kind != Kind::crash_at && kind != Kind::stop &&
         kind != Kind::copy && kind != Kind::disk_error && kind != Kind::disk_full && kind != Kind::read_error &&
         kind != Kind::no_archive && !is_question();
}

std::string Fault::text() const {
  std::string out(fault_name(kind));
  const auto word = [&](std::string_view name, const std::string& value) {
    out += " " + std::string(name) + "=" + value;
  };
  if (of_one_peer()) word("peer", std::to_string(peer));
  if (kind == Kind::join) word("through", std::to_string(through));
  if (!what.empty()) word("what", what);
  if (is_question()) word("host", std::to_string(host));
  if (kind == Kind::ask || kind == Kind::late_seed) word("page", std::to_string(page));
  if (!side.empty()) {
    std::string list;
    for (const std::size_t one : side) list += (list.empty() ? "" : ",") + std::to_string(one);
    word("side", list);
  }
  word("at", duration_text(at));
  if (down > Duration{}) word("for", duration_text(down));
  if (by > Duration{}) word("by", duration_text(by));
  if (clock != Duration{})
    word("clock", (clock < Duration{} ? "-" : "") + duration_text(clock < Duration{} ? -clock : clock));
  if (writes > 0) word("writes", std::to_string(writes));
  if (sends > 0) word("sends", std::to_string(sends));
  if (held) word("held", "1");
  if (tick_last) word("tick_last", "1");
  return out;
}

Result<Fault> Fault::read(std::string_view text) {
  Fault fault;
  const std::size_t space = std::min(text.find(' '), text.size());
  const auto* const kind =
      std::find_if(names.begin(), names.end(), [&](const auto& row) { return row.second == text.substr(0, space); });
  if (kind == names.end()) return fail(ErrorCode::invalid_input, "no such fault: '" + std::string(text) + "'");
  fault.kind = kind->first;
  for (text.remove_prefix(space); !text.empty();) {
    text.remove_prefix(1);
    const std::string_view word = text.substr(0, text.find(' '));
    const std::size_t equals = word.find('=');
    if (equals == std::string_view::npos || !read_word(word.substr(0, equals), word.substr(equals + 1), fault))
      return fail(ErrorCode::invalid_input, "a fault cannot have '" + std::string(word) + "'");
    text.remove_prefix(word.size());
  }
  return fault;
}

}  // namespace orbweaver::sim
