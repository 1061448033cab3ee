// What the table means: assigning, printing, checking and merging settings from their four sources.
#include "node/config/settings.h"

#include <unistd.h>

#include <algorithm>
#include <array>

#include "node/config/edit_distance.h"
#include "node/config/endpoint.h"
#include "node/config/list_file.h"
#include "node/config/memory_plan.h"
#include "node/config/setting_def.h"
#include "node/config/shown.h"
#include "node/config/toml_settings.h"
#include "ring/membership.h"

namespace orbweaver {
namespace {

constexpr std::string_view environment_prefix = "ORBWEAVER_";

// Variables with our prefix that are no settings. Tests and scripts read the first three kinds; Kubernetes sets the
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

std::string flag_name(std::string_view setting) {
  std::string name = "--";
  for (const char c : setting) name += c == '_' ? '-' : c;
  return name;
}

tl::unexpected<Error> at(std::string_view where, const Error& error) {
  return fail(error.code, std::string(where) + ": " + error.message);
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
  // Sorted, so that of several mistakes always the same one is told first.
  std::vector<std::string> ours;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    if (text.starts_with(environment_prefix) && !is_other_variable(text.substr(0, text.find('='))))
      ours.emplace_back(text);
  }
  std::sort(ours.begin(), ours.end());
  for (const std::string& entry : ours) {
    const std::size_t equals = std::min(entry.find('='), entry.size() - 1);
    const std::string variable = entry.substr(0, equals);
    const auto& defs = setting_defs();
    const auto def = std::find_if(defs.begin(), defs.end(),
                                  [&](const SettingDef& d) { return environment_name(d.row.name) == variable; });
    if (def == defs.end()) {
      std::string lower = variable.substr(environment_prefix.size());
      for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
      std::string message = "environment: unknown setting " + shown(variable);
      if (const std::string near = nearest_setting(lower); !near.empty())
        message += "; did you mean '" + environment_name(near) + "'?";
      return fail(ErrorCode::invalid_setting, message);
    }
    if (auto set = set_given(loaded.values, def->row.name, entry.substr(equals + 1)); !set)
      return at(variable, set.error());
    loaded.given[def->row.name] = variable;
  }
  return {};
}

Result<void> load_flags(LoadedSettings& loaded, const std::vector<std::pair<std::string, std::string>>& flags) {
  // A list given as flags takes the place of the file's; several flags add up.
  std::map<std::string, std::string> lists;
  for (const auto& [name, text] : flags) {
    const std::string where = "flag " + flag_name(name);
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

const SettingDef* find_setting(std::string_view name) {
  const auto& defs = setting_defs();
  const auto found =
      std::find_if(defs.begin(), defs.end(), [&](const SettingDef& def) { return def.row.name == name; });
  return found == defs.end() ? nullptr : &*found;
}

std::string nearest_setting(std::string_view name) {
  // Names are 4 to 21 characters; a third of them wrong is no longer a slip of the fingers.
  constexpr std::size_t name_max = 64;
  if (name.size() > name_max) return {};
  std::string best;
  std::size_t best_distance = std::max<std::size_t>(2, name.size() / 3) + 1;
  for (const SettingDef& def : setting_defs()) {
    const std::size_t distance = edit_distance(name, def.row.name);
    if (distance < best_distance) {
      best_distance = distance;
      best = def.row.name;
    }
  }
  return best;
}

std::string unknown_setting_text(std::string_view name) {
  std::string message = "unknown setting " + shown(name);
  if (const std::string near = nearest_setting(name); !near.empty()) message += "; did you mean '" + near + "'?";
  return message;
}

const std::vector<SettingRow>& setting_rows() {
  static const std::vector<SettingRow> rows = [] {
    std::vector<SettingRow> out;
    for (const SettingDef& def : setting_defs()) out.push_back(def.row);
    return out;
  }();
  return rows;
}

Settings default_settings() {
  Settings settings;
  for (const SettingDef& def : setting_defs()) {
    // A default that its own row refuses is our own broken promise; a test sets each.
    if (!def.set(settings, def.row.default_text)) std::abort();
  }
  return settings;
}

Result<void> set_setting(Settings& settings, std::string_view name, std::string_view text) {
  const SettingDef* const def = find_setting(name);
  if (def == nullptr) return fail(ErrorCode::invalid_setting, unknown_setting_text(name));
  if (auto set = def->set(settings, text); !set)
    return fail(ErrorCode::invalid_setting, def->row.name + ": " + set.error().message);
  return {};
}

std::string setting_text(const Settings& settings, std::string_view name) {
  const SettingDef* const def = find_setting(name);
  return def == nullptr ? std::string{} : def->print(settings);
}

Result<void> check_together(const Settings& s) {
  const auto contradiction = [](const std::string& message) { return fail(ErrorCode::invalid_setting, message); };
  // Of two that contradict each other one may have come from the preset.
  const std::string preset = "; what of them was not given is set by network = " + setting_text(s, "network");
  if (s.probe_timeout >= s.probe_every) {
    return contradiction("probe_timeout (" + duration_text(s.probe_timeout) + ") must be less than probe_every (" +
                         duration_text(s.probe_every) + "): an answer through other peers must fit in too" + preset);
  }
  if (s.suspicion_time < s.probe_every) {
    return contradiction("suspicion_time (" + duration_text(s.suspicion_time) +
                         ") must not be less than probe_every (" + duration_text(s.probe_every) +
                         "): a suspected peer needs time to answer" + preset);
  }
  if (s.max_memory > 0 && s.max_memory < max_memory_least) {
    return contradiction("max_memory (" + size_text(s.max_memory) + ") must not be less than " +
                         size_text(max_memory_least) + ": code, threads and the store take a third of that");
  }
  if (s.body_memory_max < s.body_bytes_max) {
    return contradiction("body_memory_max (" + size_text(s.body_memory_max) +
                         ") must not be less than body_bytes_max (" + size_text(s.body_bytes_max) +
                         "): the largest body would wait forever");
  }
  if (s.outbox_memory_records < s.batch_records) {
    return contradiction("outbox_memory_records (" + std::to_string(s.outbox_memory_records) +
                         ") must not be less than batch_records (" + std::to_string(s.batch_records) +
                         "): no batch would ever be full");
  }
  if (s.partition_by == PartitionBy::url && (s.max_pages_per_host > 0 || s.max_bytes_per_host > 0 ||
                                             s.max_pages_per_domain > 0 || s.max_bytes_per_domain > 0)) {
    return contradiction(
        "partition_by (url) goes with no budget of hosts or domains (max_pages_per_host and the like): no peer sees "
        "all pages of a host; partition_by = host or domain does");
  }
  if (Result<void> checked = check_order(s); !checked) return checked;
  const auto listen = parse_endpoint(s.listen);
  if (listen && !listen->loopback && s.ring_key_file.empty()) {
    return contradiction(
        "listen (" + s.listen +
        ") is not a loopback address, and ring_key_file is empty: give the ring a key, or listen on 127.0.0.1");
  }
  return {};
}

Result<LoadedSettings> load_settings(const std::string& toml_path,
                                     const std::vector<std::pair<std::string, std::string>>& flags) {
  LoadedSettings loaded{default_settings(), {}};
  if (!toml_path.empty()) {
    const auto entries = read_toml_settings(toml_path);
    if (!entries) return tl::make_unexpected(entries.error());
    for (const TomlEntry& entry : *entries) {
      if (auto set = set_given(loaded.values, entry.name, entry.text); !set) return at(entry.where, set.error());
      loaded.given[entry.name] = entry.where;
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

std::vector<std::pair<std::string, std::string>> ring_wide_settings(const Settings& settings) {
  std::vector<std::pair<std::string, std::string>> out;
  for (const SettingDef& def : setting_defs()) {
    if (def.row.ring_wide) out.emplace_back(def.row.name, def.print(settings));
  }
  std::sort(out.begin(), out.end());
  return out;
}

Result<void> apply_ring_wide(Settings& settings, const std::vector<std::pair<std::string, std::string>>& values) {
  Settings candidate = settings;  // all or nothing: a peer's bytes are outside input
  for (const auto& [name, text] : values) {
    const SettingDef* const def = find_setting(name);
    if (def == nullptr || !def->row.ring_wide) {
      return fail(ErrorCode::mismatch,
                  "the ring has a setting " + shown(name) +
                      " that this build does not know as ring-wide: run the same version on every peer");
    }
    if (auto set = def->set(candidate, text); !set) {
      return fail(ErrorCode::mismatch, "the ring's " + def->row.name + " is not allowed here: " + set.error().message);
    }
  }
  settings = std::move(candidate);
  return {};
}

}  // namespace orbweaver
