// `orbweaver lab partition`. Thread rule: main thread.
#pragma once

#include <CLI/CLI.hpp>

namespace orbweaver {

void add_lab_partition(CLI::App& lab, int& code);

}  // namespace orbweaver
