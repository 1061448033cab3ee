#include "node/cli/setting_flags.h"

#include <algorithm>

#include "node/config/old_settings.h"
#include "node/config/settings_table.h"
#include "node/config/sources/load_settings.h"
#include "node/terminal/say.h"

namespace orbweaver {

void add_setting_flags(CLI::App& command, SettingFlags& flags, const std::vector<std::string>& except) {
  command.add_option("--config", flags.config, "settings file (TOML); flags and ORBWEAVER_* variables override it")
      ->type_name("FILE");
  for (const SettingRow& row : setting_rows()) {
    if (std::find(except.begin(), except.end(), row.name) != except.end()) continue;
    std::string flag = "--" + row.name;
    std::replace(flag.begin(), flag.end(), '_', '-');
    const bool yes_or_no = row.type == "yes or no";
    const auto keep = [&flags, name = row.name, yes_or_no](const std::vector<std::string>& texts) {
      for (const std::string& text : texts) flags.given.emplace_back(name, yes_or_no && text.empty() ? "yes" : text);
      return true;
    };
    std::string help = row.sentence;
    if (!row.default_text.empty()) help += " [" + row.default_text + "]";
    CLI::Option* option =
        command.add_option(flag, CLI::callback_t(keep), help)
            ->group(row.ring_wide ? "Ring-wide settings (equal on every peer)" : "This peer's own settings")
            ->type_name(row.type)
            ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    if (yes_or_no) option->expected(0, 1);
  }
  // Flags that no longer exist or were renamed: accepted, but not in the help.
  const auto add_hidden = [&command, &flags](std::string_view name, bool without_value) {
    std::string flag = "--" + std::string(name);
    std::replace(flag.begin(), flag.end(), '_', '-');
    const auto keep = [&flags, name = std::string(name)](const std::vector<std::string>& texts) {
      for (const std::string& text : texts) flags.given.emplace_back(name, text);
      return true;
    };
    CLI::Option* option = command.add_option(flag, CLI::callback_t(keep))->group("");
    option->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    if (without_value) option->expected(0, 1);
  };
  for (const GoneSetting& gone : gone_settings()) add_hidden(gone.name, true);
  for (const OldName& old : old_names())
    if (std::find(except.begin(), except.end(), old.name) == except.end()) add_hidden(old.was, false);
}

Result<LoadedSettings> SettingFlags::load() const {
  Result<LoadedSettings> loaded = load_settings(config, given);
  if (loaded && !quiet)
    for (const std::string& warning : loaded->warnings) complain("%s", warning.c_str());
  return loaded;
}

}  // namespace orbweaver
