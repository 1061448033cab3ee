// The manual page and the shell completion, generated from the commands, so that they agree with --help. `cmake
// --install` puts both into the system's directories for them. Pure. Thread rule: free functions.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace orbweaver {

// Written with roff's man macros, section 1. Flags of settings are listed once, under SETTINGS.
std::string manual_page(const CLI::App& app, const std::string& version);

// A script for bash 4 or later that needs no other package. It completes commands, flags, values of flags that have
// only a few, and files or directories.
std::string bash_completion(const CLI::App& app);

// `orbweaver completion bash`, and `orbweaver manual`, which --help does not list. `app` outlives the parse.
void add_manual_commands(CLI::App& app, int& code);

}  // namespace orbweaver
