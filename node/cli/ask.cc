#include "node/cli/ask.h"

#include "node/cli/peer_directories.h"
#include "node/control/peer_question.h"
#include "node/process/directory_lock.h"
#include "node/process/peer_file.h"
#include "node/process/ring_key.h"
#include "node/system/denied.h"

namespace orbweaver {

Result<std::vector<PeerAddress>> peer_addresses(const PeerTarget& target) {
  std::vector<PeerAddress> found;
  const auto directories = possible_peer_directories(target.directory);
  // A caller that names a peer does not need its directory.
  if (!directories && target.peer.empty()) return tl::make_unexpected(directories.error());
  for (const std::string& directory : directories.value_or(std::vector<std::string>())) {
    const Result<PeerFile> peer = read_peer_file(directory);
    if (peer) found.push_back({peer->address, peer->ring_key_file, directory});
    if (!peer && peer.error().code == ErrorCode::io && target.peer.empty()) return tl::make_unexpected(peer.error());
  }
  if (!target.peer.empty()) {
    PeerAddress named{target.peer, {}, {}};
    for (const PeerAddress& peer : found)
      if (peer.address == target.peer) named = peer;
    found = {named};
  }
  if (!target.ring_key_file.empty())
    for (PeerAddress& peer : found) peer.ring_key_file = target.ring_key_file;
  if (found.empty())
    return fail(ErrorCode::unreachable, "no peer has run in " + target.directory +
                                            "; name one with --peer ADDR:PORT, or its directory with --dir");
  return found;
}

Result<std::vector<PeerAddress>> running_peers(const PeerTarget& target) {
  auto peers = peer_addresses(target);
  if (!peers || !target.peer.empty()) return peers;
  std::erase_if(*peers, [](const PeerAddress& peer) { return !DirectoryLock::holder(peer.directory); });
  if (!peers->empty()) return peers;
  const bool of_crawl = is_there(target.directory + "/crawl.json").value_or(false);
  return fail(ErrorCode::unreachable, "no peer runs in " + target.directory + "; start it with: orbweaver " +
                                          (of_crawl ? "crawl --out " : "node --dir ") + target.directory);
}

Result<nlohmann::json> ask_peer(const PeerTarget& target, const std::string& verb, const nlohmann::json& body,
                                bool for_ring, Duration timeout) {
  const Result<std::vector<PeerAddress>> peers = running_peers(target);
  if (!peers) return tl::make_unexpected(peers.error());
  std::string last;
  for (const auto& [address, ring_key_file, directory] : *peers) {
    const Result<std::string> secret = read_ring_key(ring_key_file);
    if (!secret) return tl::make_unexpected(secret.error());
    Result<nlohmann::json> answer = ask_at(address, *secret, {verb, body, for_ring, timeout});
    if (answer || answer.error().code != ErrorCode::unreachable) return answer;
    last = answer.error().message;
  }
  return fail(ErrorCode::unreachable, last);
}

}  // namespace orbweaver
