// orbweaver seed, status, explain, traps, leave, stop: questions to a running peer, which answers for the whole ring.
#pragma once

#include <CLI/CLI.hpp>

namespace orbweaver {

// Each command sets `code` when it ran.
void add_ring_commands(CLI::App& app, int& code);

}  // namespace orbweaver
