#include "node/control/peer_question.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include "node/crawl/outside_json.h"
#include "ring/codec.h"
#include "ring/zmq_transport.h"

namespace orbweaver {

using nlohmann::json;

namespace {

constexpr int max_tries = 4;
constexpr std::chrono::milliseconds between_tries{700};

// The error of the first peer that refused, in the answer of a whole ring.
Result<void> refusal_in(const json& answer) {
  for (const json& peer : list_field(answer, "peers").value_or(std::span<const json>()))
    if (peer.is_object() && peer.contains("error"))
      return fail(ErrorCode::io, text_field(peer, "address").value_or("a peer") + ": " +
                                     text_field(peer, "error").value_or("refused, without a reason"));
  return {};
}

}  // namespace

Result<json> ask_at(const std::string& address, const std::string& secret, const PeerQuestion& question) {
  auto client = ring::ZmqClient::open(address, secret);
  if (!client) return fail(ErrorCode::invalid_input, client.error().message);
  ring::Message asked;
  asked.version = ring::protocol_version_min;  // who asks does not know the peer's version
  asked.body = ring::Ask{1, question.verb, json_text(question.body), question.for_ring};
  const auto bytes = (*client)->ask(ring::encode(asked), question.timeout);
  if (!bytes) return fail(ErrorCode::unreachable, bytes.error().message);
  const auto message = ring::decode(*bytes);
  const ring::Answer* const answer = message ? std::get_if<ring::Answer>(&message->body) : nullptr;
  if (answer == nullptr) return fail(ErrorCode::unreachable, address + " answered something else than an answer");
  return read_answer(answer->body, address, json_values_any);
}

Result<void> refusal_of(std::string_view text) {
  const auto flat = [](int depth, json::parse_event_t event, const json&) {
    return depth == 0 || (event != json::parse_event_t::object_start && event != json::parse_event_t::array_start);
  };
  const json content = json::parse(text, flat, false);
  if (!content.is_object()) return fail(ErrorCode::io, "the answer cannot be read");
  if (content.contains("error"))
    return fail(ErrorCode::invalid_input, text_field(content, "error").value_or("refused, without a reason"));
  return {};
}

Result<json> read_answer(std::string_view text, const std::string& who, std::size_t max_values) {
  Result<json> content = parse_outside_json(text, max_values);
  if (!content) return fail(ErrorCode::io, who + " sent an answer that cannot be read: " + content.error().message);
  if (content->contains("error"))
    return fail(ErrorCode::invalid_input, text_field(*content, "error").value_or("refused, without a reason"));
  return content;
}

Result<json> order_until_taken(const std::function<Result<json>()>& ask) {
  for (int tries = 1;; ++tries) {
    Result<json> answer = ask();
    if (!answer) return answer;
    if (Result<void> refused = refusal_in(*answer); !refused) return tl::make_unexpected(refused.error());
    const auto peers = list_field(*answer, "peers").value_or(std::span<const json>());
    if (std::all_of(peers.begin(), peers.end(),
                    [](const json& peer) { return peer.is_object() && flag_field(peer, "taken").value_or(false); }))
      return answer;
    if (tries == max_tries)
      return fail(ErrorCode::unreachable,
                  "the peers keep telling each other of later orders; look with: orbweaver orders");
    std::this_thread::sleep_for(between_tries);
  }
}

}  // namespace orbweaver
