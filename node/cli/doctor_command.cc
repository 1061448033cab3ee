#include "node/cli/doctor_command.h"

#include <memory>

#include "node/cli/doctor_machine.h"
#include "node/cli/doctor_ring.h"
#include "node/cli/doctor_url.h"
#include "node/cli/health_command.h"
#include "node/cli/peer_directories.h"
#include "node/cli/ring_commands.h"
#include "node/cli/stopped_ring.h"
#include "node/config/sources/load_settings.h"
#include "node/process/peer_file.h"
#include "node/ring_view/health.h"
#include "node/system/clock.h"
#include "node/terminal/command_line.h"
#include "node/terminal/say.h"

namespace orbweaver {

namespace {

using nlohmann::json;

struct Options {
  PeerTarget target;
  std::string url;
  std::vector<std::string> allow_private;
  bool as_json = false;
};

// What the peers whose directories are here may use together; 0: unknown.
std::uint64_t max_memory_here(const json& status, const std::vector<std::string>& directories) {
  std::uint64_t sum = 0;
  for (const std::string& directory : directories) {
    const Result<PeerFile> file = read_peer_file(directory);
    for (const json& peer : status.value("peers", json::array()))
      if (file && peer.value("id", "") == file->id)
        sum += peer.value("memory", json::object()).value("max_memory", std::uint64_t{0});
  }
  return sum;
}

// The settings of the peer that is asked, or of the first directory when none runs.
Result<SettingsSeen> settings_of_ring(const PeerTarget& target) {
  const Result<json> answer = ask_peer(target, "settings", json::object(), false);
  if (answer) return settings_in(*answer);
  const Result<json> stored = ask_stopped(target.directory, "settings", json::object());
  if (!stored) return tl::make_unexpected(answer.error());
  const json peers = stored->value("peers", json::array());
  return peers.empty() ? Result<SettingsSeen>(tl::make_unexpected(answer.error())) : settings_in(peers.front());
}

// Where there is no crawl: those of the environment.
Result<SettingsSeen> settings_for_url(const Options& options) {
  Result<SettingsSeen> seen = settings_of_ring(options.target);
  if (!seen) {
    const Result<LoadedSettings> loaded = load_settings({}, {});
    if (!loaded) return tl::make_unexpected(loaded.error());
    seen = SettingsSeen{loaded->values};
  }
  std::vector<std::string>& allowed = seen->values.allow_private;
  allowed.insert(allowed.end(), options.allow_private.begin(), options.allow_private.end());
  return seen;
}

int doctor(const Options& options) {
  Findings findings;
  if (options.url.empty()) {
    look_at_all(options.target, findings);
  } else {
    const Result<SettingsSeen> settings = settings_for_url(options);
    if (!settings) return failed(settings.error());
    look_at_url(options.url, options.target, *settings, findings);
  }
  if (options.as_json) {
    say_json({{"healthy", !findings.any_failed()}, {"checks", findings.to_json()}});
  } else {
    say_text(findings.to_text());
  }
  return findings.any_failed() ? not_healthy : 0;
}

}  // namespace

void look_at_all(const PeerTarget& target, Findings& findings) {
  const auto directories = possible_peer_directories(target.directory);
  std::vector<std::string> here;
  for (const std::string& directory : directories.value_or(std::vector<std::string>()))
    if (read_peer_file(directory)) here.push_back(directory);
  const Result<json> status = ask_peer(target, "status", json::object(), true);
  look_at_machine(status ? max_memory_here(*status, here) : 0, findings);
  look_at_directories(here, findings);
  if (!status) return findings.warn("ring.peers", status.error().message, "");
  look_at_ring(*status, Clock().now(), findings);
  const Result<SettingsSeen> settings = settings_of_ring(target);
  if (!settings) return findings.warn("settings.read", settings.error().message, "");
  look_at_settings(settings->values, status->value("peers", json::array()).size(), findings);
  if (!settings->hidden.contains("proxy")) look_at_names(settings->values, findings);
}

void add_doctor_command(CLI::App& app, int& code) {
  const auto options = std::make_shared<Options>();
  CLI::App* command =
      app.add_subcommand("doctor", "looks for what is wrong with the machine, the ring, or one page, and says the fix");
  command->add_option("url", options->url, "only this page, step by step as a crawl would come to it")
      ->type_name("URL");
  add_target_options(*command, options->target);
  command->add_option("--allow-private", options->allow_private, "a range of private addresses that may be asked")
      ->type_name("RANGE");
  command->add_flag("--json", options->as_json, "as JSON");
  command->callback([options, &code] { code = doctor(*options); });
}

}  // namespace orbweaver
