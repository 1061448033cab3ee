// The one binary. Reads the command line and runs a command; the only place that sees everything.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <new>
#include <sstream>

#include "node/cli/contact_check.h"
#include "node/cli/corpus_command.h"
#include "node/cli/crawl_command.h"
#include "node/cli/export_command.h"
#include "node/cli/graph_command.h"
#include "node/cli/handed_settings.h"
#include "node/cli/lab_commands.h"
#include "node/cli/manual.h"
#include "node/cli/ring_commands.h"
#include "node/cli/sampleweb_command.h"
#include "node/cli/seed_file.h"
#include "node/cli/setting_flags.h"
#include "node/cli/tool_commands.h"
#include "node/run/peer_process.h"
#include "node/run/ring_key.h"
#include "node/run/run_as.h"
#include "node/run/say.h"

namespace orbweaver {

namespace {

int failed(const Error& error) {
  complain("%s", error.message.c_str());
  return static_cast<int>(error.code);
}

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
  int settings_fd = -1;  // of orbweaver crawl
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

void add_sampleweb(CLI::App& app, int& code) {
  const auto options = std::make_shared<SampleWebOptions>();
  const auto latency = std::make_shared<std::string>("0s");
  CLI::App* command =
      app.add_subcommand("sampleweb", "serves a web generated from a seed, for trying and testing crawlers");
  command->add_option("--seed", options->seed, "the same seed gives the same web")->capture_default_str();
  command->add_option("--hosts", options->hosts, "how many hosts; 0: only the trees")->capture_default_str();
  command->add_option("--pages", options->pages, "how many pages, of all hosts together")->capture_default_str();
  command->add_option("--listen", options->listen, "where to serve; port 0: any free one")->capture_default_str();
  command->add_option("--tree", options->trees, "a directory tree to serve as a host")->type_name("HOST=DIR");
  command->add_option("--ready-file", options->ready_file, "also write the line that says how to reach it to this file")
      ->type_name("FILE");
  command->add_flag("--calm", options->calm, "pages only: no errors, redirects, slow hosts, traps");
  command->add_flag("--open-trap", options->open_trap, "links lead into the endless calendar");
  command->add_flag("--forbidden-trap", options->forbidden_trap,
                    "robots.txt keeps crawlers out of the endless calendar");
  command
      ->add_option("--topics", options->topics, "number of topics that pages are about; pages link within their topic")
      ->check(CLI::Range(0u, 1000u))
      ->capture_default_str();
  command->add_option("--failing", options->failing, "how many pages in a thousand answer 500 to the first request")
      ->check(CLI::Range(0u, 1000u))
      ->capture_default_str();
  command->add_option("--latency", *latency, "delay added to each answer")
      ->type_name("DURATION")
      ->capture_default_str();
  command->callback([options, latency, &code] {
    const Result<Duration> parsed = parse_duration(*latency);
    if (!parsed) {
      code = failed(parsed.error());
      return;
    }
    options->latency = std::chrono::duration_cast<std::chrono::milliseconds>(*parsed);
    code = sampleweb_main(*options);
  });
}

}  // namespace

int run(int argc, char** argv) {
  CLI::App app("Orbweaver: a web crawler made of equal peers");
  app.set_version_flag("--version", std::string("orbweaver " ORBWEAVER_VERSION));
  app.require_subcommand(1);
  int code = 0;
  add_crawl(app, code);
  add_node(app, code);
  add_ring_commands(app, code);
  add_tool_commands(app, code);
  add_sampleweb(app, code);
  add_graph_commands(app, code);
  add_export_commands(app, code);
  add_corpus_command(app, code);
  add_lab_commands(app, code);
  add_manual_commands(app, code);
  app.failure_message([](const CLI::App*, const CLI::Error& error) {
    return std::string("orbweaver: ") + error.what() + "; see orbweaver --help\n";
  });
  // A copy: what other users see of the arguments is blotted out.
  std::vector<std::string> copies(argv, argv + argc);
  std::vector<char*> words;
  for (std::string& copy : copies) words.push_back(copy.data());
  hide_secrets(argc, argv);
  const std::string wanted = argc > 1 ? copies[1] : "";
  const auto is_wanted = [&](const CLI::App* command) { return command->get_name() == wanted; };
  if (!wanted.empty() && wanted[0] != '-' && app.get_subcommands(is_wanted).empty())
    return failed({ErrorCode::invalid_setting, "there is no command '" + wanted + "'; see orbweaver --help"});
  try {
    app.parse(argc, words.data());
  } catch (const CLI::ParseError& error) {
    std::ostringstream help;
    std::ostringstream fault;  // quotes arguments, which may be a stranger's URL
    const int shown = app.exit(error, help, fault);
    say_text(help.str());
    say_aside(fault.str());
    return shown == 0 ? 0 : static_cast<int>(ErrorCode::invalid_setting);
  } catch (const std::bad_alloc&) {
    return failed({ErrorCode::out_of_memory, "the system refuses this process more memory"});
  } catch (const std::filesystem::filesystem_error& error) {
    return failed({ErrorCode::io, error.what()});
  } catch (const std::exception& error) {
    return failed({ErrorCode::internal, std::string("a fault of Orbweaver's own: ") + error.what()});
  }
  return code;
}

}  // namespace orbweaver

int main(int argc, char** argv) {
  const int code = orbweaver::run(argc, argv);
  // Of every command: an answer that was lost is not an answer. One that failed has said why.
  if (orbweaver::all_said() || code != 0) return code;
  return orbweaver::failed({orbweaver::ErrorCode::io, "standard output could not be written"});
}
