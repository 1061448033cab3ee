#include "node/lab/commands/lab_cache_command.h"

#include <memory>

#include "node/lab/cache_lab.h"
#include "node/lab/commands/lab_commands.h"

namespace orbweaver {

void add_lab_cache(CLI::App& lab, int& code) {
  auto options = std::make_shared<CacheLabOptions>();
  auto output = std::make_shared<ReportOutput>();
  CLI::App* command =
      lab.add_subcommand("cache", "recorded links through six cache policies at all sizes: how often does each miss?");
  command->add_option("--trace", options->traces, "link traces of a crawl with --record-links: files or directories")
      ->required()
      ->type_name("FILE");
  command
      ->add_option("--compare", options->compared,
                   "the traces of another crawl to compare, for example in another order")
      ->type_name("FILE");
  command->add_option("--sizes", options->sizes, "entries of the caches; without it 2^0 to 2^25, as far as URLs go")
      ->delimiter(',');
  command->add_option("--workers", options->workers, "this many caches for the fetch workers of a peer instead of one")
      ->delimiter(',')
      ->capture_default_str();
  command->add_option("--links", options->limits.max_links, "read this many links of each peer; 0: all")
      ->capture_default_str();
  command->add_option("--seed", options->seed, "of the random policy")->capture_default_str();
  command->add_flag("--in-scope", options->limits.in_scope_only,
                    "only links in scope, as the crawl's own cache sees them");
  add_report_flags(*command, *output);
  command->callback([options, output, &code] { code = finish_experiment(run_cache_lab(*options), *output); });
}

}  // namespace orbweaver
