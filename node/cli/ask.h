// How commands reach a running peer: an address, or the directory that it runs in; a question, its JSON answer.
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
  std::string ring_key_file;  // what its peer.json names, unless the target names one
  std::string directory;      // empty: not known
};

// All that have run, in order. A peer that `peer` names and whose directory is found in `directory` is asked with its
// key. Errors: unreachable when none has run there; io when the directory may not be read.
Result<std::vector<PeerAddress>> peer_addresses(const PeerTarget& target);

// Those to ask: the one that `peer` names, or those whose processes hold their directories. Errors: as above;
// unreachable when none runs there.
Result<std::vector<PeerAddress>> running_peers(const PeerTarget& target);

// The answer of the first peer that answers. An {"error": …} in the answer is an error here.
Result<nlohmann::json> ask_peer(const PeerTarget& target, const std::string& verb, const nlohmann::json& body,
                                bool for_ring, Duration timeout = std::chrono::seconds{5});

}  // namespace orbweaver
