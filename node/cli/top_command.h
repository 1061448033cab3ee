// `orbweaver top`: a running ring at a glance, on the whole terminal. Thread rule: main thread.
#pragma once

#include <CLI/CLI.hpp>

namespace orbweaver {

void add_top_command(CLI::App& app, int& code);

}  // namespace orbweaver
