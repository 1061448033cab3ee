// orbweaver seed, status, explain, traps, leave, stop: questions to a running peer, which answers for the whole ring.
#pragma once

#include <CLI/CLI.hpp>

#include "node/cli/ask.h"

namespace orbweaver {

// The options that say which peer is asked.
void add_target_options(CLI::App& command, PeerTarget& target);

// Each command sets `code` when it ran.
void add_ring_commands(CLI::App& app, int& code);

}  // namespace orbweaver
