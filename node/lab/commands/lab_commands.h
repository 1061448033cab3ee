// `orbweaver lab …`: the literature's experiments, each a subcommand (docs/inside/literature.md). Thread rule: main
// thread.
#pragma once

#include <CLI/CLI.hpp>

#include "node/lab/report.h"

namespace orbweaver {

void add_lab_commands(CLI::App& app, int& code);

// --json, --markdown and --plot: how an experiment prints its results.
void add_report_flags(CLI::App& command, ReportOutput& output);

// Prints the report, or the error on standard error; returns the exit code.
int finish_experiment(const Result<Report>& report, const ReportOutput& output);

}  // namespace orbweaver
