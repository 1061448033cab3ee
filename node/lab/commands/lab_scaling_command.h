// `orbweaver lab scaling`: the flags of node/lab/scaling.h. Thread rule: main thread.
#pragma once

#include <CLI/CLI.hpp>

namespace orbweaver {

void add_lab_scaling(CLI::App& lab, int& code);

}  // namespace orbweaver
