// The settings of the release before this one, under the names that they have now. For one release the old names and
// values are taken wherever a setting is given (file, environment, flag), with a warning that names the new one; from
// the rows of a data directory and from other peers they are taken as they are. Peers send each other ring-wide
// settings under the old names meanwhile, so that a ring is upgraded peer by peer. Then this file goes.
// Thread rule: free functions; the tables never change. Cost: a walk over a few dozen names.
#pragma once

#include <string>
#include <string_view>
#include <utility>
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

// A list of (name, value) as the release before wrote it, under the names and values of now; and the other way round.
// Both sort by name.
using NamedValues = std::vector<std::pair<std::string, std::string>>;
NamedValues of_now(NamedValues values);
NamedValues of_the_release_before(NamedValues values);

}  // namespace orbweaver
