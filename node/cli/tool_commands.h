// orbweaver links, url, robots: the crawler's own link extractor, URL canonicaliser and robots matcher, for people and
// scripts. Also index, settings, metrics, ring-key.
#pragma once

#include <CLI/CLI.hpp>

namespace orbweaver {

// Each command sets `code` when it ran.
void add_tool_commands(CLI::App& app, int& code);

}  // namespace orbweaver
