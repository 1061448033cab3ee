// Questions about a stopped crawl, answered from its peers' directories, which are only read. Thread rule: main
// thread.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "node/base.h"
#include "node/cli/ask.h"

namespace orbweaver {

// The answer that the ring would give to `verb` (status, explain, traps, settings or orders), with "read_from": the
// directories that were read. Errors: unreachable when no peer has run below `directory`, and errors of the stores.
Result<nlohmann::json> ask_stopped(const std::string& directory, const std::string& verb, const nlohmann::json& body);

// Asks the running peers. If none runs in `target.directory`, calls ask_stopped() and prints a line about that on
// standard error.
Result<nlohmann::json> ask_or_read(const PeerTarget& target, const std::string& verb, const nlohmann::json& body);

}  // namespace orbweaver
