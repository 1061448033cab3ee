#include "node/cli/ask.h"

#include <algorithm>
#include <filesystem>

#include "node/crawl/outside_json.h"
#include "node/run/peer_process.h"
#include "ring/codec.h"
#include "ring/zmq_transport.h"

namespace orbweaver {

Result<std::vector<std::string>> peer_addresses(const PeerTarget& target) {
  if (!target.peer.empty()) return std::vector<std::string>{target.peer};
  std::vector<std::string> addresses;
  if (const Result<PeerFile> own = read_peer_file(target.directory)) addresses.push_back(own->address);
  std::vector<std::string> below;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(target.directory, ignored))
    if (entry.path().filename().string().starts_with("peer-")) below.push_back(entry.path().string());
  std::sort(below.begin(), below.end());
  for (const std::string& directory : below)
    if (const Result<PeerFile> peer = read_peer_file(directory)) addresses.push_back(peer->address);
  if (addresses.empty())
    return fail(ErrorCode::unreachable, "no peer has run in " + target.directory +
                                            "; name one with --peer ADDR:PORT, or its directory with --dir");
  return addresses;
}

Result<nlohmann::json> ask_peer(const PeerTarget& target, const std::string& verb, const nlohmann::json& body,
                                bool for_ring, Duration timeout) {
  const Result<std::vector<std::string>> addresses = peer_addresses(target);
  if (!addresses) return tl::make_unexpected(addresses.error());
  const Result<std::string> secret = read_ring_key(target.ring_key_file);
  if (!secret) return tl::make_unexpected(secret.error());
  std::string last;
  for (const std::string& address : *addresses) {
    auto client = ring::ZmqClient::open(address, *secret);
    if (!client) return fail(ErrorCode::invalid_input, client.error().message);
    ring::Message question;
    question.version = ring::protocol_version_min;  // a command does not know what the peer speaks
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
    Result<nlohmann::json> content = parse_outside_json(answer->body);
    if (!content)
      return fail(ErrorCode::io, address + " sent an answer that cannot be read: " + content.error().message);
    if (content->contains("error"))
      return fail(ErrorCode::invalid_input, text_field(*content, "error").value_or("refused, without a reason"));
    return std::move(*content);
  }
  return fail(ErrorCode::unreachable, last);
}

}  // namespace orbweaver
