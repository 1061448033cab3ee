#include "node/cli/events_command.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>
#include <thread>
#include <vector>

#include "node/cli/ask.h"
#include "node/cli/ring_commands.h"
#include "node/crawl/outside_json.h"
#include "node/ring_view/ring_limit.h"
#include "node/terminal/command_line.h"
#include "node/terminal/say.h"

namespace orbweaver {

namespace {

using nlohmann::json;

constexpr std::chrono::seconds look_every{1};

struct Options {
  PeerTarget target;
  bool as_json = false;
  bool follow = false;
};

// The events of one look, by time; each has its peer. `after`: where each peer goes on.
std::vector<json> take(const json& answer, json& after) {
  std::vector<json> events;
  for (const json* const part : parts_of(answer)) {
    const std::string peer = text_at(*part, "id");
    after[peer] = number_field(*part, "last", 0, 0).value_or(0);
    for (const json& event : list_field(*part, "events").value_or(std::span<const json>())) {
      if (!event.is_object()) continue;
      events.push_back(event);
      events.back()["peer"] = peer;
    }
  }
  std::stable_sort(events.begin(), events.end(),
                   [](const json& a, const json& b) { return text_at(a, "at") < text_at(b, "at"); });
  return events;
}

void print(const json& event, bool as_json) {
  if (as_json) return say_json(event, -1);
  std::string fields;
  if (const auto found = event.find("fields"); found != event.end() && found->is_object())
    for (const auto& [name, value] : found->items())
      fields += "  " + name + "=" + (value.is_string() ? value.get<std::string>() : json_text(value));
  say("%s  %s  %s%s\n", text_at(event, "at").c_str(), text_at(event, "peer").substr(0, 8).c_str(),
      text_at(event, "event").c_str(), fields.c_str());
}

int events(const Options& options) {
  json after = json::object();
  for (bool first = true;; first = false) {
    const Result<json> answer = ask_peer(options.target, "events", {{"after", after}}, true);
    if (!answer && first) return failed(answer.error());
    if (!answer) complain("%s", answer.error().message.c_str());
    if (answer)
      for (const json& event : take(*answer, after)) print(event, options.as_json);
    if (!options.follow || !all_said()) return 0;
    std::this_thread::sleep_for(look_every);
  }
}

}  // namespace

void add_events_command(CLI::App& app, int& code) {
  const auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("events", "lists what has happened at the peers of a running ring");
  add_target_options(*command, options->target);
  command->add_flag("--json", options->as_json, "as JSON, a line for each");
  command->add_flag("--follow", options->follow, "and what happens from now on, until it is interrupted");
  command->callback([options, &code] { code = events(*options); });
}

}  // namespace orbweaver
