#include "node/cli/health_command.h"

#include <chrono>
#include <memory>
#include <set>
#include <thread>
#include <utility>

#include "node/cli/ask.h"
#include "node/cli/ledger.h"
#include "node/cli/ring_commands.h"
#include "node/crawl/peer_words.h"
#include "node/terminal/say.h"

namespace orbweaver {

namespace {

using nlohmann::json;

constexpr std::chrono::seconds watch_every{1};

struct Options {
  PeerTarget target;
  bool as_json = false;
  bool watch = false;
  bool until_healthy = false;
};

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

Health health_of_answer(const Result<json>& answer) {
  if (answer) return health_of(*answer);
  return {.broken = {answer.error().message}, .settling = {}};
}

void print(const Health& health, bool as_json) {
  if (as_json) {
    json problems = json::array();
    for (const auto& [level, list] : {std::pair("broken", &health.broken), {"settling", &health.settling}})
      for (const std::string& what : *list) problems.push_back({{"level", level}, {"what", what}});
    return say_json({{"healthy", health.word() == "healthy"},
                     {"state", health.word()},
                     {"peers", health.peers},
                     {"problems", std::move(problems)}});
  }
  say("%s: %zu peers answer\n", std::string(health.word()).c_str(), health.peers);
  for (const auto* list : {&health.broken, &health.settling})
    for (const std::string& what : *list) say("  %s\n", what.c_str());
}

int health(const Options& options) {
  for (;;) {
    const Result<json> answer = ask_peer(options.target, "status", json::object(), true);
    const Health health = health_of_answer(answer);
    print(health, options.as_json);
    // A wrong directory or key does not become right.
    if (!answer && answer.error().code != ErrorCode::unreachable) return not_healthy;
    const bool healthy = health.word() == "healthy";
    if (!all_said() || !(options.watch || options.until_healthy) || (options.until_healthy && healthy))
      return healthy ? 0 : not_healthy;
    std::this_thread::sleep_for(watch_every);
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

void add_health_command(CLI::App& app, int& code) {
  const auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("health", "says whether the ring is well; exit code 10 when it is not");
  add_target_options(*command, options->target);
  command->add_flag("--json", options->as_json, "as JSON, with the problems");
  command->add_flag("--watch", options->watch, "again every second, until it is interrupted");
  command->add_flag("--exit-when-healthy", options->until_healthy, "again every second, until the ring is well");
  command->callback([options, &code] { code = health(*options); });
}

}  // namespace orbweaver
