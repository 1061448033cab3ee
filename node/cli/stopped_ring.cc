#include "node/cli/stopped_ring.h"

#include <algorithm>
#include <array>
#include <optional>

#include "node/cli/peer_directories.h"
#include "node/config/settings_table.h"
#include "node/crawl/peer_words.h"
#include "node/errors/storage_error.h"
#include "node/peer/core.h"
#include "node/process/directory_lock.h"
#include "node/process/peer_file.h"
#include "node/system/clock.h"
#include "node/terminal/say.h"
#include "storage/rocks_kv.h"

namespace orbweaver {
namespace {

using nlohmann::json;

// The answer that one peer would give if it ran. Opens its core on its store, asks it and drops it; nothing is written.
Result<json> ask_one(const std::string& directory, const std::string& verb, const json& body) {
  storage::RocksConfig config;
  config.directory = directory + "/store";
  config.look_only = true;
  auto kv = storage::open_rocks(config);
  if (!kv) return tl::make_unexpected(error_of(kv.error()));
  auto store = storage::Store::open(**kv);
  if (!store) return tl::make_unexpected(error_of(store.error()));
  PeerStart start;
  start.settings.values = default_settings();
  if (const Result<PeerFile> file = read_peer_file(directory)) start.address = file->address;
  const Time now = Clock().now();
  auto peer = Core::open(std::move(start), *store, now);
  if (!peer) return tl::make_unexpected(peer.error());
  MessageEvent question;
  question.reply.route = "here";
  question.message.version = ring::protocol_version_min;
  question.message.body = ring::Ask{1, verb, body.dump(), false};
  Commands commands;
  (*peer)->step(now, std::move(question), commands);
  for (const Command& command : commands) {
    const auto* reply = std::get_if<ReplyMessage>(&command);
    const auto* answer = reply == nullptr ? nullptr : std::get_if<ring::Answer>(&reply->message.body);
    if (answer == nullptr) continue;
    json content = json::parse(answer->body, nullptr, false);
    if (!content.is_object()) break;
    content["directory"] = directory;
    return content;
  }
  return fail(ErrorCode::internal, directory + " gave no answer to '" + verb + "'");
}

// Ranks answers to `explain` by how much they know, because copies of a record may be out of date.
std::size_t knowledge(const json& answer) {
  constexpr std::array<std::string_view, 6> states = {"out of scope", "unknown", "queued",
                                                      "excluded",     "failed",  "fetched"};
  const std::string state = answer.value("state", "");
  const auto found = std::find(states.begin(), states.end(), state);
  const auto rank = static_cast<std::size_t>(found - states.begin());
  return found == states.end() ? 0 : answer.value("visit", std::size_t{0}) * states.size() + rank;
}

}  // namespace

Result<json> ask_stopped(const std::string& directory, const std::string& verb, const json& body) {
  const auto directories = peer_directories(directory);
  if (!directories) return tl::make_unexpected(directories.error());
  std::vector<json> answers;
  for (const std::string& peer : *directories) {
    Result<json> answer = ask_one(peer, verb, body);
    if (!answer) return tl::make_unexpected(answer.error());
    if (answer->contains("error")) return fail(ErrorCode::invalid_input, peer + ": " + (*answer)["error"].dump());
    answers.push_back(std::move(*answer));
  }
  if (verb == "explain") {
    json best = *std::max_element(answers.begin(), answers.end(),
                                  [](const json& a, const json& b) { return knowledge(a) < knowledge(b); });
    best["read_from"] = json::array({best["directory"]});
    best.erase("owner_address");  // no peer answers there
    return best;
  }
  json totals = json::object();
  json peers = json::array();
  std::string ring;
  for (json& answer : answers) {
    add_counts(totals, answer.value("counts", json::object()));
    if (ring.empty()) ring = answer.value("ring", "");
    answer["state"] = "stopped";
    answer.erase("not_fetching_because");
    peers.push_back(std::move(answer));
  }
  return json{{"ring", ring},
              {"totals", std::move(totals)},
              {"peers", std::move(peers)},
              {"unreachable", json::array()},
              {"read_from", *directories}};
}

Result<json> ask_or_read(const PeerTarget& target, const std::string& verb, const json& body) {
  if (!target.peer.empty()) return ask_peer(target, verb, body, true);
  const auto directories = peer_directories(target.directory);
  if (!directories && directories.error().code == ErrorCode::io) return tl::make_unexpected(directories.error());
  if (!directories || std::any_of(directories->begin(), directories->end(),
                                  [](const std::string& peer) { return DirectoryLock::holder(peer).has_value(); }))
    return ask_peer(target, verb, body, true);
  say_aside("no peer runs in " + target.directory + ": read from its disk\n");
  return ask_stopped(target.directory, verb, body);
}

}  // namespace orbweaver
