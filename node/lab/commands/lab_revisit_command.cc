#include "node/lab/commands/lab_revisit_command.h"

#include <memory>

#include "node/lab/commands/lab_commands.h"
#include "node/lab/revisit.h"

namespace orbweaver {

void add_lab_revisit(CLI::App& lab, int& code) {
  struct Options {
    RevisitOptions revisit;
    ReportOutput output;
  };
  const auto options = std::make_shared<Options>();
  RevisitOptions& revisit = options->revisit;
  CLI::App* command = lab.add_subcommand("revisit", "policies of visiting again: how fresh each keeps a crawl");
  command->add_option("--history", revisit.history, "recorded changes: lines of URL SECONDS; else they are made up")
      ->check(CLI::ExistingFile)
      ->type_name("FILE");
  command->add_option("--seed", revisit.seed, "of what is made up, hints too")->capture_default_str();
  command->add_option("--pages", revisit.pages, "that are made up")
      ->check(CLI::Range(1u, 100'000u))
      ->capture_default_str();
  command->add_option("--slowest", revisit.slowest, "changes a day of the slowest of them")
      ->check(CLI::Range(1e-4, 1e3))
      ->capture_default_str();
  command->add_option("--fastest", revisit.fastest, "and of the fastest")
      ->check(CLI::Range(1e-4, 1e3))
      ->capture_default_str();
  command->add_option("--days", revisit.days, "that they are watched")
      ->check(CLI::Range(1.0, 10'000.0))
      ->capture_default_str();
  command->add_option("--visits", revisit.visits_a_day, "visits a day for each page, on average")
      ->check(CLI::Range(1e-4, 20.0))
      ->capture_default_str();
  command->add_option("--told", revisit.told, "share of the changes that a hint tells, such as a sitemap's date")
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str();
  command->add_option("--trust", revisit.trust, "share of the hints that are true")
      ->check(CLI::Range(0.01, 1.0))
      ->capture_default_str();
  add_report_flags(*command, options->output);
  command->callback([options, &code] { code = finish_experiment(lab_revisit(options->revisit), options->output); });
}

}  // namespace orbweaver
