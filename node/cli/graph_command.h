// `orbweaver graph …`: computations on the graph of a crawl's links. Thread rule: main thread.
#pragma once

#include <CLI/CLI.hpp>

namespace orbweaver {

void add_graph_commands(CLI::App& app, int& code);

}  // namespace orbweaver
