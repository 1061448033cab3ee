// `orbweaver sampleweb`: serves a web made from a seed, and directory trees as hosts, until it is stopped.
#pragma once

#include <CLI/CLI.hpp>

namespace orbweaver {

// Adds the command. Its callback sets `code`: it prints one JSON line when it is ready to serve
// ({"ready":true,"port":…,"seeds":[…],"control":…,"resolve":[…]}), then waits for SIGTERM, SIGINT or POST /quit.
void add_sampleweb(CLI::App& app, int& code);

}  // namespace orbweaver
