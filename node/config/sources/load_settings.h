// Settings from their sources: a TOML file, the environment (ORBWEAVER_<NAME>), flags. Thread rule: free function;
// reads files and the environment.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "node/base.h"
#include "node/config/settings_table.h"

namespace orbweaver {

// Reads defaults, then `toml_path` (empty: none), then the environment, then `flags` (name -> text, in order; lists
// append). At the end the settings that `network` presets take its values, unless they were given themselves.
Result<LoadedSettings> load_settings(const std::string& toml_path,
                                     const std::vector<std::pair<std::string, std::string>>& flags);

}  // namespace orbweaver
