// The peers' directories below a directory given to a command. Thread rule: main thread.
#pragma once

#include <string>
#include <vector>

#include "node/base.h"

namespace orbweaver {

// The directory itself, then its peer-1, peer-2, … in order: where peers may have run. A missing directory is listed
// alone. Errors: io when it may not be read; the message names the user who may.
Result<std::vector<std::string>> possible_peer_directories(const std::string& directory);

// Those that contain a store. Errors: as above; invalid_input when there is no such directory; unreachable when no peer
// has run there.
Result<std::vector<std::string>> peer_directories(const std::string& directory);

}  // namespace orbweaver
