#include "node/cli/ask.h"

#include "node/cli/peer_directories.h"
#include "node/crawl/outside_json.h"
#include "node/process/directory_lock.h"
#include "node/process/peer_file.h"
#include "node/process/ring_key.h"
#include "node/system/denied.h"
#include "ring/codec.h"
#include "ring/zmq_transport.h"

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
    auto client = ring::ZmqClient::open(address, *secret);
    if (!client) return fail(ErrorCode::invalid_input, client.error().message);
    ring::Message question;
    question.version = ring::protocol_version_min;  // a command does not know the peer's version
    question.body = ring::Ask{1, verb, json_text(body), for_ring};
    const auto bytes = (*client)->ask(ring::encode(question), timeout);
    if (!bytes) {
      last = bytes.error().message;
      continue;
    }
    const auto message = ring::decode(*bytes);
    const ring::Answer* answer = message ? std::get_if<ring::Answer>(&message->body) : nullptr;
    if (answer == nullptr) {
      last = address + " answered something else than an answer";
      continue;
    }
    Result<nlohmann::json> content = parse_outside_json(answer->body, json_values_any);
    if (!content)
      return fail(ErrorCode::io, address + " sent an answer that cannot be read: " + content.error().message);
    if (content->contains("error"))
      return fail(ErrorCode::invalid_input, text_field(*content, "error").value_or("refused, without a reason"));
    return std::move(*content);
  }
  return fail(ErrorCode::unreachable, last);
}

Result<nlohmann::json> ask_all(const PeerTarget& target, const std::string& verb, const nlohmann::json& body) {
  Result<nlohmann::json> answer = ask_peer(target, verb, body, true);
  if (!answer) return answer;
  for (const nlohmann::json& peer : answer->value("peers", nlohmann::json::array()))
    if (peer.contains("error"))
      return fail(ErrorCode::io, peer.value("address", "a peer") + ": " + peer.value("error", ""));
  return answer;
}

}  // namespace orbweaver
