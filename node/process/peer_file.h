// What a running peer writes into its directory, for commands on this machine. Thread rule: any thread.
#pragma once

#include <string>

#include "node/base.h"
#include "node/settings/settings.h"
#include "storage/open_waiter.h"

namespace orbweaver {

// The contents of <directory>/peer.json.
struct PeerFile {
  std::string id;
  std::string ring;
  std::string address;         // for other peers and commands
  std::string status_address;  // http
  std::string ring_key_file;   // absolute in the file; empty: its ring has no key
  int pid = 0;
};

// Reads the file of the peer that runs in this directory, or ran last. Error: unreachable when no peer has run there.
// (When it ends, the peer writes <directory>/ended.json: finished, reason, and its last status.)
Result<PeerFile> read_peer_file(const std::string& directory);

Result<void> write_peer_file(const std::string& directory, const PeerFile& peer, Durability durability,
                             storage::OpenWaiter* waiter);

}  // namespace orbweaver
