// Makes docs/reference/settings.md from the table; deploy/check compares the two.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <string>
#include <string_view>

#include "node/config/old_settings.h"
#include "node/config/setting_def.h"

namespace orbweaver {
namespace {

std::string cell(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '|') out += '\\';
    out += c;
  }
  return out;
}

std::string code(std::string_view text) { return text.empty() ? "" : "`" + cell(text) + "`"; }

std::string table(bool ring_wide) {
  std::string out =
      "| setting | what it does | type | default | bounds | why |\n| --- | --- | --- | --- | --- | --- |\n";
  for (const SettingRow& row : setting_rows()) {
    if (row.ring_wide != ring_wide) continue;
    out += "| `" + row.name + "` | " + cell(row.sentence) + " | " + cell(row.type) + " | " + code(row.default_text) +
           " | " + cell(row.bounds) + " | " + cell(row.why) + " |\n";
  }
  return out;
}

constexpr std::string_view head = R"(# Settings

This page is made from the table in the code: `orbweaver settings --markdown > docs/reference/settings.md`.

A setting comes from one of four places: its default, the settings file, the environment, a flag. A later one wins.

| where | how `max_pages` is written there |
| --- | --- |
| settings file (TOML, flat) | `max_pages = 1000` |
| environment | `ORBWEAVER_MAX_PAGES=1000` |
| flag | `--max-pages 1000` |

)";

constexpr std::string_view kinds = R"(
## How values are written

- A **duration** is a number and a unit (`us`, `ms`, `s`, `m`, `h`, `d`): `300ms`, `1.5s`, `2m`. In the file it is a
  string: `delay = "300ms"`.
- A **size** is a number and a unit (`B`, `KiB`, `MiB`, `GiB`, `TiB`, `KB`, `MB`, `GB`, `TB`): `64MiB`. In the file it
  is a string, or a bare number of bytes.
- A **list** is an array of strings in the file (`join = ["10.0.0.1:7700", "10.0.0.2:7700"]`). In the environment
  commas separate its entries, and a flag may be repeated. A list from a later place replaces the whole list.
- **Yes or no** is `true` or `false` in the file; elsewhere `yes` and `no` work too.
- The file is flat: no `[tables]`, no strings over several lines.
- An unknown name, a value of the wrong kind, or one out of bounds is an error. The message says where it is and what
  is allowed.
- This applies to every environment variable that begins with `ORBWEAVER_`. Exceptions are those of the project's tests
  (`ORBWEAVER_SUITES`, `ORBWEAVER_BINARY`, `ORBWEAVER_TEST_…`), and those that Kubernetes makes for a service named
  orbweaver (`ORBWEAVER_SERVICE_…`, `ORBWEAVER_PORT…`).

These combinations are refused:

- `probe_timeout` not less than `probe_every`
- `suspicion_time` less than `probe_every`
- `max_body_memory` less than `max_body_bytes`
- `max_outbox_records_in_memory` less than `max_batch_records`
- a `listen` address other than loopback without a `ring_key_file`
)";

std::string old_names_table() {
  std::string out =
      "\n## Old names\n\nReleases before " + std::string(old_settings_end) +
      " take these too, wherever a setting is given, with a warning. Data directories that have them are read.\n\n"
      "| old | new |\n| --- | --- |\n";
  for (const OldName& old : old_names()) out += "| " + code(old.was) + " | " + code(old.name) + " |\n";
  for (const OldValue& old : old_values()) {
    const std::string is = std::string(old.name) + " = ";
    out += "| " + code(is + std::string(old.was)) + " | " + code(is + std::string(old.value)) + " |\n";
  }
  return out;
}

// The settings that most people need, in the order in which they need them.
constexpr std::array<std::string_view, 12> dozen = {"contact",    "scope",  "max_pages", "max_depth",
                                                    "url_deny",   "delay",  "text",      "page_requisites",
                                                    "max_memory", "listen", "join",      "ring_key_file"};

std::string dozen_table() {
  std::string out = "## The dozen that most people need\n\n| setting | what it does | default |\n| --- | --- | --- |\n";
  for (const std::string_view name : dozen) {
    const auto row = std::ranges::find(setting_rows(), name, &SettingRow::name);
    if (row == setting_rows().end()) std::abort();  // renamed: rename it above
    out += "| `" + row->name + "` | " + cell(row->sentence) + " | " + code(row->default_text) + " |\n";
  }
  return out;
}

}  // namespace

std::string settings_markdown() {
  std::string out(head);
  out += dozen_table();
  out += kinds;
  out +=
      "\n## Ring-wide\n\nThese are the same on every peer. A joining peer takes them from the ring. A peer that was "
      "given "
      "another value is refused, and the refusal names the setting.\n\n";
  out += table(true);
  out += "\n## This peer's own\n\n";
  out += table(false);
  out += old_names_table();
  return out;
}

}  // namespace orbweaver
