// Rows of the table: the canonical form of URLs, what counts as a link, and the commands that extract text from other
// formats.
#include <algorithm>
#include <array>

#include "node/config/setting_def.h"
#include "node/settings/text_command.h"
#include "node/text/shown.h"
#include "node/url/canonicaliser.h"

namespace orbweaver {
namespace {

constexpr std::array<std::string_view, 7> extra_link_names = {"resources", "cites",   "forms", "styles",
                                                              "json-ld",   "scripts", "text"};

std::string check_extra_link(std::string_view text) {
  if (std::find(extra_link_names.begin(), extra_link_names.end(), text) != extra_link_names.end()) return {};
  std::string allowed;
  for (const std::string_view name : extra_link_names) allowed += (allowed.empty() ? "" : ", ") + std::string(name);
  return shown(text) + " is not a kind of link: allowed are " + allowed;
}

std::string check_text_command(std::string_view text) {
  const Result<TextCommand> command = TextCommand::parse(text);
  return command ? std::string() : command.error().message;
}

}  // namespace

void add_canonical_settings(std::vector<SettingDef>& rows) {
  rows.push_back(yes_no_setting(
      {"strip_tracking", "Drop query parameters that only say where a visitor came from (utm_*, gclid and so on).",
       "A site may answer differently with them. The list is node/url/parameter_patterns.inc."},
      &Settings::strip_tracking, false));
  rows.push_back(list_setting(
      {"strip_parameters", "Further query parameters to drop, by name; * stands for any run of characters.",
       "Only someone who knows the site knows which of its parameters mean nothing."},
      &Settings::strip_parameters, "names, compared without regard to case", parameter_pattern_fault));
  rows.push_back(
      yes_no_setting({"sort_parameters", "Sort query parameters by name; those of one name keep their order.",
                      "To most programs the order means nothing, but some read the first or the last."},
                     &Settings::sort_parameters, false));
  rows.push_back(
      yes_no_setting({"strip_sessions", "Drop session ids from queries and paths (;jsessionid=…, PHPSESSID=…).",
                      "Some sites answer nothing without one. On others each visit gives all pages new URLs."},
                     &Settings::strip_sessions, false));
  rows.push_back(yes_no_setting({"strip_index", "Drop `index.html` and similar names at the end of a path.",
                                 "Nearly all servers give the same page, but nothing requires them to."},
                                &Settings::strip_index, false));
  rows.push_back(choice_setting({"trailing_slash", "Keep the last / of a path, or drop it, so that /x/ and /x are one.",
                                 "On some sites they are two pages."},
                                &Settings::trailing_slash, TrailingSlash::keep, {"keep", "drop"}));
  rows.push_back(
      yes_no_setting({"join_www", "Treat www.example.com and example.com as one host, under the name without www.",
                      "On some sites they are two, and some have no address without www."},
                     &Settings::join_www, false));
  rows.push_back(choice_setting(
      {"join_schemes", "Keep http and https URLs apart, or join them under the scheme named.",
       "A URL with a port of its own keeps its scheme. A host that does not speak the scheme named is lost."},
      &Settings::join_schemes, JoinSchemes::keep, {"keep", "http", "https"}));
  rows.push_back(
      choice_setting({"hash_bang", "Drop a fragment that begins with ! as any other, or keep it as a part of the URL.",
                      "Servers never see it. With `keep` each such URL is requested and archived under its own name."},
                     &Settings::hash_bang, HashBang::drop, {"drop", "keep"}));
}

void add_link_settings(std::vector<SettingDef>& rows) {
  rows.push_back(list_setting(
      {"extra_links",
       "Followed in addition to navigation: resources (images, scripts, styles), cites, forms (method get), styles "
       "(url() and @import), json-ld, scripts (strings that look like URLs), text (URLs in plain text).",
       "Navigation is what a visitor can click on; the others are guesses, or not pages."},
      &Settings::extra_links, "resources, cites, forms, styles, json-ld, scripts, text", check_extra_link));
  rows.push_back(yes_no_setting(
      {"page_requisites",
       "Fetch images, scripts, styles and what styles name with their page, at its depth, out of scope too.",
       "For archives that replay; it asks hosts that no seed named."},
      &Settings::page_requisites, false));
}

void add_text_command_settings(std::vector<SettingDef>& rows) {
  rows.push_back(
      choice_setting({"boilerplate", "Whether navigation, footers and similar blocks are left out of the text.",
                      "A corpus needs what a page says, not what every page of its site repeats (docs/how-to/corpus.md "
                      "has the rule)."},
                     &Settings::boilerplate, Boilerplate::drop, {"drop", "keep"}));
  rows.push_back(count_setting(
      {"max_text_fingerprints",
       "Pages whose texts' fingerprints are kept in memory, so that exact and near repeats are marked; 0: none.",
       "About 130 bytes each; the oldest are dropped. `orbweaver corpus` compares all pages of all peers."},
      &Settings::max_text_fingerprints, 250'000U, 0U, 20'000'000U));
  rows.push_back(list_setting({"text_commands",
                               "Commands that turn other formats into text. The body is standard input, UTF-8 text is "
                               "standard output; URLs in it are links.",
                               "None, because it runs a program of yours on what strangers serve. Example: "
                               "application/pdf=pdftotext - -; no shell, no commas."},
                              &Settings::text_commands, "TYPE=COMMAND each; TYPE may be audio/*", check_text_command));
  rows.push_back(duration_setting({"text_command_timeout", "A text command that runs longer is killed.",
                                   "A large PDF takes seconds; one made to stall a reader never ends."},
                                  &Settings::text_command_timeout, "30s", "10ms", "1h"));
  rows.push_back(size_setting({"max_text_command_bytes", "At most this much of a text command's output is read.",
                               "The text of a long book is a few MB."},
                              &Settings::max_text_command_bytes, "16MiB", "1KiB", "1GiB"));
}

}  // namespace orbweaver
