// Every setting of a peer and of a crawl: one row each in settings_table.cc (name, sentence, type, unit, default,
// bounds, ring-wide or this peer's own, flag). TOML file, environment (ORBWEAVER_<NAME>) and flags all use that table:
// an unknown key or a bad value is an error that names it and says what is allowed. Precedence: flag over environment
// over file over default. The table includes every rule whose settings it checks, so it is above them; code that only
// uses values includes node/settings/settings.h. Thread rule: free functions; the table never changes.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "node/base.h"
#include "node/settings/settings.h"
#include "storage/seen_filter.h"

namespace orbweaver {

// Which settings were given explicitly (by file, environment or flag), by name: a joiner insists on these.
struct LoadedSettings {
  Settings values;
  std::map<std::string, std::string> given;  // name -> where: "flag --delay", "ORBWEAVER_DELAY", "orbweaver.toml:12"
  std::vector<std::string> warnings;         // for people: settings that were removed or renamed
};

struct SettingRow {
  std::string name;      // "max_pages"; the flag is --max-pages, the environment ORBWEAVER_MAX_PAGES
  std::string sentence;  // what it does, for people
  std::string type;      // "duration", "size", "count", "text", "list", "one of host, domain, prefix, any", "yes or no"
  std::string default_text;
  std::string bounds;  // "1 to 65536", "" when none
  std::string why;     // why that default or bound
  bool ring_wide = false;
};

const std::vector<SettingRow>& setting_rows();

// A setting of an earlier release. For one release it is ignored with a warning
// (LoadedSettings::warnings), wherever it was given; then it is unknown.
struct GoneSetting {
  std::string_view name;
  std::string_view why;  // what applies instead, and what to do
};
const std::vector<GoneSetting>& gone_settings();
// nullptr: it is not such a setting.
const GoneSetting* find_gone(std::string_view name);

// The filter that `seen = bloom` asks for.
storage::SeenFilter::Config seen_filter_config(const Settings& settings);

// Every field has its row's default; a default-constructed Settings has not read the table.
Settings default_settings();

// Assigns one setting from text. The error names the setting, the text and what is allowed. Here and below, names and
// values of the previous release are accepted too (old_settings.h).
Result<void> set_setting(Settings& settings, std::string_view name, std::string_view text);
// The value as text; set_setting() turns it back into the same value.
std::string setting_text(const Settings& settings, std::string_view name);

// Ring-wide values as sorted (name, text), and back.
std::vector<std::pair<std::string, std::string>> ring_wide_settings(const Settings& settings);
Result<void> apply_ring_wide(Settings& settings, const std::vector<std::pair<std::string, std::string>>& values);

// Makes docs/reference/settings.md from the table.
std::string settings_markdown();

}  // namespace orbweaver
