// One peer as a process: opens the data directory, starts the threads, feeds the core and carries out its commands.
//
//   loop (this thread): core, store        transport: ring/zmq_transport     fetcher: node/fetch/curl_fetcher
//   workers: parse and archive             status: node/process/status_http      signals: SIGINT stops, SIGTERM leaves
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
  std::string ring_secret;  // of settings' ring_key_file; empty: none
  bool log_to_stderr = false;
  bool announce = false;           // what node/process/announcer.h says, on standard error
  std::vector<std::string> seeds;  // admitted once wait_for_peers members are active
  std::size_t wait_for_peers = 1;
  std::optional<Time> recrawl;  // what ended before is visited again
};

// Runs until the crawl ends, or the peer is stopped or leaves. The process's exit code; the reason is on standard error
// when it is not 0.
int run_peer(PeerOptions options);

}  // namespace orbweaver
