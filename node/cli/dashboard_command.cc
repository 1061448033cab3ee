#include "node/cli/dashboard_command.h"

#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "node/cli/ask.h"
#include "node/control/control_token.h"
#include "node/control/routes.h"
#include "node/process/peer_file.h"
#include "node/terminal/command_line.h"
#include "node/terminal/say.h"

namespace orbweaver {

namespace {

struct Options {
  std::string directory;
  bool as_json = false;
  bool as_openapi = false;
};

// Only of a peer that runs: another process may have the port of one that has ended.
int dashboard(const Options& options) {
  if (options.as_openapi) {
    say_json(openapi());
    return 0;
  }
  const auto running = running_peers({{}, options.directory, {}});
  if (!running) return failed(running.error());
  const std::string& directory = running->front().directory;
  const Result<PeerFile> peer = read_peer_file(directory);
  if (!peer) return failed(peer.error());
  if (peer->status_address.empty())
    return failed({ErrorCode::unreachable, "the peer in " + directory + " serves no page: its status_listen is off"});
  const Result<std::string> token = read_control_token(directory);
  if (!token) return failed(token.error());
  const std::string address = "http://" + peer->status_address + "/";
  if (options.as_json) {
    say_json({{"address", address}, {"token", *token}, {"peer", peer->id}});
  } else {
    say("%s#token=%s\n", address.c_str(), token->c_str());
  }
  return 0;
}

}  // namespace

void add_dashboard_command(CLI::App& app, int& code) {
  const auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("dashboard", "prints the address of the page that shows and steers the ring");
  command->add_option("--dir,--out", options->directory, "directory of a peer, or of a crawl")
      ->type_name("DIR")
      ->default_val("orbweaver-crawl");
  command->add_flag("--json", options->as_json, "address, token and peer, as JSON");
  command->add_flag("--openapi", options->as_openapi, "instead, what the control API knows, as OpenAPI 3 (JSON)");
  command->callback([options, &code] { code = dashboard(*options); });
}

}  // namespace orbweaver
