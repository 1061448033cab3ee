// One peer as a process: opens the data directory, starts the threads, feeds the core and carries out its commands.
//
//   loop (this thread): core, store        transport: ring/zmq_transport     fetcher: node/fetch/curl_fetcher
//   workers: parse and archive             HTTP: node/control/http_port           signals: SIGINT stops, SIGTERM leaves
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "node/config/settings_table.h"
#include "node/settings/settings.h"

namespace orbweaver {

struct PeerOptions {
  std::string directory;
  LoadedSettings settings;
  std::string ring_secret;  // from the settings' ring_key_file; empty: none
  bool log_to_stderr = false;
  bool announce = false;           // what node/process/announcer.h says, on standard error
  std::vector<std::string> seeds;  // admitted once this many members are there
  std::size_t wait_for_peers = 1;
  std::optional<Time> recrawl;  // visit again what was settled before this time
};

// Runs until the crawl ends, or the peer is stopped or leaves. Returns the process's exit code. If it is not 0, the
// reason is on standard error.
int run_peer(PeerOptions options);

}  // namespace orbweaver
