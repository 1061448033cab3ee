// `orbweaver lab order` on the command line. Thread rule: main thread.
#pragma once

#include <CLI/CLI.hpp>

namespace orbweaver {

void add_lab_order(CLI::App& lab, int& code);

}  // namespace orbweaver
