#include "node/cli/replay_command.h"

#include <signal.h>

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "node/archive/wacz.h"
#include "node/cli/peer_archive.h"
#include "node/cli/peer_directories.h"
#include "node/http_server/http_server.h"
#include "node/replay/replay_site.h"
#include "node/settings/endpoint.h"
#include "node/system/clock.h"
#include "node/system/program_beside.h"
#include "node/system/scratch_directory.h"
#include "node/terminal/say.h"
#include "node/try.h"

namespace orbweaver {

namespace {

struct ReplayCommand {
  std::string directory = "orbweaver-crawl";
  std::string listen = "127.0.0.1:0";
  std::string viewer;
  std::string title;
  bool as_json = false;
};

struct Shown {
  std::uint64_t pages = 0;
  std::uint64_t captures = 0;
};

Result<Shown> add_peers(const ReplayCommand& options, const ScratchDirectory& scratch, Time now, ReplaySite& site) {
  const auto peers = peer_directories(options.directory);
  if (!peers) return tl::make_unexpected(peers.error());
  Shown shown;
  for (const std::string& peer : *peers) {
    const auto archived = peer_archive(peer);
    if (!archived) return tl::make_unexpected(archived.error());
    const archive::WaczOptions wacz{.title = options.title.empty() ? peer : options.title,
                                    .description = {},
                                    .seeds = archived->seeds,
                                    .key = nullptr,
                                    .created = now};
    const std::string name = package_name(*archived);
    archive::ByteView bytes;
    say_progress(peer + ": reading its archive");
    const auto viewed = archive::view_wacz(archived->files, scratch.path() + "/" + name, wacz, bytes);
    end_progress();
    if (!viewed && viewed.error().code == ErrorCode::invalid_input) {
      say_aside(viewed.error().message + "\n");
      continue;
    }
    if (!viewed) return tl::make_unexpected(viewed.error());
    shown.pages += viewed->pages;
    shown.captures += viewed->captures;
    if (viewed->damaged > 0)
      say_aside(peer + ": " + std::to_string(viewed->damaged) + " damaged records are not shown\n");
    site.add({.name = name, .package = viewed->package}, std::move(bytes));
  }
  if (site.packages() == 0) return fail(ErrorCode::invalid_input, "no page is archived in " + options.directory);
  return shown;
}

Result<std::string> viewer_directory(const ReplayCommand& options) {
  if (!options.viewer.empty()) return options.viewer;
  Result<std::string> program = program_directory();
  if (!program) return program;
  // As it is built, and as it is installed.
  const std::string built = *program + "/replayweb.page";
  std::error_code unknown;
  return std::filesystem::is_directory(built, unknown) ? built : *program + "/../share/orbweaver/replayweb.page";
}

Result<void> replay(const ReplayCommand& options) {
  const auto listen = parse_endpoint(options.listen);
  if (!listen) return tl::make_unexpected(listen.error());
  const bool only_here = listen->host.starts_with("127.") || listen->host == "::1" || listen->host == "localhost";
  const auto viewer = viewer_directory(options);
  if (!viewer) return tl::make_unexpected(viewer.error());
  auto site = ReplaySite::open(*viewer, only_here);
  if (!site) return tl::make_unexpected(site.error());
  // Blocked here, and so in every thread that begins here; sigwait() below takes them.
  sigset_t stops;
  sigemptyset(&stops);
  sigaddset(&stops, SIGTERM);
  sigaddset(&stops, SIGINT);
  pthread_sigmask(SIG_BLOCK, &stops, nullptr);

  HttpServerConfig config;
  config.address = listen->host;
  config.port = listen->port;
  config.threads = 4;
  config.max_connections = 64;
  config.max_requests = 1000;
  config.max_answer = std::chrono::minutes(1);
  const auto server = HttpServer::open(config);
  if (!server) return fail(server.error().code, "cannot listen on " + options.listen + ": " + server.error().message);
  const auto scratch = ScratchDirectory::make("", "orbweaver-replay");
  if (!scratch) return tl::make_unexpected(scratch.error());
  const Time now = Clock().now();
  const auto shown = add_peers(options, **scratch, now, *site);
  if (!shown) return tl::make_unexpected(shown.error());
  site->finish(options.title.empty() ? options.directory : options.title, now);
  (*server)->serve([&site = *site](const RequestHead& request) { return site.answer(request); });

  const bool v6 = listen->host.find(':') != std::string::npos;
  const std::string url =
      "http://" + (v6 ? "[" + listen->host + "]" : listen->host) + ":" + std::to_string((*server)->port()) + "/";
  if (options.as_json) {
    say_json({{"url", url}, {"packages", site->packages()}, {"pages", shown->pages}, {"captures", shown->captures}},
             -1);
  } else {
    say_text(url + " shows " + std::to_string(shown->pages) + " pages of " + std::to_string(site->packages()) +
             (site->packages() == 1 ? " peer" : " peers") + " in a browser; Ctrl-C ends it\n");
  }
  if (!all_said()) return fail(ErrorCode::io, "standard output could not be written");
  int signal = 0;
  sigwait(&stops, &signal);
  (*server)->stop();
  return {};
}

}  // namespace

void add_replay_command(CLI::App& app, int& code) {
  const auto options = std::make_shared<ReplayCommand>();
  CLI::App* command = app.add_subcommand("replay", "shows a crawl's archived pages in a browser, as they were");
  command
      ->add_option("directory", options->directory,
                   "directory of a peer, or of a crawl; what running peers archive later is not shown")
      ->capture_default_str();
  command->add_option("--listen", options->listen, "where to serve; port 0: any free one")
      ->type_name("ADDR:PORT")
      ->capture_default_str();
  command->add_option("--title", options->title, "the archive's name [the directory]")->type_name("TEXT");
  command
      ->add_option("--viewer", options->viewer, "ReplayWeb.page's files [those built or installed with this program]")
      ->type_name("DIR");
  command->add_flag("--json", options->as_json, "the address as one JSON line");
  command->callback([options, &code] {
    const Result<void> done = replay(*options);
    if (done) return;
    complain("%s", done.error().message.c_str());
    code = static_cast<int>(done.error().code);
  });
}

}  // namespace orbweaver
