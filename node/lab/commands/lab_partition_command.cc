#include "node/lab/commands/lab_partition_command.h"

#include <memory>

#include "node/lab/commands/lab_commands.h"
#include "node/lab/partition_lab.h"

namespace orbweaver {

void add_lab_partition(CLI::App& lab, int& code) {
  auto options = std::make_shared<PartitionLabOptions>();
  auto output = std::make_shared<ReportOutput>();
  CLI::App* command = lab.add_subcommand(
      "partition",
      "hosts, domains or URLs given to peers: traffic, balance, politeness, what moves at a join or leave");
  command->add_option("--trace", options->traces, "link traces of a crawl with --record-links: files or directories")
      ->required()
      ->type_name("FILE");
  command->add_option("--peers", options->peers, "numbers of peers, 2 to 1024")->delimiter(',')->capture_default_str();
  command->add_option("--repeats", options->repeats, "sets of peers that the comparison of methods is the mean of")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  command->add_option("--links", options->limits.max_links, "read this many links of each peer; 0: all")
      ->capture_default_str();
  add_report_flags(*command, *output);
  command->callback([options, output, &code] { code = finish_experiment(run_partition_lab(*options), *output); });
}

}  // namespace orbweaver
