// How commands reach a running peer: by address, or by the directory that it runs in. A question gets a JSON answer.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "node/base.h"

namespace orbweaver {

struct PeerTarget {
  std::string peer;       // ADDR:PORT; empty: looked up in `directory`
  std::string directory;  // a peer's directory, or a crawl's with peer-1, peer-2… in it
  std::string ring_key_file;
};

struct PeerAddress {
  std::string address;
  std::string ring_key_file;  // the file named by its peer.json, unless the target names one
  std::string directory;      // empty: unknown
};

// All peers that have run, in order. If `peer` names one whose directory is found in `directory`, the key of that
// directory is used. Errors: unreachable when no peer has run there; io when the directory may not be read.
Result<std::vector<PeerAddress>> peer_addresses(const PeerTarget& target);

// The peers to ask: the one that `peer` names, or those that run and have locked their directories. Errors: as above;
// unreachable when no peer runs there.
Result<std::vector<PeerAddress>> running_peers(const PeerTarget& target);

// The answer of the first peer that answers. {"error": …} in the answer is returned as an error.
Result<nlohmann::json> ask_peer(const PeerTarget& target, const std::string& verb, const nlohmann::json& body,
                                bool for_ring, Duration timeout = std::chrono::seconds{5});

}  // namespace orbweaver
