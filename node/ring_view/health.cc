#include "node/ring_view/health.h"

#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "node/crawl/peer_words.h"
#include "node/ring_view/ledger.h"

namespace orbweaver {

using nlohmann::json;

namespace {

void add_moves(const json& peer, Health& health) {
  const json counts = peer.value("counts", json::object());
  for (const auto& [name, words] : {std::pair("partitions_to_gain", "partitions are handed to it"),
                                    {"partitions_to_hand_over", "partitions are to be handed over"},
                                    {"partitions_to_return", "partitions are to be returned"},
                                    {"copies_to_backfill", "partitions lack a copy"}})
    if (const std::uint64_t left = counts.value(name, std::uint64_t{0}); left > 0)
      health.settling.push_back(peer_words(peer) + ": " + std::to_string(left) + " " + words);
}

// What a peer knows of the others: a peer that is down for one is not well for the ring.
void add_members(const json& peer, std::set<std::string>& named, Health& health) {
  for (const json& member : peer.value("members", json::array())) {
    const std::string state = member.value("state", "");
    if ((state != "suspect" && state != "down") || !named.insert(member.value("id", "")).second) continue;
    health.broken.push_back(peer_words(member) + " is " + state);
  }
}

}  // namespace

std::string peer_words(const json& peer) {
  return "peer " + peer.value("id", "").substr(0, 8) + " at " + peer.value("address", "");
}

Health health_of(const json& status) {
  Health health;
  std::set<std::string> named;
  for (const json& silent : status.value("unreachable", json::array()))
    if (named.insert(silent.value("id", "")).second) health.broken.push_back(peer_words(silent) + " does not answer");
  for (const json& peer : status.value("peers", json::array())) {
    ++health.peers;
    add_members(peer, named, health);
    const bool disk_low = peer.value("process", json::object()).value("disk_low", false);
    for (const json& reason : peer.value("not_fetching_because", json::array()))
      if (reason != paused_by_operator)
        (disk_low ? health.broken : health.settling)
            .push_back(peer_words(peer) + " asks for no page: " + reason.get<std::string>());
    add_moves(peer, health);
  }
  const Ledger ledger = ledger_of(status);
  for (const std::string& difference : ledger.differences) health.broken.push_back("the ledger: " + difference);
  // Silent peers are named already.
  if (health.broken.empty())
    for (const std::string& why : ledger.unsettled) health.settling.push_back(why);
  return health;
}

json to_json(const Health& health) {
  json problems = json::array();
  for (const auto& [level, list] : {std::pair("broken", &health.broken), {"settling", &health.settling}})
    for (const std::string& what : *list) problems.push_back({{"level", level}, {"what", what}});
  return {{"healthy", health.word() == "healthy"},
          {"state", health.word()},
          {"peers", health.peers},
          {"problems", std::move(problems)}};
}

}  // namespace orbweaver
