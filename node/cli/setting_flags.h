// Every setting as a flag of a command, from the table of settings: --max-pages for max_pages.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <utility>
#include <vector>

#include "node/config/settings_table.h"
#include "node/settings/settings.h"

namespace orbweaver {

// Flags as given: setting name and text, in order. `config`: --config FILE. Unless `quiet`, load() reports on standard
// error which settings no longer exist and were ignored.
struct SettingFlags {
  std::string config;
  std::vector<std::pair<std::string, std::string>> given;
  bool quiet = false;  // the caller has already reported them
  Result<LoadedSettings> load() const;
};

// Adds --config and all settings; `flags` must outlive the parse. Names in `except` are left out.
void add_setting_flags(CLI::App& command, SettingFlags& flags, const std::vector<std::string>& except = {});

}  // namespace orbweaver
