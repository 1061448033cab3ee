// The settings file, read with toml++ (used only here): a flat file whose keys are the names of settings.
// Durations and sizes are strings with units, lists are arrays of strings, yes or no is true or false, counts are whole
// numbers.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "node/base.h"

namespace orbweaver {

struct TomlEntry {
  std::string name;
  std::string text;   // as set_setting() expects it
  std::string where;  // "orbweaver.toml:12"
};

// Entries in the order of the file. Errors name file and line: not TOML, an unknown setting, a value of the wrong type.
// set_setting() checks a value's bounds.
Result<std::vector<TomlEntry>> read_toml_settings(const std::string& path);

// The same from text; `path` is only for messages.
Result<std::vector<TomlEntry>> parse_toml_settings(std::string_view text, const std::string& path);

}  // namespace orbweaver
