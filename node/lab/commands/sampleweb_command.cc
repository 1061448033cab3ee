#include "node/lab/commands/sampleweb_command.h"

#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "node/sampleweb/sample_server.h"
#include "node/settings/endpoint.h"
#include "node/settings/settings.h"
#include "node/settings/units.h"
#include "node/system/descriptor_limit.h"
#include "node/terminal/command_line.h"
#include "node/terminal/say.h"

namespace orbweaver {

namespace {

struct SampleWebOptions {
  std::uint64_t seed = 1;
  unsigned hosts = 20;    // 0: only the trees
  unsigned pages = 1000;  // of all hosts together
  std::string listen = "127.0.0.1:0";
  std::vector<std::string> trees;        // "HOST=DIRECTORY"
  std::string ready_file;                // the ready line is written there too; empty: to no file
  bool calm = false;                     // pages only: no errors, slow hosts, traps, redirects
  bool open_trap = false;                // the endless calendar is linked openly
  bool forbidden_trap = false;           // robots.txt disallows it
  unsigned topics = 0;                   // what pages are about
  unsigned failing = 0;                  // how many pages in a thousand answer 500 to the first request
  std::chrono::milliseconds latency{0};  // added to each answer
};

// Writes to another name first: a script that waits for the file never reads half of it.
Result<void> write_ready_file(const std::string& path, const std::string& line) {
  const std::string unfinished = path + ".tmp";
  std::ofstream out(unfinished);
  out << line << '\n';
  out.close();
  std::error_code error;
  if (out) std::filesystem::rename(unfinished, path, error);
  if (!out || error) return fail(ErrorCode::io, "cannot write the ready file " + path);
  return {};
}

int sampleweb_failed(const Error& error) {
  complain("sampleweb: %s", error.message.c_str());
  return static_cast<int>(error.code);
}

int sampleweb_main(const SampleWebOptions& options) {
  const auto listen = parse_endpoint(options.listen);
  if (!listen) return sampleweb_failed(listen.error());

  raise_open_files(0);  // one connection each
  // Blocked here, and so in every thread started from here; sigwait() below receives them.
  sigset_t stops;
  sigemptyset(&stops);
  sigaddset(&stops, SIGTERM);
  sigaddset(&stops, SIGINT);
  pthread_sigmask(SIG_BLOCK, &stops, nullptr);

  sample::SampleServerOptions server_options;
  server_options.shape.seed = options.seed;
  server_options.shape.hosts = options.hosts;
  server_options.shape.pages = options.pages;
  server_options.shape.calm = options.calm;
  server_options.shape.open_trap = options.open_trap;
  server_options.shape.forbidden_trap = options.forbidden_trap;
  server_options.shape.topics = options.topics;
  server_options.trees = options.trees;
  server_options.listen_address = listen->host;
  server_options.listen_port = listen->port;
  server_options.failing = options.failing;
  server_options.latency = options.latency;
  server_options.on_quit = [] { ::kill(::getpid(), SIGTERM); };
  const auto server = sample::SampleServer::start(server_options);
  if (!server) return sampleweb_failed(server.error());

  const std::string line = (*server)->ready_json();
  say("%s\n", line.c_str());
  if (!all_said()) return sampleweb_failed({ErrorCode::io, "standard output could not be written"});
  if (!options.ready_file.empty()) {
    if (const auto written = write_ready_file(options.ready_file, line); !written)
      return sampleweb_failed(written.error());
  }
  int signal = 0;
  sigwait(&stops, &signal);
  (*server)->stop();
  return 0;
}

}  // namespace

void add_sampleweb(CLI::App& app, int& code) {
  const auto options = std::make_shared<SampleWebOptions>();
  const auto latency = std::make_shared<std::string>("0s");
  CLI::App* command = app.add_subcommand("sampleweb", "serves a web made from a seed, for trying and testing crawlers");
  command->add_option("--seed", options->seed, "the same seed gives the same web")->capture_default_str();
  command->add_option("--hosts", options->hosts, "how many hosts; 0: only the trees")->capture_default_str();
  command->add_option("--pages", options->pages, "how many pages, of all hosts together")->capture_default_str();
  command->add_option("--listen", options->listen, "where to serve; port 0: any free one")->capture_default_str();
  command->add_option("--tree", options->trees, "a directory tree to serve as a host")->type_name("HOST=DIR");
  command->add_option("--ready-file", options->ready_file, "the line that tells how to reach it is written there too")
      ->type_name("FILE");
  command->add_flag("--calm", options->calm, "pages only: no errors, redirects, slow hosts, traps");
  command->add_flag("--open-trap", options->open_trap, "links lead into the endless calendar");
  command->add_flag("--forbidden-trap", options->forbidden_trap,
                    "robots.txt keeps crawlers out of the endless calendar");
  command
      ->add_option("--topics", options->topics, "number of topics that pages are about; pages link within their topic")
      ->check(CLI::Range(0u, 1000u))
      ->capture_default_str();
  command->add_option("--failing", options->failing, "pages in a thousand that answer 500 to the first request")
      ->check(CLI::Range(0u, 1000u))
      ->capture_default_str();
  command->add_option("--latency", *latency, "added to each answer")->type_name("DURATION")->capture_default_str();
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

}  // namespace orbweaver
