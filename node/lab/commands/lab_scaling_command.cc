#include "node/lab/commands/lab_scaling_command.h"

#include <memory>
#include <string>

#include "node/lab/commands/lab_commands.h"
#include "node/lab/scaling.h"
#include "node/settings/settings.h"
#include "node/settings/units.h"

namespace orbweaver {

namespace {

struct Flags {
  ScalingOptions options;
  std::uint32_t seconds = 20;
  std::string latency = "200ms";
  ReportOutput output;
};

Result<Report> run(Flags& flags) {
  const Result<Duration> latency = parse_duration(flags.latency);
  if (!latency) return tl::make_unexpected(latency.error());
  if (*latency < std::chrono::milliseconds{1} || *latency > std::chrono::seconds{10})
    return fail(ErrorCode::invalid_input, "--latency " + flags.latency + " is out of bounds: allowed is 1ms to 10s");
  flags.options.latency = std::chrono::duration_cast<std::chrono::milliseconds>(*latency);
  flags.options.period = std::chrono::seconds{flags.seconds};
  return run_scaling(flags.options);
}

}  // namespace

void add_lab_scaling(CLI::App& lab, int& code) {
  const auto flags = std::make_shared<Flags>();
  CLI::App* command = lab.add_subcommand(
      "scaling", "pages over fetches in flight, peers, hosts and time, on the sample web with slow hosts (section E)");
  command->add_option("--seconds", flags->seconds, "a period; the paper's is 30 minutes")
      ->check(CLI::Range(2u, 3600u))
      ->capture_default_str();
  command->add_option("--latency", flags->latency, "before each answer: what limits, instead of this machine")
      ->type_name("DURATION")
      ->capture_default_str();
  command->add_option("--fetches", flags->options.fetches, "fetches in flight at one peer, one crawl each")
      ->delimiter(',')
      ->check(CLI::Range(1u, 10'000u))
      ->capture_default_str();
  command->add_option("--seed", flags->options.seed, "of the sample web")->capture_default_str();
  command->add_option("--dir", flags->options.directory, "where the crawls' directories are made, and removed")
      ->type_name("DIR")
      ->check(CLI::ExistingDirectory);
  add_report_flags(*command, flags->output);
  command->callback([flags, &code] { code = finish_experiment(run(*flags), flags->output); });
}

}  // namespace orbweaver
