#include "node/ring_view/ring_view.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "node/ring_view/health.h"
#include "node/text/web_date.h"

namespace orbweaver {

namespace {

using nlohmann::json;

std::uint64_t whole(const json& object, const char* path) {
  constexpr double most = 1e18;
  return static_cast<std::uint64_t>(std::clamp(number_at(object, path), 0.0, most));
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

PeerView peer_of(const json* before, const json& now) {
  PeerView peer;
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
  const Duration up = Time(Duration(static_cast<std::int64_t>(whole(peer, "/clock_us")))) - *started;
  return static_cast<std::uint64_t>(
      std::max<std::int64_t>(std::chrono::duration_cast<std::chrono::seconds>(up).count(), 0));
}

}  // namespace

RingLoad load_of(const RingView& view) {
  RingLoad load{.queued = view.queued, .in_flight = 0, .pages = view.pages, .held = view.limit.by == "held"};
  for (const PeerView& peer : view.peers) load.in_flight += peer.in_flight;
  return load;
}

RingView ring_view(const json* before, const json& now, const json* hosts) {
  RingView view;
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
  view.left_out = whole(now, "/left_out");
  view.fetched = whole(now, "/totals/fetched");
  view.queued = whole(now, "/totals/queued");
  view.failed = whole(now, "/totals/failed");
  view.excluded = whole(now, "/totals/excluded");
  view.outcomes = outcomes_view(now);
  view.gaps = gaps_view(now);
  view.limit = ring_limit(before, now);
  view.hosts = hosts_view(hosts);
  view.end = ring_end(load_of(view), view.hosts);
  sort_peers(view, PeerOrder::none);
  return view;
}

void sort_peers(RingView& view, PeerOrder order) {
  const auto key = [order](const PeerView& peer) -> double {
    switch (order) {
      case PeerOrder::none:
        return 0;
      case PeerOrder::pages:
        return peer.pages.value_or(0);
      case PeerOrder::queued:
        return static_cast<double>(peer.queued);
      case PeerOrder::processors:
        return peer.limit.processors.value_or(0);
      case PeerOrder::memory:
        return static_cast<double>(peer.memory);
    }
    return 0;
  };
  std::sort(view.peers.begin(), view.peers.end(),
            [&](const PeerView& a, const PeerView& b) { return key(a) != key(b) ? key(a) > key(b) : a.id < b.id; });
}

json to_json(const RingView& view) {
  const auto number = [](const std::optional<double>& value) { return value ? json(*value) : json(); };
  json peers = json::array();
  for (const PeerView& peer : view.peers)
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
          {"outcomes", to_json(view.outcomes)},
          {"politeness", to_json(view.gaps)},
          {"limit", {{"by", view.limit.by}, {"text", view.limit.text}}},
          {"end", to_json(view.end)},
          {"peers", std::move(peers)},
          {"silent", view.silent},
          {"left_out", view.left_out}};
}

}  // namespace orbweaver
