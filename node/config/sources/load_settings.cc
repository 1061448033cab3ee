// Loads settings from their four sources (defaults, file, environment, flags), in this order, and checks them together.
#include <unistd.h>

#include <algorithm>
#include <array>

#include "node/config/old_settings.h"
#include "node/config/setting_def.h"
#include "node/config/settings_table.h"
#include "node/config/sources/list_file.h"
#include "node/config/sources/toml_settings.h"
#include "node/config/sources/topic_file.h"
#include "node/text/shown.h"
#include "ring/membership.h"

namespace orbweaver {
namespace {

constexpr std::string_view environment_prefix = "ORBWEAVER_";

// Variables with our prefix that are not settings. Tests and scripts read the first three kinds. Kubernetes sets the
// others in every container of a namespace that has a service called "orbweaver" (docs: "Discovering services").
bool is_other_variable(std::string_view name) {
  constexpr std::array<std::string_view, 2> whole{"ORBWEAVER_SUITES", "ORBWEAVER_BINARY"};
  constexpr std::array<std::string_view, 3> prefixes{"ORBWEAVER_TEST_", "ORBWEAVER_SERVICE_", "ORBWEAVER_PORT"};
  return std::find(whole.begin(), whole.end(), name) != whole.end() ||
         std::any_of(prefixes.begin(), prefixes.end(), [&](std::string_view p) { return name.starts_with(p); });
}

std::string environment_name(std::string_view setting) {
  std::string name(environment_prefix);
  for (const char c : setting) name += c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return name;
}

// "ORBWEAVER_MAX_PAGES" -> "max_pages".
std::string variable_setting(std::string_view variable) {
  std::string name(variable.substr(environment_prefix.size()));
  for (char& c : name) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return name;
}

std::string flag_name(std::string_view setting) {
  std::string name = "--";
  for (const char c : setting) name += c == '_' ? '-' : c;
  return name;
}

tl::unexpected<Error> at(std::string_view where, const Error& error) {
  return fail(error.code, std::string(where) + ": " + error.message);
}

// The setting's present name; an old name or value is accepted with a warning.
std::string named(LoadedSettings& loaded, std::string_view name, std::string_view value, const std::string& where) {
  if (const std::string warning = old_setting_warning(name, value); !warning.empty())
    loaded.warnings.push_back(where + ": " + warning);
  return std::string(name_of_now(name));
}

// True when the setting was removed: it is ignored, with a warning.
bool leave_out_gone(LoadedSettings& loaded, std::string_view name, const std::string& where) {
  const GoneSetting* const gone = find_gone(name);
  if (gone == nullptr) return false;
  loaded.warnings.push_back(where + ": " + std::string(name) + " is not a setting any more: " + std::string(gone->why));
  return true;
}

// As a person gives it: an entry of a list may name a file.
Result<void> set_given(Settings& settings, std::string_view name, const std::string& text) {
  const SettingDef* const def = find_setting(name);
  if (def == nullptr || !def->from_file) return set_setting(settings, name, text);
  const Result<std::vector<std::string>> entries = expand_list_files(split_list(text, def->separator));
  if (!entries) return fail(entries.error().code, std::string(name) + ": " + entries.error().message);
  return set_setting(settings, name, join_list(*entries, def->separator));
}

Result<void> load_environment(LoadedSettings& loaded) {
  // Sorted, so that of several mistakes the same one is always reported first.
  std::vector<std::string> ours;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    if (text.starts_with(environment_prefix) && !is_other_variable(text.substr(0, text.find('='))))
      ours.emplace_back(text);
  }
  std::sort(ours.begin(), ours.end());
  // Old names first: where both are given, the new one wins.
  std::stable_partition(ours.begin(), ours.end(), [](const std::string& entry) {
    const std::string name = variable_setting(entry.substr(0, entry.find('=')));
    return name_of_now(name) != name;
  });
  for (const std::string& entry : ours) {
    const std::size_t equals = std::min(entry.find('='), entry.size() - 1);
    const std::string variable = entry.substr(0, equals), given = variable_setting(variable);
    const std::string text = entry.substr(equals + 1);
    const SettingDef* const def = find_setting(name_of_now(given));
    if (def == nullptr || environment_name(given) != variable) {
      if (leave_out_gone(loaded, given, variable)) continue;
      std::string message = "environment: unknown setting " + shown(variable);
      if (const std::string near = nearest_setting(given); !near.empty())
        message += "; did you mean '" + environment_name(near) + "'?";
      return fail(ErrorCode::invalid_setting, message);
    }
    const std::string name = named(loaded, given, text, variable);
    if (auto set = set_given(loaded.values, name, text); !set) return at(variable, set.error());
    loaded.given[name] = variable;
  }
  return {};
}

Result<void> load_flags(LoadedSettings& loaded, const std::vector<std::pair<std::string, std::string>>& flags) {
  // A list given as flags replaces the file's list; several flags add up.
  std::map<std::string, std::string> lists;
  // Old names first: where both are given, the new one wins.
  std::vector<std::pair<std::string, std::string>> ours = flags;
  std::stable_partition(ours.begin(), ours.end(),
                        [](const auto& flag) { return name_of_now(flag.first) != flag.first; });
  for (const auto& [given, text] : ours) {
    const std::string where = "flag " + flag_name(given);
    if (leave_out_gone(loaded, given, where)) continue;
    const std::string name = named(loaded, given, text, where);
    const SettingDef* const def = find_setting(name);
    std::string value = text;
    if (def != nullptr && def->kind == SettingKind::list) {
      std::string& all = lists[name];
      if (!all.empty() && !value.empty()) all += def->separator;
      all += value;
      value = all;
    }
    if (auto set = set_given(loaded.values, name, value); !set) return at(where, set.error());
    loaded.given[name] = where;
  }
  return {};
}

void apply_network(LoadedSettings& loaded) {
  const ring::MembershipConfig preset = ring::preset(loaded.values.network);
  const auto unless_given = [&loaded](const char* name, Duration Settings::*field, Duration value) {
    if (!loaded.given.contains(name)) loaded.values.*field = value;
  };
  unless_given("probe_every", &Settings::probe_every, preset.probe_every);
  unless_given("probe_timeout", &Settings::probe_timeout, preset.probe_timeout);
  unless_given("suspicion_time", &Settings::suspicion_time, preset.suspicion_time);
}

}  // namespace

Result<LoadedSettings> load_settings(const std::string& toml_path,
                                     const std::vector<std::pair<std::string, std::string>>& flags) {
  LoadedSettings loaded{.values = default_settings(), .given = {}, .warnings = {}};
  if (!toml_path.empty()) {
    const auto entries = read_toml_settings(toml_path);
    if (!entries) return tl::make_unexpected(entries.error());
    for (const TomlEntry& entry : *entries) {
      if (leave_out_gone(loaded, entry.name, entry.where)) continue;
      const std::string name = named(loaded, entry.name, entry.text, entry.where);
      if (auto set = set_given(loaded.values, name, entry.text); !set) return at(entry.where, set.error());
      loaded.given[name] = entry.where;
    }
  }
  if (auto done = load_environment(loaded); !done) return tl::make_unexpected(done.error());
  if (auto done = load_flags(loaded, flags); !done) return tl::make_unexpected(done.error());
  apply_network(loaded);
  const Result<bool> has_topic_file = read_topic_file(loaded.values);
  if (!has_topic_file) return tl::make_unexpected(has_topic_file.error());
  if (*has_topic_file) loaded.given["topic"] = loaded.given["topic_file"];
  if (auto checked = check_together(loaded.values); !checked) return tl::make_unexpected(checked.error());
  return loaded;
}

}  // namespace orbweaver
