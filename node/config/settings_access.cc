// The use of the table: finding, assigning, printing and checking settings.
#include <algorithm>
#include <cstdlib>

#include "node/config/old_settings.h"
#include "node/config/setting_def.h"
#include "node/settings/endpoint.h"
#include "node/settings/memory_plan.h"
#include "node/text/edit_distance.h"
#include "node/text/shown.h"

namespace orbweaver {

const SettingDef* find_setting(std::string_view name) {
  const auto& defs = setting_defs();
  const auto found =
      std::find_if(defs.begin(), defs.end(), [&](const SettingDef& def) { return def.row.name == name; });
  return found == defs.end() ? nullptr : &*found;
}

const GoneSetting* find_gone(std::string_view name) {
  const auto& all = gone_settings();
  const auto found = std::find_if(all.begin(), all.end(), [&](const GoneSetting& gone) { return gone.name == name; });
  return found == all.end() ? nullptr : &*found;
}

std::string nearest_setting(std::string_view name) {
  // Names are 4 to 21 characters; with a third of them wrong it is no longer a typing error.
  constexpr std::size_t max_name = 64;
  if (name.size() > max_name) return {};
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
    // A default that its own row refuses is a bug of our own; a test sets each default.
    if (!def.set(settings, def.row.default_text)) std::abort();
  }
  return settings;
}

Result<void> set_setting(Settings& settings, std::string_view name, std::string_view text) {
  const SettingDef* const def = find_setting(name_of_now(name));
  if (def == nullptr) return fail(ErrorCode::invalid_setting, unknown_setting_text(name));
  if (auto set = def->set(settings, value_of_now(def->row.name, text)); !set)
    return fail(ErrorCode::invalid_setting, def->row.name + ": " + set.error().message);
  return {};
}

std::string setting_text(const Settings& settings, std::string_view name) {
  const SettingDef* const def = find_setting(name);
  return def == nullptr ? std::string{} : def->print(settings);
}

Result<void> check_together(const Settings& s) {
  const auto contradiction = [](const std::string& message) { return fail(ErrorCode::invalid_setting, message); };
  // When two contradict each other, one may come from the preset.
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
  if (s.max_body_memory < s.max_body_bytes) {
    return contradiction("max_body_memory (" + size_text(s.max_body_memory) +
                         ") must not be less than max_body_bytes (" + size_text(s.max_body_bytes) +
                         "): the largest body would wait forever");
  }
  if (s.max_outbox_records_in_memory < s.max_batch_records) {
    return contradiction("max_outbox_records_in_memory (" + std::to_string(s.max_outbox_records_in_memory) +
                         ") must not be less than max_batch_records (" + std::to_string(s.max_batch_records) +
                         "): no batch would ever be full");
  }
  if (s.partition_by == PartitionBy::url && (s.max_pages_per_host > 0 || s.max_bytes_per_host > 0)) {
    return contradiction(
        "partition_by (url) goes with no budget of hosts (max_pages_per_host, max_bytes_per_host): no peer sees all "
        "pages of a host; partition_by = host or domain does");
  }
  if (s.partition_by != PartitionBy::domain && (s.max_pages_per_domain > 0 || s.max_bytes_per_domain > 0)) {
    return contradiction(
        "a budget of domains (max_pages_per_domain, max_bytes_per_domain) needs partition_by = domain: else no peer "
        "sees all pages of a domain");
  }
  if (s.partition_by == PartitionBy::url && s.cookies == Cookies::crawl) {
    return contradiction(
        "partition_by (url) goes with no cookies (cookies = crawl): no peer sees all answers of a host; "
        "partition_by = host or domain does");
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
