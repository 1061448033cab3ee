// A row of the settings table: the words for people, and how to parse, check and print the field. Only node/config/
// includes this. Pure; the rows never change once made.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "node/config/settings_table.h"
#include "node/settings/settings.h"
#include "node/settings/units.h"

namespace orbweaver {

enum class SettingKind : std::uint8_t { duration, size, count, text, list, choice, yes_no };

struct SettingDef {
  SettingRow row;
  SettingKind kind = SettingKind::text;
  char separator = ',';    // of a list's entries
  bool from_file = false;  // a list: an entry "@FILE" stands for the lines of that file (list_file.h)
  // The error only says what is wrong and what is allowed; set_setting() adds the name in front.
  std::function<Result<void>(Settings&, std::string_view)> set;
  std::function<std::string(const Settings&)> print;
};

// All rows: ring-wide ones first, in the order of docs/reference/settings.md.
const std::vector<SettingDef>& setting_defs();

// nullptr: there is no such setting.
const SettingDef* find_setting(std::string_view name);

// The setting with a similar name that was probably meant, or empty.
std::string nearest_setting(std::string_view name);
// "unknown setting 'dealy'; did you mean 'delay'?"
std::string unknown_setting_text(std::string_view name);

// The rows of settings_links.cc: the first two ring-wide, the last a peer's own.
void add_canonical_settings(std::vector<SettingDef>& rows);
void add_link_settings(std::vector<SettingDef>& rows);
void add_text_command_settings(std::vector<SettingDef>& rows);

// The rows of settings_limits.cc: bounds of everything from outside. A peer's own.
void add_limit_settings(std::vector<SettingDef>& rows);

// The rows of settings_seen.cc: the seen-set. A peer's own.
void add_seen_settings(std::vector<SettingDef>& rows);

// The rows of settings_notify.cc: whom a peer tells what has happened. A peer's own.
void add_notify_settings(std::vector<SettingDef>& rows);

// The rows of settings_scope.cc: which URLs belong to the crawl, its budgets, its traps. Ring-wide.
void add_scope_settings(std::vector<SettingDef>& rows);

// The rows of settings_order.cc: the order of the crawl, ring-wide, and a peer's own settings for it.
void add_order_settings(std::vector<SettingDef>& rows);
void add_own_order_settings(std::vector<SettingDef>& rows);
// Checks order, best_by and topic together.
Result<void> check_order(const Settings& settings);

// A list's entries in one text: separated by commas, or by spaces where entries contain commas (SettingDef::separator).
std::vector<std::string> split_list(std::string_view text, char separator = ',');
std::string join_list(const std::vector<std::string>& entries, char separator = ',');

// The fault of a range of addresses ("10.0.0.0/8"), or empty.
std::string check_cidr(std::string_view text);

// Contradictions between settings that are each within bounds; the error names both.
Result<void> check_together(const Settings& settings);

// --- makers of rows, one for each kind of field ---

// The texts for people.
struct Words {
  std::string name;
  std::string sentence;
  std::string why;
};

template <class T>
using Field = T Settings::*;
// Returns the fault of a text, or an empty text.
using TextCheck = std::function<std::string(std::string_view)>;

SettingDef duration_setting(Words words, Field<Duration> field, std::string_view default_text, std::string_view min,
                            std::string_view max);
SettingDef size_setting(Words words, Field<std::uint64_t> field, std::string_view default_text, std::string_view min,
                        std::string_view max);
SettingDef count_setting(Words words, Field<std::uint32_t> field, std::uint32_t by_default, std::uint32_t min,
                         std::uint32_t max);
SettingDef count_setting(Words words, Field<std::uint64_t> field, std::uint64_t by_default, std::uint64_t min,
                         std::uint64_t max);
SettingDef yes_no_setting(Words words, Field<bool> field, bool by_default);
SettingDef text_setting(Words words, Field<std::string> field, std::string_view default_text, std::string_view bounds,
                        TextCheck check);
SettingDef list_setting(Words words, Field<std::vector<std::string>> field, std::string_view bounds,
                        TextCheck check_entry, char separator = ',');

// One of several names: `get` and `put` use positions in `names`.
SettingDef choice_setting(Words words, std::function<std::size_t(const Settings&)> get,
                          std::function<void(Settings&, std::size_t)> put, std::size_t by_default,
                          std::vector<std::string> names);

// For an enum whose values count from 0 in the order of `names`.
template <class Enum>
SettingDef choice_setting(Words words, Field<Enum> field, Enum by_default, std::vector<std::string> names) {
  return choice_setting(
      std::move(words), [field](const Settings& s) { return static_cast<std::size_t>(s.*field); },
      [field](Settings& s, std::size_t at) { s.*field = static_cast<Enum>(at); }, static_cast<std::size_t>(by_default),
      std::move(names));
}

}  // namespace orbweaver
