// `orbweaver lab dedup`: its flags, and the sources of its URLs. Thread rule: main thread.
#pragma once

#include <CLI/CLI.hpp>

namespace orbweaver {

void add_lab_dedup(CLI::App& lab, int& code);

}  // namespace orbweaver
