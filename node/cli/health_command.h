// `orbweaver health`: whether a ring is well, in one word and an exit code. Thread rule: main thread.
#pragma once

#include <CLI/CLI.hpp>

namespace orbweaver {

// Exit code of a ring that is not healthy.
inline constexpr int not_healthy = 10;

void add_health_command(CLI::App& app, int& code);

}  // namespace orbweaver
