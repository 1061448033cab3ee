// Questions about a crawl that does not run, answered from its peers' directories, which are read and not changed.
// Thread rule: main thread.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "node/base.h"
#include "node/cli/ask.h"

namespace orbweaver {

// The answer that the ring would give to `verb` (status, explain or traps), with "read_from", the directories that were
// read. Errors: unreachable when no peer has run below `directory`, and what the stores say.
Result<nlohmann::json> ask_stopped(const std::string& directory, const std::string& verb, const nlohmann::json& body);

// Asks the peers that run; where none runs in `target.directory`, ask_stopped(), with a line on standard error that
// says so.
Result<nlohmann::json> ask_or_read(const PeerTarget& target, const std::string& verb, const nlohmann::json& body);

}  // namespace orbweaver
