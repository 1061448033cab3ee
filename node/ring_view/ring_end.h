// When a ring's crawl ends if it finds no more URLs: the time of the host that needs longest, or of all at the rate of
// now, whichever is later. Pure. Thread rule: a value.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "node/ring_view/hosts_view.h"

namespace orbweaver {

struct RingLoad {
  std::uint64_t queued = 0, in_flight = 0;  // URLs; requests
  std::optional<double> pages;              // a second; nothing: not known
  bool held = false;                        // the peers may not fetch
};

struct RingEnd {
  std::optional<double> seconds;  // from now on; nothing: not known
  bool at_least = false;          // more is on disk of the hosts that need longest
  std::string by;                 // "host", "rate", "nothing" (it is at its end), "held"; empty: not known
  std::string host;               // that needs longest
  std::string text;
};

RingEnd ring_end(const RingLoad& load, const std::vector<HostView>& hosts);
nlohmann::json to_json(const RingEnd& end);

// "40 s", "12 min", "5 h 10 min", "3 d 4 h".
std::string time_words(double seconds);

}  // namespace orbweaver
