// `orbweaver lab cache`. Thread rule: main thread.
#pragma once

#include <CLI/CLI.hpp>

namespace orbweaver {

void add_lab_cache(CLI::App& lab, int& code);

}  // namespace orbweaver
