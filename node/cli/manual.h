// The manual page and the completion of shells, made from the commands themselves, so that they say what --help says.
// `cmake --install` puts both where a system looks for them. Pure. Thread rule: free functions.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace orbweaver {

// In the man macros of roff, section 1. Flags of settings come once, under SETTINGS.
std::string manual_page(const CLI::App& app, const std::string& version);

// A script for bash 4 or later that needs no other package: commands, flags, the values of flags that have a few, and
// files or directories.
std::string bash_completion(const CLI::App& app);

// `orbweaver completion bash`, and `orbweaver manual`, which --help does not list. `app` outlives the parse.
void add_manual_commands(CLI::App& app, int& code);

}  // namespace orbweaver
