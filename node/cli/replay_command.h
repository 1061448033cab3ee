// `orbweaver replay`: a crawl's archives in a browser. Thread rule: main thread.
#pragma once

#include <CLI/CLI.hpp>

namespace orbweaver {

void add_replay_command(CLI::App& app, int& code);

}  // namespace orbweaver
