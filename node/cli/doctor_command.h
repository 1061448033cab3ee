// `orbweaver doctor`: what is wrong with a machine, a ring or one page, and what to do. Thread rule: main thread.
#pragma once

#include <CLI/CLI.hpp>

namespace orbweaver {

void add_doctor_command(CLI::App& app, int& code);

}  // namespace orbweaver
