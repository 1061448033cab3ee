#include "node/cli/top_view.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "node/cli/health_command.h"
#include "node/text/printable.h"
#include "node/text/web_date.h"

namespace orbweaver {

namespace {

using nlohmann::json;

constexpr std::size_t id_length = 8;

std::uint64_t whole(const json& object, const char* path) {
  return static_cast<std::uint64_t>(std::max(number_at(object, path), 0.0));
}

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

std::optional<double> rate(const json* before, const json& now, const char* path) {
  if (before == nullptr) return std::nullopt;
  const auto seconds = seconds_between(*before, now);
  if (!seconds) return std::nullopt;
  return std::max(number_at(now, path) - number_at(*before, path), 0.0) / *seconds;
}

void add(std::optional<double>& sum, const std::optional<double>& more) {
  if (more) sum = sum.value_or(0) + *more;
}

TopPeer peer_of(const json* before, const json& now) {
  TopPeer peer;
  peer.id = text_at(now, "id");
  peer.address = text_at(now, "address");
  peer.state = text_at(now, "state");
  // By this peer: what it holds as fetched also changes when partitions move.
  peer.pages = rate(before, now, "/counts/pages_fetched");
  peer.bytes = rate(before, now, "/counts/bytes_received");
  peer.in_flight = whole(now, "/counts/in_flight");
  peer.queued = whole(now, "/counts/queued");
  peer.outbox = whole(now, "/counts/outbox");
  for (const char* const path : {"/counts/partitions_to_gain", "/counts/partitions_to_hand_over",
                                 "/counts/partitions_to_return", "/counts/copies_to_backfill"})
    peer.moving += whole(now, path);
  peer.memory = whole(now, "/memory/resident");
  peer.disk_free = whole(now, "/process/disk_free_bytes");
  peer.limit = peer_limit(before, now);
  return peer;
}

std::uint64_t seconds_up(const json& peer) {
  const auto started = parse_w3c_date(text_at(peer, "started"));
  if (!started) return 0;
  const Duration up = Time(Duration(static_cast<std::int64_t>(number_at(peer, "/clock_us")))) - *started;
  return static_cast<std::uint64_t>(
      std::max<std::int64_t>(std::chrono::duration_cast<std::chrono::seconds>(up).count(), 0));
}

void add_cell(std::string& line, const std::string& text, std::size_t width, bool right) {
  if (!line.empty()) line += ' ';
  const std::string shown = printable(text).substr(0, width);
  const std::string gap(width - shown.size(), ' ');
  line += right ? gap + shown : shown + gap;
}

struct Column {
  const char* name;
  std::size_t width;
  bool right;
  std::string (*cell)(const TopPeer&);
};

// In the order of their worth: on a narrow terminal the last are left out.
const std::array<Column, 13>& columns() {
  static const std::array<Column, 13> all = {{
      {"PEER", id_length, false, [](const TopPeer& p) { return p.id; }},
      {"STATE", 8, false, [](const TopPeer& p) { return p.state; }},
      {"PAGES/S", 7, true, [](const TopPeer& p) { return rate_text(p.pages); }},
      {"MB/S", 6, true, [](const TopPeer& p) { return megabytes(p.bytes); }},
      {"QUEUED", 7, true, [](const TopPeer& p) { return brief(p.queued); }},
      {"LIMIT", 11, false, [](const TopPeer& p) { return p.limit.by; }},
      {"CPU", 5, true, [](const TopPeer& p) { return percent(p.limit.processors); }},
      {"MB", 6, true, [](const TopPeer& p) { return brief(static_cast<double>(p.memory) / 1e6); }},
      {"FLIGHT", 6, true, [](const TopPeer& p) { return brief(p.in_flight); }},
      {"OUTBOX", 6, true, [](const TopPeer& p) { return brief(p.outbox); }},
      {"MOVING", 6, true, [](const TopPeer& p) { return brief(p.moving); }},
      {"GB FREE", 7, true, [](const TopPeer& p) { return brief(static_cast<double>(p.disk_free) / 1e9); }},
      {"ADDRESS", 24, false, [](const TopPeer& p) { return p.address; }},
  }};
  return all;
}

std::string row(const TopPeer* peer, std::size_t width) {
  std::string line;
  for (const Column& column : columns()) {
    if (line.size() + 1 + column.width > width && !line.empty()) break;
    add_cell(line, peer == nullptr ? column.name : column.cell(*peer), column.width, column.right);
  }
  return line;
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

TopView top_view(const json* before, const json& now) {
  TopView view;
  view.ring = text_at(now, "ring");
  const Health health = health_of(now);
  view.health = std::string(health.word());
  for (const auto* list : {&health.broken, &health.settling})
    if (view.health_why.empty() && !list->empty()) view.health_why = list->front();
  std::map<std::string, const json*> earlier = parts_by_id(before);
  for (const json* const part : parts_of(now)) {
    view.peers.push_back(peer_of(earlier[text_at(*part, "id")], *part));
    view.seconds_up = std::max(view.seconds_up, seconds_up(*part));
    add(view.pages, view.peers.back().pages);
    add(view.bytes, view.peers.back().bytes);
  }
  const json silent = now.value("unreachable", json::array());
  for (const json& peer : silent) view.silent.push_back(text_at(peer, "address"));
  view.fetched = whole(now, "/totals/fetched");
  view.queued = whole(now, "/totals/queued");
  view.failed = whole(now, "/totals/failed");
  view.excluded = whole(now, "/totals/excluded");
  view.limit = ring_limit(before, now);
  sort_peers(view, TopOrder::none);
  return view;
}

void sort_peers(TopView& view, TopOrder order) {
  const auto key = [order](const TopPeer& peer) -> double {
    switch (order) {
      case TopOrder::none:
        return 0;
      case TopOrder::pages:
        return peer.pages.value_or(0);
      case TopOrder::queued:
        return static_cast<double>(peer.queued);
      case TopOrder::processors:
        return peer.limit.processors.value_or(0);
      case TopOrder::memory:
        return static_cast<double>(peer.memory);
    }
    return 0;
  };
  std::sort(view.peers.begin(), view.peers.end(),
            [&](const TopPeer& a, const TopPeer& b) { return key(a) != key(b) ? key(a) > key(b) : a.id < b.id; });
}

json to_json(const TopView& view) {
  const auto number = [](const std::optional<double>& value) { return value ? json(*value) : json(); };
  json peers = json::array();
  for (const TopPeer& peer : view.peers)
    peers.push_back({{"id", peer.id},
                     {"address", peer.address},
                     {"state", peer.state},
                     {"pages_per_second", number(peer.pages)},
                     {"bytes_per_second", number(peer.bytes)},
                     {"in_flight", peer.in_flight},
                     {"queued", peer.queued},
                     {"outbox", peer.outbox},
                     {"moving", peer.moving},
                     {"memory_bytes", peer.memory},
                     {"disk_free_bytes", peer.disk_free},
                     {"processors", number(peer.limit.processors)},
                     {"loop", number(peer.limit.loop)},
                     {"limit", {{"by", peer.limit.by}, {"shares", peer.limit.shares}}}});
  return {{"ring", view.ring},
          {"health", view.health},
          {"health_why", view.health_why},
          {"seconds_up", view.seconds_up},
          {"pages_per_second", number(view.pages)},
          {"bytes_per_second", number(view.bytes)},
          {"fetched", view.fetched},
          {"queued", view.queued},
          {"failed", view.failed},
          {"excluded", view.excluded},
          {"limit", {{"by", view.limit.by}, {"text", view.limit.text}}},
          {"peers", std::move(peers)},
          {"silent", view.silent}};
}

TopLines to_lines(const TopView& view, std::size_t width) {
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
        view.health + (view.health_why.empty() ? "" : ": " + view.health_why), "limit: " + view.limit.text})
    add_wrapped(text, width, shown.lines);
  shown.lines.emplace_back();
  shown.head = shown.lines.size();
  shown.lines.push_back(row(nullptr, width));
  for (const TopPeer& peer : view.peers) shown.lines.push_back(row(&peer, width));
  for (const std::string& address : view.silent)
    shown.lines.push_back(printable("does not answer: " + address).substr(0, width));
  return shown;
}

}  // namespace orbweaver
