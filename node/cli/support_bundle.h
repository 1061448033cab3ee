// `orbweaver support-bundle`: what a helper wants to know of a ring, in one file, without secrets. Thread rule: main
// thread.
#pragma once

#include <CLI/CLI.hpp>

namespace orbweaver {

void add_support_bundle_command(CLI::App& app, int& code);

}  // namespace orbweaver
