// docs/reference/settings.md, from the table; deploy/check compares the two.
#include <string>

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

A setting comes from one of four places; a later one wins: its default, the settings file, the environment, a flag.

| where | how `max_pages` is written there |
| --- | --- |
| settings file (TOML, flat) | `max_pages = 1000` |
| environment | `ORBWEAVER_MAX_PAGES=1000` |
| flag | `--max-pages 1000` |

- A **duration** is a number and a unit (`us`, `ms`, `s`, `m`, `h`, `d`): `300ms`, `1.5s`, `2m`. A **size**
  likewise (`B`, `KiB`, `MiB`, `GiB`, `TiB`, `KB`, `MB`, `GB`, `TB`): `64MiB`. In the file both are strings:
  `delay = "300ms"`; a bare number of bytes is taken too.
- A **list** is an array of strings in the file (`join = ["10.0.0.1:7700", "10.0.0.2:7700"]`), entries separated
  by commas in the environment, and a flag that may be given again and again. A list from a later place takes the
  place of the whole list.
- The file is flat: no `[tables]`, no text over several lines.
- **Yes or no** is `true` or `false` in the file; elsewhere `yes` and `no` do as well.
- An unknown name, a value of the wrong kind, or one out of bounds is an error that says where it stands and what
  is allowed. That holds for every environment variable that begins with `ORBWEAVER_`, except `ORBWEAVER_SUITES`,
  `ORBWEAVER_BINARY` and `ORBWEAVER_TEST_…` (the project's tests), and `ORBWEAVER_SERVICE_…` and `ORBWEAVER_PORT…`
  (Kubernetes makes them for a service named orbweaver).
- Refused together: `probe_timeout` not less than `probe_every`; `suspicion_time` less than `probe_every`;
  `body_memory_max` less than `body_bytes_max`; `outbox_memory_records` less than `batch_records`; a `listen`
  address other than loopback without a `ring_key_file`.
)";

}  // namespace

std::string settings_markdown() {
  std::string out(head);
  out +=
      "\n## Ring-wide\n\nEqual on every peer. A peer that joins takes them from the ring; one that was given another "
      "value is refused by name.\n\n";
  out += table(true);
  out += "\n## This peer's own\n\n";
  out += table(false);
  return out;
}

}  // namespace orbweaver
