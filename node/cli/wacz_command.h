// `orbweaver export wacz`: a crawl's archives as packages that ReplayWeb.page opens. Thread rule: main thread.
#pragma once

#include <CLI/CLI.hpp>

namespace orbweaver {

void add_wacz_command(CLI::App& app, int& code);

}  // namespace orbweaver
