// The program `orbweaver`. Reads the command line and runs a command. Only this file sees everything except the
// laboratory and the sample web, which are a separate program (node/lab/commands/main.cc).
#include <CLI/CLI.hpp>
#include <algorithm>
#include <iterator>
#include <memory>
#include <string_view>
#include <utility>

#include "node/cli/contact_check.h"
#include "node/cli/corpus_command.h"
#include "node/cli/crawl_command.h"
#include "node/cli/dashboard_command.h"
#include "node/cli/doctor_command.h"
#include "node/cli/events_command.h"
#include "node/cli/export_command.h"
#include "node/cli/graph_command.h"
#include "node/cli/handed_settings.h"
#include "node/cli/health_command.h"
#include "node/cli/index_command.h"
#include "node/cli/manual.h"
#include "node/cli/order_commands.h"
#include "node/cli/replay_command.h"
#include "node/cli/report_command.h"
#include "node/cli/ring_commands.h"
#include "node/cli/setting_flags.h"
#include "node/cli/snapshot_command.h"
#include "node/cli/support_bundle.h"
#include "node/cli/tool_commands.h"
#include "node/cli/top_command.h"
#include "node/config/settings_table.h"
#include "node/process/peer_process.h"
#include "node/process/ring_key.h"
#include "node/system/program_beside.h"
#include "node/system/run_as.h"
#include "node/terminal/command_line.h"
#include "node/tools/seed_file.h"

// Read by jemalloc before main(). One arena: with more, a thread that begins when memory is short crashes. Freed pages
// return to the system after a second, so that the sum of the shares of max_memory is close to what the system counts.
// MALLOC_CONF in the environment overrides it.
extern "C" {
extern const char* malloc_conf;
const char* malloc_conf = "narenas:1,dirty_decay_ms:1000,muzzy_decay_ms:0";
}

namespace orbweaver {

namespace {

void add_crawl(CLI::App& app, int& code) {
  const auto options = std::make_shared<CrawlOptions>();
  CLI::App* command = app.add_subcommand("crawl", "starts a ring of peers on this machine and crawls to the end");
  command->add_option("urls", options->urls, "URLs to start from")->type_name("URL");
  command->add_option("--seeds", options->seeds_file, "a file of URLs, one per line; # begins a comment")
      ->type_name("FILE");
  command->add_option("--peers", options->peers, "how many peers")->check(CLI::Range(1u, 256u))->capture_default_str();
  command
      ->add_option("--out", options->out, "the crawl's directory; with a directory that has one, that crawl continues")
      ->type_name("DIR")
      ->capture_default_str();
  command
      ->add_option("--recrawl", options->recrawl,
                   "for an existing crawl: visit again what ended at least this long ago")
      ->type_name("DURATION");
  command->add_flag("--json", options->as_json, "the summary as JSON");
  command->add_flag("--quiet", options->quiet, "no progress line");
  command->add_option("--user", options->user, "started as root: become this user first")->type_name("NAME");
  add_query_flags(*command, options->queries);
  add_setting_flags(*command, options->flags,
                    {"listen", "advertise", "join", "status_listen", "stop_when_done", "ring_key_file"});
  command->callback([options, &code] { code = run_crawl(*options); });
}

struct NodeOptions {
  std::string directory;
  std::vector<std::string> urls;
  std::string seeds_file;
  std::size_t wait_for_peers = 1;
  bool log_to_stderr = false;
  bool quiet = false;
  std::int64_t recrawl_before = 0;
  int settings_fd = -1;  // set by orbweaver crawl
  std::string user;
  SettingFlags flags;
};

int run_node(const NodeOptions& options) {
  PeerOptions peer;
  peer.directory = options.directory;
  peer.seeds = options.urls;
  if (!options.seeds_file.empty()) {
    const Result<std::vector<std::string>> more = read_seed_file(options.seeds_file);
    if (!more) return failed(more.error());
    peer.seeds.insert(peer.seeds.end(), more->begin(), more->end());
  }
  if (const Result<void> checked = check_seeds(peer.seeds); !checked) return failed(checked.error());
  SettingFlags flags = options.flags;
  const bool handed = options.settings_fd >= 0;
  if (handed) {
    const Result<GivenSettings> given = take_over(options.settings_fd);
    if (!given) return failed(given.error());
    flags.given.insert(flags.given.begin(), given->begin(), given->end());
    flags.quiet = true;
  }
  Result<LoadedSettings> settings = flags.load();
  if (!settings) return failed(settings.error());
  if (const Result<void> checked = check_contact(settings->values, peer.seeds); !checked)
    return failed(checked.error());
  Result<std::string> secret = read_ring_key(settings->values.ring_key_file);
  if (!secret) return failed(secret.error());
  peer.ring_secret = std::move(*secret);
  if (!handed)
    if (const Result<void> ran = run_as(options.user, options.directory, settings->values.data_access); !ran)
      return failed(ran.error());
  peer.settings = std::move(*settings);
  peer.wait_for_peers = options.wait_for_peers;
  if (options.recrawl_before > 0) peer.recrawl = Time(Duration(options.recrawl_before));
  peer.log_to_stderr = options.log_to_stderr;
  peer.announce = !options.quiet;
  return run_peer(std::move(peer));
}

void add_node(CLI::App& app, int& code) {
  const auto options = std::make_shared<NodeOptions>();
  CLI::App* command = app.add_subcommand("node", "one peer of a ring, on this machine");
  command->add_option("urls", options->urls, "URLs to start from, if this peer is to bring them")->type_name("URL");
  command->add_option("--dir", options->directory, "the peer's data directory")->required()->type_name("DIR");
  command->add_option("--seeds", options->seeds_file, "a file of URLs, one per line; # begins a comment")
      ->type_name("FILE");
  command->add_option("--wait-for-peers", options->wait_for_peers, "the URLs wait until the ring has this many peers")
      ->capture_default_str();
  command
      ->add_option("--recrawl-before", options->recrawl_before,
                   "visit again what ended before this time (us since 1970)")
      ->type_name("TIME");
  command->add_option("--user", options->user, "started as root: become this user first")->type_name("NAME");
  command->add_option("--settings-fd", options->settings_fd, "settings passed on by orbweaver crawl")->group("");
  command->add_flag("--log-to-stderr", options->log_to_stderr, "write the log to standard error too");
  command->add_flag("--quiet", options->quiet, "nothing on standard error but errors");
  add_setting_flags(*command, options->flags);
  command->callback([options, &code] { code = run_node(*options); });
}

// Commands of the second program, for `orbweaver --help`; main() starts that program before anything is parsed.
constexpr std::pair<const char*, const char*> lab_program_commands[] = {
    {"sampleweb", "serves a web made from a seed, for trying and testing crawlers"},
    {"lab", "the literature's experiments, run here: docs/inside/literature.md"}};

bool is_of_lab_program(std::string_view command) {
  return std::any_of(std::begin(lab_program_commands), std::end(lab_program_commands),
                     [&](const auto& known) { return known.first == command; });
}

}  // namespace

int run(int argc, char** argv) {
  if (argc > 1 && is_of_lab_program(argv[1])) return failed(become(lab_program, argv));
  CLI::App app("Orbweaver: a web crawler made of equal peers");
  app.set_version_flag("--version", std::string("orbweaver " ORBWEAVER_VERSION));
  app.require_subcommand(1);
  int code = 0;
  add_crawl(app, code);
  add_node(app, code);
  add_ring_commands(app, code);
  add_order_commands(app, code);
  add_health_command(app, code);
  add_top_command(app, code);
  add_dashboard_command(app, code);
  add_events_command(app, code);
  add_support_bundle_command(app, code);
  add_doctor_command(app, code);
  add_report_commands(app, code);
  add_snapshot_commands(app, code);
  add_index_command(app, code);
  add_replay_command(app, code);
  add_tool_commands(app, code);
  add_graph_commands(app, code);
  add_export_commands(app, code);
  add_corpus_command(app, code);
  for (const auto& [name, sentence] : lab_program_commands) app.add_subcommand(name, sentence);
  add_manual_commands(app, code);
  // A copy, because secrets in the arguments are overwritten for other users.
  const std::vector<std::string> copies(argv, argv + argc);
  hide_secrets(argc, argv);
  return run_command_line(app, copies, code);
}

}  // namespace orbweaver

int main(int argc, char** argv) { return orbweaver::code_at_exit(orbweaver::run(argc, argv)); }
