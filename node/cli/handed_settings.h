// Passes settings from `orbweaver crawl` to the peers that it starts. It uses a descriptor: every user of the machine
// can read arguments, and settings may contain passwords (site_headers, proxy). Thread rule: none shared.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "node/base.h"

namespace orbweaver {

using GivenSettings = std::vector<std::pair<std::string, std::string>>;  // name and text, in order

// A descriptor of a file in memory that contains the settings. A child inherits it; the caller closes it.
Result<int> hand_over(const GivenSettings& settings);
// Reads the settings from such a descriptor and closes it. invalid_input when it is not one.
Result<GivenSettings> take_over(int descriptor);

// In the arguments, which other users can see: overwrites the values of settings that contain secrets.
void hide_secrets(int argc, char** argv);

}  // namespace orbweaver
