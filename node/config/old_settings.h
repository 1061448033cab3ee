// The settings of the previous release, with their present names. For one release the old names and values are accepted
// wherever a person gives a setting (file, environment, flag), with a warning that shows the new one. Then this file is
// removed. Directories and peers have no old names: those of the previous release have another store format and
// protocol version.
// Thread rule: free functions; the tables never change. Cost: a walk over a few dozen names.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "node/base.h"

namespace orbweaver {

struct OldName {
  std::string_view was;
  std::string_view name;
};
struct OldValue {
  std::string_view name;  // of the setting, as it is now
  std::string_view was;
  std::string_view value;
};
const std::vector<OldName>& old_names();
const std::vector<OldValue>& old_values();
// The release that no longer accepts them: "0.2.0".
inline constexpr std::string_view old_settings_end = "0.2.0";

// The present name; a name that is not an old one is returned unchanged.
std::string_view name_of_now(std::string_view name);
// The present value; `name`: the present one. Any other value is returned unchanged.
std::string_view value_of_now(std::string_view name, std::string_view value);
// A warning for a person who gave `value` to `name`, as both were written; "": both are present ones.
std::string old_setting_warning(std::string_view name, std::string_view value);

}  // namespace orbweaver
