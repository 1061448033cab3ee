#include "node/lab/commands/lab_commands.h"

#include <unistd.h>

#include <cstdio>
#include <filesystem>

#include "node/lab/commands/lab_cache_command.h"
#include "node/lab/commands/lab_dedup_command.h"
#include "node/lab/commands/lab_order_command.h"
#include "node/lab/commands/lab_partition_command.h"
#include "node/lab/commands/lab_revisit_command.h"
#include "node/lab/commands/lab_scaling_command.h"
#include "node/terminal/say.h"

namespace orbweaver {

void add_report_flags(CLI::App& command, ReportOutput& output) {
  auto* as_json = command.add_flag("--json", output.as_json, "what was found as JSON");
  command.add_flag("--markdown", output.as_markdown, "the tables in Markdown")->excludes(as_json);
  // Reported before anything that may take long.
  const auto writable = [](const std::string& file) {
    const std::string directory = std::filesystem::path(file).parent_path().string();
    return ::access(directory.empty() ? "." : directory.c_str(), W_OK) == 0 ? std::string()
                                                                            : "cannot write into " + directory;
  };
  command.add_option("--plot", output.plot_file, "draw it, as SVG")->type_name("FILE")->check(writable);
}

int finish_experiment(const Result<Report>& report, const ReportOutput& output) {
  const Result<void> given = report ? give_out(*report, output) : Result<void>(tl::make_unexpected(report.error()));
  if (given) return 0;
  complain("%s", given.error().message.c_str());
  return static_cast<int>(given.error().code);
}

void add_lab_commands(CLI::App& app, int& code) {
  CLI::App* lab = app.add_subcommand("lab", "runs the literature's experiments: docs/inside/literature.md");
  lab->require_subcommand(1);
  add_lab_cache(*lab, code);
  add_lab_partition(*lab, code);
  add_lab_order(*lab, code);
  add_lab_dedup(*lab, code);
  add_lab_scaling(*lab, code);
  add_lab_revisit(*lab, code);
}

}  // namespace orbweaver
