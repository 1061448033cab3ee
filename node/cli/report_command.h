// `orbweaver report` and `orbweaver retry`: which URLs failed, were excluded or wait, and why; and ask for them again.
// From a running ring or a stopped directory, one URL at a time. Thread rule: main thread.
#pragma once

#include <CLI/CLI.hpp>

namespace orbweaver {

void add_report_commands(CLI::App& app, int& code);

}  // namespace orbweaver
