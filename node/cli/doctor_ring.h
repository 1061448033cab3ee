// What `orbweaver doctor` sees in a ring that runs: its peers, their clocks and versions, its settings. Thread rule:
// main thread.
#pragma once

#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "node/cli/doctor_findings.h"
#include "node/settings/settings.h"

namespace orbweaver {

// `status`: the ring's answer, which came at `now`.
void look_at_ring(const nlohmann::json& status, Time now, Findings& findings);
// Settings that are allowed, and rarely meant.
void look_at_settings(const Settings& settings, std::size_t peers, Findings& findings);

// The settings of a peer from its answer to the question "settings", and the names of those that it hides, since they
// may hold a password.
struct SettingsSeen {
  Settings values;
  std::set<std::string> hidden{};
};
SettingsSeen settings_in(const nlohmann::json& answer);

}  // namespace orbweaver
