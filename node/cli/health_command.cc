#include "node/cli/health_command.h"

#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>
#include <thread>
#include <utility>

#include "node/cli/ask.h"
#include "node/cli/ring_commands.h"
#include "node/ring_view/health.h"
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

Health health_of_answer(const Result<json>& answer) {
  if (answer) return health_of(*answer);
  return {.broken = {answer.error().message}, .settling = {}};
}

void print(const Health& health, bool as_json) {
  if (as_json) return say_json(to_json(health));
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
