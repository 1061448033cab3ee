// `orbweaver doctor`: what is wrong with a machine, a ring or one page, and what to do. Thread rule: main thread.
#pragma once

#include <CLI/CLI.hpp>

#include "node/cli/ask.h"
#include "node/cli/doctor_findings.h"

namespace orbweaver {

// The machine, the directories and the ring.
void look_at_all(const PeerTarget& target, Findings& findings);
void add_doctor_command(CLI::App& app, int& code);

}  // namespace orbweaver
