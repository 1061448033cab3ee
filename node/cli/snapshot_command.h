// `orbweaver snapshot` and `orbweaver restore`: a copy of a running ring's state, and a ring made from one
// (docs/how-to/snapshot.md). Thread rule: main thread.
#pragma once

#include <CLI/CLI.hpp>

namespace orbweaver {

void add_snapshot_commands(CLI::App& app, int& code);

}  // namespace orbweaver
