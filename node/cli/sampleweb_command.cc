#include "node/cli/sampleweb_command.h"

#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

#include "node/config/endpoint.h"
#include "node/run/open_files.h"
#include "node/run/say.h"
#include "node/sampleweb/sample_server.h"

namespace orbweaver {

namespace {

// Under another name first: a script that waits for the file never reads half of it.
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

int failed(const Error& error) {
  complain("sampleweb: %s", error.message.c_str());
  return static_cast<int>(error.code);
}

}  // namespace

int sampleweb_main(SampleWebOptions options) {
  const auto listen = parse_endpoint(options.listen);
  if (!listen) return failed(listen.error());

  raise_open_files(0);  // a connection each
  // Blocked here, so in every thread started from here; sigwait() below takes them.
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
  if (!server) return failed(server.error());

  const std::string line = (*server)->ready_json();
  say("%s\n", line.c_str());
  if (!all_said()) return failed({ErrorCode::io, "standard output could not be written"});
  if (!options.ready_file.empty()) {
    if (const auto written = write_ready_file(options.ready_file, line); !written) return failed(written.error());
  }
  int signal = 0;
  sigwait(&stops, &signal);
  (*server)->stop();
  return 0;
}

}  // namespace orbweaver
