// Words of a peer's answers to people. Pure.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>

#include "node/base.h"
#include "ring/messages.h"

namespace orbweaver {

// The names of a status's "counts"; core_test compares them with what a peer shows.
std::span<const std::string_view> count_names();
// Why a peer asks for no page, in a status's "not_fetching_because".
inline constexpr std::string_view paused_by_operator =
    "an operator has paused the crawl; it goes on with: orbweaver resume";
std::string utc(Time time);  // "2026-11-22T02:10:35Z"
std::string_view member_state_name(const ring::Member& member);
// Adds the numbers of a peer's "counts" to the ring's, name by name; what is not a number is left out.
void add_counts(nlohmann::json& totals, const nlohmann::json& counts);

}  // namespace orbweaver
