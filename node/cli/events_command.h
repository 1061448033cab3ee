// `orbweaver events`: what has happened at the peers of a ring. Thread rule: main thread.
#pragma once

#include <CLI/CLI.hpp>

namespace orbweaver {

void add_events_command(CLI::App& app, int& code);

}  // namespace orbweaver
