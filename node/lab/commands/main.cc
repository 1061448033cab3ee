// The second program, `orbweaver-lab`: the literature's experiments and the sample web. `orbweaver lab …` and
// `orbweaver sampleweb …` execute it (node/system/program_beside.h), so it accepts the same arguments.
#include <CLI/CLI.hpp>

#include "node/lab/commands/lab_commands.h"
#include "node/lab/commands/sampleweb_command.h"
#include "node/terminal/command_line.h"

namespace {

int run(int argc, char** argv) {
  CLI::App app("Orbweaver's laboratory: experiments on crawling, and a web made from a seed");
  app.set_version_flag("--version", std::string("orbweaver " ORBWEAVER_VERSION));
  app.require_subcommand(1);
  int code = 0;
  orbweaver::add_lab_commands(app, code);
  orbweaver::add_sampleweb(app, code);
  return orbweaver::run_command_line(app, std::vector<std::string>(argv, argv + argc), code);
}

}  // namespace

int main(int argc, char** argv) { return orbweaver::code_at_exit(run(argc, argv)); }
