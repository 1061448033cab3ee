// `orbweaver index`: indexes of archives, and several of them made one. Thread rule: main thread.
#pragma once

#include <CLI/CLI.hpp>

namespace orbweaver {

void add_index_command(CLI::App& app, int& code);

}  // namespace orbweaver
