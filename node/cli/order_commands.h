// orbweaver pause, resume, block, unblock, delay, orders: what an operator tells the whole ring, running or stopped.
#pragma once

#include <CLI/CLI.hpp>

namespace orbweaver {

// Each command sets `code` when it ran.
void add_order_commands(CLI::App& app, int& code);

}  // namespace orbweaver
