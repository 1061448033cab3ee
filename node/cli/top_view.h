// What `orbweaver top` shows, from two answers of the ring to "status". Pure. Thread rule: a value.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "node/cli/ring_limit.h"

namespace orbweaver {

struct TopPeer {
  std::string id, address, state;
  // A second, between the two answers; nothing: there is one answer only, or the peer has started again.
  std::optional<double> pages, bytes;
  std::uint64_t in_flight = 0, queued = 0, outbox = 0;  // requests; URLs; links to other peers
  std::uint64_t moving = 0;                             // partitions on the way to it or from it, or without a copy
  std::uint64_t memory = 0, disk_free = 0;              // bytes
  PeerLimit limit;
};

// The column by which peers are sorted, the largest first; `none`: by id.
enum class TopOrder : std::uint8_t { none, pages, queued, processors, memory };

struct TopView {
  std::string ring, health;
  std::string health_why;  // the first reason; empty: it is healthy
  std::vector<TopPeer> peers;
  std::vector<std::string> silent;  // addresses of peers that do not answer
  std::uint64_t seconds_up = 0;     // of the peer that has run longest
  std::uint64_t fetched = 0, queued = 0, failed = 0, excluded = 0;
  std::optional<double> pages, bytes;  // a second
  RingLimit limit;
};

// `before`: null when there is no earlier answer. The answers may be of different peers.
TopView top_view(const nlohmann::json* before, const nlohmann::json& now);
void sort_peers(TopView& view, TopOrder order);
nlohmann::json to_json(const TopView& view);
// Lines of at most `width` characters: on the ring, and a table of its peers.
struct TopLines {
  std::vector<std::string> lines;
  std::size_t head = 0;  // the line with the names of the table's columns; the first peer follows
};
TopLines to_lines(const TopView& view, std::size_t width);

}  // namespace orbweaver
