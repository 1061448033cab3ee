// How the URLs of a ring ended, by reason, and whether hosts were left alone as promised: from its answer to "status".
// Pure. Thread rule: a value.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace orbweaver {

// Since each peer's process began.
struct OutcomeView {
  std::string state, reason;  // fetched, failed or excluded; reason: "none" for pages without one
  std::uint64_t urls = 0;
};

// Waits between two requests to one host (node/process/gap_watch.h), of all peers since their processes began.
struct GapsView {
  std::uint64_t gaps = 0, too_short = 0;
  double least_seconds = 0, promised_seconds = 0;  // of the shortest against its promise; 0: there was none
  std::string text() const;
};

std::vector<OutcomeView> outcomes_view(const nlohmann::json& status);  // most URLs first
GapsView gaps_view(const nlohmann::json& status);
nlohmann::json to_json(const std::vector<OutcomeView>& outcomes);
nlohmann::json to_json(const GapsView& gaps);

}  // namespace orbweaver
