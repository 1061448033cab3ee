// Whom a peer tells what has happened: the settings notify_*.
#include "node/config/setting_def.h"
#include "node/settings/notice_kinds.h"
#include "node/url/url.h"

namespace orbweaver {

namespace {

std::string check_notify_url(std::string_view text) {
  if (text.empty()) return {};
  const auto url = Url::parse(text);
  if (!url || (url->scheme() != "http" && url->scheme() != "https")) return "it is not an http or https URL";
  return {};
}

std::string check_notify_event(std::string_view text) {
  return text == "all" || find_notice_kind(text) != nullptr ? std::string{} : "there is no such event";
}

std::string event_names() {
  std::string names = "all";
  for (const NoticeKind& kind : notice_kinds) names += ", " + std::string(kind.name);
  return names;
}

}  // namespace

void add_notify_settings(std::vector<SettingDef>& rows) {
  rows.push_back(text_setting({"notify_url",
                               "What happens is sent there as JSON, by POST, until it is taken: docs/how-to/notify.md. "
                               "Empty: nowhere.",
                               "Only you know where your messages are read."},
                              &Settings::notify_url, "", "http:// or https://", check_notify_url));
  rows.push_back(text_setting({"notify_command",
                               "This command runs for each event, with the same JSON as its standard input, and again "
                               "later when it fails. Words between spaces; no shell. Empty: none.",
                               "It runs as the peer's user."},
                              &Settings::notify_command, "", "a command", [](std::string_view) { return ""; }));
  rows.push_back(
      list_setting({"notify_events", "The events that are told. Empty: those that an operator may have to act upon.",
                    "`archive_file_closed` comes for each file, for programs that take the archive away."},
                   &Settings::notify_events, event_names(), check_notify_event));
}

}  // namespace orbweaver
