// orbweaver seed, status, explain, traps, leave, stop: questions to a running peer, answered for the ring.
#pragma once

#include <CLI/CLI.hpp>

namespace orbweaver {

// Each sets `code` when its command ran.
void add_ring_commands(CLI::App& app, int& code);

}  // namespace orbweaver
