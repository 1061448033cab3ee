// `orbweaver lab revisit` on the command line. Thread rule: main thread.
#pragma once

#include <CLI/CLI.hpp>

namespace orbweaver {

void add_lab_revisit(CLI::App& lab, int& code);

}  // namespace orbweaver
