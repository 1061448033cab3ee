// The hosts of a ring, from its answer to the question "hosts" (node/peer/host_report.h). Pure. Thread rule: a value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace orbweaver {

struct HostView {
  std::string host, peer;  // the peer's id
  std::uint64_t queued = 0;
  bool more = false;                  // there are more on disk, not counted
  double delay_seconds = 0;           // between two requests
  std::string delay_why, state, why;  // state, why: that it is not asked now
  double next_seconds = 0;            // until it may be asked again
  std::uint64_t failures = 0;         // in a row
  std::string address;
  // Without an operator it is never asked.
  bool held_back() const { return state == "paused" || state == "blocked"; }
  double seconds_needed() const { return next_seconds + static_cast<double>(queued) * delay_seconds; }
};

// How many hosts to ask each peer for: enough for a table, and not much from many.
std::size_t hosts_of_each(std::size_t peers);
// Those that need longest first; not all: each peer names its longest. `answer`: null when nobody has asked.
std::vector<HostView> hosts_view(const nlohmann::json* answer);
nlohmann::json to_json(const std::vector<HostView>& hosts);

}  // namespace orbweaver
