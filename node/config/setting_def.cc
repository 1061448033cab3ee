// The makers of rows: one for each kind of field, with its parsing, bounds and printing.
#include "node/config/setting_def.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>

#include "node/text/shown.h"

namespace orbweaver {
namespace {

tl::unexpected<Error> bad(std::string message) { return fail(ErrorCode::invalid_setting, std::move(message)); }

// A bound in the table that cannot be parsed is a bug of our own.
template <class T>
T must(const Result<T>& result) {
  if (!result) std::abort();
  return *result;
}

SettingDef make(Words words, SettingKind kind, std::string type, std::string default_text, std::string bounds) {
  SettingDef def;
  def.kind = kind;
  def.row.name = std::move(words.name);
  def.row.sentence = std::move(words.sentence);
  def.row.why = std::move(words.why);
  def.row.type = std::move(type);
  def.row.default_text = std::move(default_text);
  def.row.bounds = std::move(bounds);
  return def;
}

std::string outside(std::string_view text, std::string_view bounds) {
  return shown(text) + " is out of bounds: allowed is " + std::string(bounds);
}

// Durations and sizes differ only in how they are read.
template <class T, class Parse>
SettingDef quantity(Words words, SettingKind kind, std::string type, Field<T> field, std::string_view default_text,
                    std::string_view min_text, std::string_view max_text, Parse parse) {
  const std::string bounds = std::string(min_text) + " to " + std::string(max_text);
  SettingDef def = make(std::move(words), kind, std::move(type), std::string(default_text), bounds);
  const T min = must(parse(min_text));
  const T max = must(parse(max_text));
  def.set = [=](Settings& settings, std::string_view text) -> Result<void> {
    const Result<T> value = parse(text);
    if (!value) return tl::make_unexpected(value.error());
    if (*value < min || *value > max) return bad(outside(text, bounds));
    settings.*field = *value;
    return {};
  };
  return def;
}

template <class T>
SettingDef count(Words words, Field<T> field, T by_default, T min, T max) {
  const std::string bounds = std::to_string(min) + " to " + std::to_string(max);
  SettingDef def = make(std::move(words), SettingKind::count, "count", std::to_string(by_default), bounds);
  def.set = [=](Settings& settings, std::string_view text) -> Result<void> {
    T value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool whole = end == text.data() + text.size() && !text.empty();
    if (error == std::errc::result_out_of_range && whole) return bad(outside(text, bounds));
    if (error != std::errc{} || !whole) return bad(shown(text) + " is not a whole number: allowed is " + bounds);
    if (value < min || value > max) return bad(outside(text, bounds));
    settings.*field = value;
    return {};
  };
  def.print = [field](const Settings& settings) { return std::to_string(settings.*field); };
  return def;
}

bool has_control_character(std::string_view text) {
  return std::any_of(text.begin(), text.end(),
                     [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
}

constexpr std::size_t max_text_bytes = 4096;
constexpr std::size_t max_entries = 65536;

std::string_view trim(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

}  // namespace

std::vector<std::string> split_list(std::string_view text, char separator) {
  std::vector<std::string> out;
  if (trim(text).empty()) return out;
  for (std::size_t start = 0; start <= text.size();) {
    const std::size_t end = std::min(text.find(separator, start), text.size());
    // Several spaces may follow each other; between two commas an entry is missing.
    const std::string_view entry = trim(text.substr(start, end - start));
    if (separator != ' ' || !entry.empty()) out.emplace_back(entry);
    start = end + 1;
  }
  return out;
}

std::string join_list(const std::vector<std::string>& entries, char separator) {
  std::string out;
  for (const std::string& entry : entries) {
    if (!out.empty()) out += separator;
    out += entry;
  }
  return out;
}

SettingDef duration_setting(Words words, Field<Duration> field, std::string_view default_text, std::string_view min,
                            std::string_view max) {
  SettingDef def =
      quantity(std::move(words), SettingKind::duration, "duration", field, default_text, min, max, &parse_duration);
  def.print = [field](const Settings& settings) { return duration_text(settings.*field); };
  return def;
}

SettingDef size_setting(Words words, Field<std::uint64_t> field, std::string_view default_text, std::string_view min,
                        std::string_view max) {
  SettingDef def = quantity(std::move(words), SettingKind::size, "size", field, default_text, min, max, &parse_size);
  def.print = [field](const Settings& settings) { return size_text(settings.*field); };
  return def;
}

SettingDef count_setting(Words words, Field<std::uint32_t> field, std::uint32_t by_default, std::uint32_t min,
                         std::uint32_t max) {
  return count(std::move(words), field, by_default, min, max);
}

SettingDef count_setting(Words words, Field<std::uint64_t> field, std::uint64_t by_default, std::uint64_t min,
                         std::uint64_t max) {
  return count(std::move(words), field, by_default, min, max);
}

SettingDef yes_no_setting(Words words, Field<bool> field, bool by_default) {
  SettingDef def = make(std::move(words), SettingKind::yes_no, "yes or no", by_default ? "yes" : "no", "");
  def.set = [field](Settings& settings, std::string_view text) -> Result<void> {
    if (text == "yes" || text == "true") {
      settings.*field = true;
    } else if (text == "no" || text == "false") {
      settings.*field = false;
    } else {
      return bad(shown(text) + " is not yes or no: allowed is yes, no, true or false");
    }
    return {};
  };
  def.print = [field](const Settings& settings) { return settings.*field ? "yes" : "no"; };
  return def;
}

SettingDef text_setting(Words words, Field<std::string> field, std::string_view default_text, std::string_view bounds,
                        TextCheck check) {
  SettingDef def = make(std::move(words), SettingKind::text, "text", std::string(default_text), std::string(bounds));
  def.set = [field, check = std::move(check)](Settings& settings, std::string_view text) -> Result<void> {
    if (text.size() > max_text_bytes)
      return bad(shown(text) + " is longer than " + std::to_string(max_text_bytes) + " bytes");
    if (has_control_character(text)) return bad(shown(text) + " holds a control character");
    if (const std::string wrong = check(text); !wrong.empty()) return bad(wrong);
    settings.*field = std::string(text);
    return {};
  };
  def.print = [field](const Settings& settings) { return settings.*field; };
  return def;
}

SettingDef list_setting(Words words, Field<std::vector<std::string>> field, std::string_view bounds,
                        TextCheck check_entry, char separator) {
  SettingDef def = make(std::move(words), SettingKind::list, "list", "", std::string(bounds));
  def.separator = separator;
  def.set = [field, separator, check = std::move(check_entry)](Settings& settings,
                                                               std::string_view text) -> Result<void> {
    std::vector<std::string> entries = split_list(text, separator);
    if (entries.size() > max_entries) return bad("has more than " + std::to_string(max_entries) + " entries");
    for (const std::string& entry : entries) {
      if (has_control_character(entry)) return bad(shown(entry) + " holds a control character");
      if (const std::string wrong = check(entry); !wrong.empty()) return bad(wrong);
    }
    settings.*field = std::move(entries);
    return {};
  };
  def.print = [field, separator](const Settings& settings) { return join_list(settings.*field, separator); };
  return def;
}

SettingDef choice_setting(Words words, std::function<std::size_t(const Settings&)> get,
                          std::function<void(Settings&, std::size_t)> put, std::size_t by_default,
                          std::vector<std::string> names) {
  std::string listed;
  for (const std::string& name : names) listed += (listed.empty() ? "" : ", ") + name;
  SettingDef def = make(std::move(words), SettingKind::choice, "one of " + listed, names.at(by_default), "");
  def.print = [get = std::move(get), names](const Settings& settings) { return names.at(get(settings)); };
  def.set = [put = std::move(put), names = std::move(names), listed](Settings& settings,
                                                                     std::string_view text) -> Result<void> {
    const auto found = std::find(names.begin(), names.end(), text);
    if (found == names.end()) return bad(shown(text) + " is not one of " + listed);
    put(settings, static_cast<std::size_t>(found - names.begin()));
    return {};
  };
  return def;
}

}  // namespace orbweaver
