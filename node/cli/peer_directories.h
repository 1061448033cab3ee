// The peers' directories below a directory that a command names. Thread rule: main thread.
#pragma once

#include <string>
#include <vector>

#include "node/base.h"

namespace orbweaver {

// The directory itself, or its peer-1, peer-2, …: those that have a store, in order. Errors: unreachable when there is
// none.
Result<std::vector<std::string>> peer_directories(const std::string& directory);

}  // namespace orbweaver
