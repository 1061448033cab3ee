// Running a command line: what the programs `orbweaver` and `orbweaver-lab` share. Each makes a CLI::App of its own
// commands. Thread rule: main thread.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "node/base.h"

namespace orbweaver {

// Prints the error on standard error; the exit code that belongs to it.
int failed(const Error& error);

// Parses `words` (the program's name first) and runs the command that they name; that command sets `code`. Returns the
// process's exit code. An unknown command, a usage error and an exception from a library are printed on standard error,
// with an exit code from docs/inside/architecture.md, "Exit codes".
int run_command_line(CLI::App& app, std::vector<std::string> words, const int& code);

// The exit code of the whole program: `code`, or `io` if that is 0 but standard output could not be written: a lost
// answer is a failure.
int code_at_exit(int code);

}  // namespace orbweaver
