#include "node/config/sources/toml_settings.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <optional>
#include <system_error>

// toml++ 3.3 asserts conditions that damaged input can violate (its pull request 301: "[[["), though the code after
// them copes. An assert here would let a file end the process in a build with asserts.
#define TOML_ASSERT(condition) static_assert(true)
#include <toml++/toml.h>

#include "node/config/old_settings.h"
#include "node/config/setting_def.h"
#include "node/text/shown.h"

namespace orbweaver {
namespace {

// A settings file has a few dozen lines; a megabyte is a mistake (a WARC file, a log).
constexpr std::size_t max_file_bytes = 1U << 20;

std::string position(const std::string& path, const toml::source_region& source) {
  return path + ":" + std::to_string(source.begin.line);
}

std::string_view type_words(const toml::node& node) {
  switch (node.type()) {
    case toml::node_type::string:
      return "a string";
    case toml::node_type::integer:
      return "a whole number";
    case toml::node_type::floating_point:
      return "a number with a point";
    case toml::node_type::boolean:
      return "true or false";
    case toml::node_type::array:
      return "an array";
    case toml::node_type::table:
      return "a table";
    default:
      return "a date or time";
  }
}

// How a value of this kind is written in the file.
std::string expected_words(const SettingDef& def) {
  switch (def.kind) {
    case SettingKind::duration:
    case SettingKind::size:
      return "a string with a unit, for example \"" + def.row.default_text + "\"";
    case SettingKind::count:
      return "a whole number, for example " + def.row.default_text;
    case SettingKind::list:
      return "an array of strings, for example [\"...\", \"...\"]";
    case SettingKind::yes_no:
      return "true or false";
    case SettingKind::choice:
      return "a string, " + def.row.type;
    case SettingKind::text:
      return "a string";
  }
  return {};
}

// The value as set_setting() expects it, or nothing when its type is wrong.
std::optional<std::string> value_text(const SettingDef& def, const toml::node& node) {
  switch (def.kind) {
    case SettingKind::count:
      return node.is_integer() ? std::optional{std::to_string(node.as_integer()->get())} : std::nullopt;
    case SettingKind::yes_no:
      return node.is_boolean() ? std::optional<std::string>{node.as_boolean()->get() ? "yes" : "no"} : std::nullopt;
    case SettingKind::list: {
      const toml::array* const array = node.as_array();
      if (array == nullptr) return std::nullopt;
      std::vector<std::string> entries;
      for (const toml::node& entry : *array) {
        if (!entry.is_string()) return std::nullopt;
        entries.push_back(entry.as_string()->get());
      }
      return join_list(entries, def.separator);
    }
    case SettingKind::size:
      // A bare number of bytes is clear enough where the name says bytes.
      if (node.is_integer()) return std::to_string(node.as_integer()->get());
      [[fallthrough]];
    default:
      return node.is_string() ? std::optional{node.as_string()->get()} : std::nullopt;
  }
}

// Text that toml++ 3.3 must not see, found line by line before parsing. The file is flat and its values are short, so
// nothing useful is lost, and the parser's weakest parts are not reached: table headers (above), texts over several
// lines, and characters outside ASCII where it looks for white space (U+00A1 to U+0499 there run into
// __builtin_unreachable).
struct Unsupported {
  std::size_t line = 0;
  std::string_view why;
};

// Checks one line alone: no text continues on the next.
std::string_view unsupported_in(std::string_view line) {
  const std::size_t first = line.find_first_not_of(" \t");
  if (first != std::string_view::npos && line[first] == '[') {
    return "a line begins with '[': the file is flat, settings are not grouped in tables";
  }
  char quote = 0;         // the quote that closes the present text
  bool may_begin = true;  // whether a text may begin here
  for (std::size_t at = 0; at < line.size(); ++at) {
    const char c = line[at];
    if (quote != 0) {
      if (c == '\\' && quote == '"') {
        ++at;
      } else if (c == quote) {
        quote = 0;
      }
    } else if (c == '#') {
      break;
    } else if (c == '"' || c == '\'') {
      if (line.substr(at, 3) == std::string(3, c)) return "a text over several lines: write it in one line";
      // Anywhere else the parser reads it as part of a word, and does not read the rest as a text.
      if (!may_begin) return "a quote where no text can begin";
      quote = c;
    } else if (static_cast<unsigned char>(c) >= 0x80) {
      return "a character outside ASCII: only quoted texts and comments may hold one";
    }
    if (c != ' ' && c != '\t') may_begin = quote == 0 && std::string_view("=,[{.").find(c) != std::string_view::npos;
  }
  return {};
}

std::optional<Unsupported> find_unsupported(std::string_view text) {
  std::size_t number = 1;
  for (std::size_t start = 0; start < text.size(); ++number) {
    const std::size_t end = std::min(text.find('\n', start), text.size());
    if (const std::string_view why = unsupported_in(text.substr(start, end - start)); !why.empty())
      return Unsupported{number, why};
    start = end + 1;
  }
  return std::nullopt;
}

struct FileCloser {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

}  // namespace

Result<std::vector<TomlEntry>> parse_toml_settings(std::string_view text, const std::string& path) {
  constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
  if (text.starts_with(byte_order_mark)) text.remove_prefix(byte_order_mark.size());
  if (const auto found = find_unsupported(text)) {
    return fail(ErrorCode::invalid_setting, path + ":" + std::to_string(found->line) + ": " + std::string(found->why));
  }
  toml::table table;
  try {
    table = toml::parse(text, std::string_view{path});
  } catch (const toml::parse_error& error) {
    return fail(ErrorCode::invalid_setting, position(path, error.source()) + ": " + std::string(error.description()));
  } catch (const std::exception& error) {
    return fail(ErrorCode::invalid_setting, path + ": cannot be read as TOML: " + error.what());
  }
  // toml++ sorts keys by name; here mistakes are reported, and later settings win, by line.
  std::vector<std::pair<std::string, const toml::node*>> nodes;
  for (const auto& [key, node] : table) nodes.emplace_back(std::string(key.str()), &node);
  std::stable_sort(nodes.begin(), nodes.end(),
                   [](const auto& a, const auto& b) { return a.second->source().begin < b.second->source().begin; });
  // Old names first: where both are given, the new one wins.
  std::stable_partition(nodes.begin(), nodes.end(),
                        [](const auto& node) { return name_of_now(node.first) != node.first; });
  std::vector<TomlEntry> entries;
  for (const auto& [name, node] : nodes) {
    const std::string where = position(path, node->source());
    const SettingDef* const def = find_setting(name_of_now(name));
    if (find_gone(name) != nullptr) {
      entries.push_back({name, {}, where});
      continue;
    }
    if (def == nullptr) {
      return fail(ErrorCode::invalid_setting, where + ": " + unknown_setting_text(name));
    }
    auto value = value_text(*def, *node);
    if (!value) {
      return fail(ErrorCode::invalid_setting, where + ": " + name + ": expected " + expected_words(*def) + ", found " +
                                                  std::string(type_words(*node)));
    }
    entries.push_back({name, std::move(*value), where});
  }
  return entries;
}

Result<std::vector<TomlEntry>> read_toml_settings(const std::string& path) {
  const auto unreadable = [&](int code) {
    return fail(ErrorCode::io,
                "cannot read the settings file " + shown(path) + ": " + std::generic_category().message(code));
  };
  const std::unique_ptr<std::FILE, FileCloser> file(std::fopen(path.c_str(), "rb"));
  if (!file) return unreadable(errno);
  std::string text(max_file_bytes + 1, '\0');
  errno = 0;
  text.resize(std::fread(text.data(), 1, text.size(), file.get()));
  if (std::ferror(file.get()) != 0) return unreadable(errno);
  if (text.size() > max_file_bytes) {
    return fail(ErrorCode::invalid_setting, shown(path) + " is larger than 1 MiB: it is hardly a settings file");
  }
  return parse_toml_settings(text, path);
}

}  // namespace orbweaver
