// `orbweaver lab …`: the literature's experiments, each a subcommand (docs/inside/literature.md). Thread rule: main
// thread.
#pragma once

#include <CLI/CLI.hpp>

#include "node/lab/report.h"

namespace orbweaver {

void add_lab_commands(CLI::App& app, int& code);

// --json, --markdown and --plot: how an experiment gives out what it found.
void add_report_flags(CLI::App& command, ReportOutput& output);

// Gives the report out, or tells the error on standard error; the exit code.
int finish_experiment(const Result<Report>& report, const ReportOutput& output);

}  // namespace orbweaver
