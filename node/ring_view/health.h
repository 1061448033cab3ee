// Whether a ring is well, from its answer to "status". Pure. Thread rule: a value.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace orbweaver {

// "peer 01234567 at HOST:PORT", of a peer's or member's answer.
std::string peer_words(const nlohmann::json& peer);

struct Health {
  std::vector<std::string> broken;    // what does not pass by itself, or may lose data
  std::vector<std::string> settling;  // what the ring is about to have done
  std::size_t peers = 0;

  std::string_view word() const { return !broken.empty() ? "unhealthy" : settling.empty() ? "healthy" : "settling"; }
};

// A ring is healthy when every peer answers and may fetch, every partition is held and has its copies, and every URL is
// accounted for.
Health health_of(const nlohmann::json& status);
// {"healthy": bool, "state": word, "peers": n, "problems": [{"level": "broken" or "settling", "what": words}]}.
nlohmann::json to_json(const Health& health);

}  // namespace orbweaver
