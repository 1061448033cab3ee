// The settings of the release before this one, under the names that they have now. For one release the old names and
// values are taken wherever a person gives a setting (file, environment, flag), with a warning that names the new one.
// Then this file goes. Directories and peers have none: those of the release before have another store format and
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
// The release that takes them no longer: "0.2.0".
inline constexpr std::string_view old_settings_end = "0.2.0";

// The name of now; a name that is not an old one is answered as it is.
std::string_view name_of_now(std::string_view name);
// The value of now; `name`: of now. Any other value is answered as it is.
std::string_view value_of_now(std::string_view name, std::string_view value);
// What to tell a person who gave `value` to `name`, as both were written; "": both are of now.
std::string old_setting_warning(std::string_view name, std::string_view value);

}  // namespace orbweaver
