// Settings on their way from `orbweaver crawl` to the peers that it starts: through a descriptor, for arguments are
// read by every user of the machine, and settings hold passwords (site_headers, proxy). Thread rule: none shared.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "node/base.h"

namespace orbweaver {

using GivenSettings = std::vector<std::pair<std::string, std::string>>;  // name and text, in order

// A descriptor of a file in memory that holds them and that a child inherits; the caller closes it.
Result<int> hand_over(const GivenSettings& settings);
// What is in such a descriptor, which is closed. invalid_input when it is not one.
Result<GivenSettings> take_over(int descriptor);

// Blots out of the arguments, as other users see them, what is given to settings that hold secrets.
void hide_secrets(int argc, char** argv);

}  // namespace orbweaver
