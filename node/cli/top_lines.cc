#include "node/cli/top_lines.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <optional>

#include "node/text/printable.h"

namespace orbweaver {

namespace {

constexpr std::size_t id_length = 8;

// 3 digits or so: 412, 12.3k, 8.4M.
std::string brief(double number) {
  constexpr std::array<const char*, 5> units = {"", "k", "M", "G", "T"};
  std::size_t unit = 0;
  while (number >= 9999.5 && unit + 1 < units.size()) {
    number /= 1000;
    ++unit;
  }
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), unit > 0 && number < 100 ? "%.1f%s" : "%.0f%s", number, units[unit]);
  return text.data();
}

std::string brief(std::uint64_t number) { return brief(static_cast<double>(number)); }

// A rate: 0.4, 412, 12.3k.
std::string rate_text(const std::optional<double>& number) {
  if (!number) return "-";
  if (*number >= 9.95) return brief(*number);
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.1f", *number);
  return text.data();
}

std::string megabytes(const std::optional<double>& bytes) {
  if (!bytes) return "-";
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.1f", *bytes / 1e6);
  return text.data();
}

std::string percent(double share) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.0f%%", share * 100);
  return text.data();
}

std::string percent(const std::optional<double>& share) { return share ? percent(*share) : "-"; }

std::string clock_of(std::uint64_t seconds) {
  std::array<char, 48> text{};
  std::snprintf(text.data(), text.size(), "%llu:%02llu:%02llu", static_cast<unsigned long long>(seconds / 3600),
                static_cast<unsigned long long>(seconds / 60 % 60), static_cast<unsigned long long>(seconds % 60));
  return text.data();
}

std::string seconds_text(double seconds) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), seconds < 100 ? "%.1f s" : "%.0f s", seconds);
  return text.data();
}

void add_cell(std::string& line, const std::string& text, std::size_t width, bool right) {
  if (!line.empty()) line += ' ';
  const std::string shown = printable(text).substr(0, width);
  const std::string gap(width - shown.size(), ' ');
  line += right ? gap + shown : shown + gap;
}

template <typename Row>
struct Column {
  const char* name;
  std::size_t width;
  bool right;
  std::string (*cell)(const Row&);
};

// In the order of their worth: on a narrow terminal the last are left out.
const std::array<Column<PeerView>, 13> peer_columns = {{
    {"PEER", id_length, false, [](const PeerView& p) { return p.id; }},
    {"STATE", 8, false, [](const PeerView& p) { return p.state; }},
    {"PAGES/S", 7, true, [](const PeerView& p) { return rate_text(p.pages); }},
    {"MB/S", 6, true, [](const PeerView& p) { return megabytes(p.bytes); }},
    {"QUEUED", 7, true, [](const PeerView& p) { return brief(p.queued); }},
    {"LIMIT", 11, false, [](const PeerView& p) { return p.limit.by; }},
    {"CPU", 5, true, [](const PeerView& p) { return percent(p.limit.processors); }},
    {"MB", 6, true, [](const PeerView& p) { return brief(static_cast<double>(p.memory) / 1e6); }},
    {"FLIGHT", 6, true, [](const PeerView& p) { return brief(p.in_flight); }},
    {"OUTBOX", 6, true, [](const PeerView& p) { return brief(p.outbox); }},
    {"MOVING", 6, true, [](const PeerView& p) { return brief(p.moving); }},
    {"GB FREE", 7, true, [](const PeerView& p) { return brief(static_cast<double>(p.disk_free) / 1e9); }},
    {"ADDRESS", 24, false, [](const PeerView& p) { return p.address; }},
}};

const std::array<Column<HostView>, 10> host_columns = {{
    {"HOST", 30, false, [](const HostView& h) { return h.host; }},
    {"QUEUED", 7, true, [](const HostView& h) { return brief(h.queued) + (h.more ? "+" : ""); }},
    {"NEEDS", 10, true, [](const HostView& h) { return time_words(h.seconds_needed()); }},
    {"DELAY", 7, true, [](const HostView& h) { return seconds_text(h.delay_seconds); }},
    {"BECAUSE OF", 11, false, [](const HostView& h) { return h.delay_why; }},
    {"NEXT", 7, true, [](const HostView& h) { return seconds_text(h.next_seconds); }},
    {"NOT NOW, BECAUSE", 26, false, [](const HostView& h) { return h.why; }},
    {"FAILED", 6, true, [](const HostView& h) { return brief(h.failures); }},
    {"PEER", id_length, false, [](const HostView& h) { return h.peer; }},
    {"ADDRESS", 24, false, [](const HostView& h) { return h.address; }},
}};

const std::array<Column<OutcomeView>, 2> outcome_columns = {{
    {"REASON", 22, false, [](const OutcomeView& o) { return o.reason; }},
    {"URLS", 12, true, [](const OutcomeView& o) { return std::to_string(o.urls); }},
}};

template <typename Row, std::size_t size>
std::string row(const std::array<Column<Row>, size>& columns, const Row* of, std::size_t width) {
  std::string line;
  for (const Column<Row>& column : columns) {
    if (line.size() + 1 + column.width > width && !line.empty()) break;
    add_cell(line, of == nullptr ? column.name : column.cell(*of), column.width, column.right);
  }
  return line.substr(0, width);
}

// Breaks a text at spaces; a word that is longer than a line is cut.
void add_wrapped(std::string_view text, std::size_t width, std::vector<std::string>& lines) {
  while (text.size() > width) {
    std::size_t end = text.rfind(' ', width);
    if (end == std::string_view::npos || end == 0) end = width;
    lines.push_back(printable(text.substr(0, end)));
    text.remove_prefix(std::min(text.size(), text.find_first_not_of(' ', end)));
  }
  lines.push_back(printable(text));
}

}  // namespace

std::vector<OutcomeView> outcomes_of(const RingView& view, TopTable table) {
  std::vector<OutcomeView> wanted;
  for (const OutcomeView& outcome : view.outcomes)
    if (outcome.state == (table == TopTable::failed ? "failed" : "excluded")) wanted.push_back(outcome);
  return wanted;
}

TopLines to_lines(const RingView& view, std::size_t width, TopTable table) {
  const std::size_t all = view.peers.size() + view.silent.size();
  const std::uint64_t discovered = view.fetched + view.queued + view.failed + view.excluded;
  const auto part = [&](const char* name, std::uint64_t urls) {
    std::string text = std::string(name) + " " + brief(urls);
    if (discovered > 0) text += " (" + percent(static_cast<double>(urls) / static_cast<double>(discovered)) + ")";
    return text;
  };
  TopLines shown;
  for (const std::string& text :
       {"ring " + view.ring.substr(0, id_length) + "  " + std::to_string(view.peers.size()) + " of " +
            std::to_string(all) + " peers  " + rate_text(view.pages) + " pages/s  " + megabytes(view.bytes) +
            " MB/s  up " + clock_of(view.seconds_up),
        part("fetched", view.fetched) + "  " + part("queued", view.queued) + "  " + part("failed", view.failed) + "  " +
            part("excluded", view.excluded),
        view.health + (view.health_why.empty() ? "" : ": " + view.health_why), "limit: " + view.limit.text,
        "end: " + view.end.text, "politeness: " + view.gaps.text()})
    add_wrapped(text, width, shown.lines);
  shown.lines.emplace_back();
  shown.head = shown.lines.size();
  if (table == TopTable::failed || table == TopTable::excluded) {
    shown.lines.push_back(row<OutcomeView>(outcome_columns, nullptr, width));
    for (const OutcomeView& outcome : outcomes_of(view, table))
      shown.lines.push_back(row(outcome_columns, &outcome, width));
    return shown;
  }
  if (table == TopTable::hosts) {
    shown.lines.push_back(row<HostView>(host_columns, nullptr, width));
    for (const HostView& host : view.hosts) shown.lines.push_back(row(host_columns, &host, width));
    return shown;
  }
  shown.lines.push_back(row<PeerView>(peer_columns, nullptr, width));
  for (const PeerView& peer : view.peers) shown.lines.push_back(row(peer_columns, &peer, width));
  for (const std::string& address : view.silent)
    shown.lines.push_back(printable("does not answer: " + address).substr(0, width));
  return shown;
}

}  // namespace orbweaver
