// `orbweaver dashboard`: where the page of a running ring is. Thread rule: main thread.
#pragma once

#include <CLI/CLI.hpp>

namespace orbweaver {

void add_dashboard_command(CLI::App& app, int& code);

}  // namespace orbweaver
