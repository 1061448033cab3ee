// What `orbweaver top` and the dashboard show of a ring, from two of its answers to "status" and one to "hosts". Pure.
// Thread rule: a value.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "node/ring_view/hosts_view.h"
#include "node/ring_view/outcomes_view.h"
#include "node/ring_view/ring_end.h"
#include "node/ring_view/ring_limit.h"

namespace orbweaver {

struct PeerView {
  std::string id, address, state;
  // A second, between the two answers; nothing: there is one answer only, or the peer has started again.
  std::optional<double> pages, bytes;
  std::uint64_t in_flight = 0, queued = 0, outbox = 0;  // requests; URLs; links to other peers
  std::uint64_t moving = 0;                             // partitions on the way to it or from it, or without a copy
  std::uint64_t memory = 0, disk_free = 0;              // bytes
  PeerLimit limit;
};

// The column by which peers are sorted, the largest first; `none`: by id.
enum class PeerOrder : std::uint8_t { none, pages, queued, processors, memory };

struct RingView {
  std::string ring, health;
  std::string health_why;  // the first reason; empty: it is healthy
  std::vector<PeerView> peers;
  std::vector<std::string> silent;  // addresses of peers that do not answer
  std::uint64_t left_out = 0;       // peers whose answers did not fit into the ring's
  std::uint64_t seconds_up = 0;     // of the peer that has run longest
  std::uint64_t fetched = 0, queued = 0, failed = 0, excluded = 0;
  std::optional<double> pages, bytes;  // a second
  std::vector<OutcomeView> outcomes;
  GapsView gaps;
  RingLimit limit;
  std::vector<HostView> hosts;
  RingEnd end;
};

// `before`, `hosts`: null when there is no such answer. The answers may be of different peers.
RingView ring_view(const nlohmann::json* before, const nlohmann::json& now, const nlohmann::json* hosts);
RingLoad load_of(const RingView& view);
void sort_peers(RingView& view, PeerOrder order);
nlohmann::json to_json(const RingView& view);
}  // namespace orbweaver
