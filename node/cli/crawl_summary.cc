#include "node/cli/crawl_summary.h"

#include <array>
#include <cstdio>
#include <fstream>

#include "node/cli/peer_directories.h"
#include "node/system/private_file.h"
#include "node/try.h"

namespace orbweaver {

using nlohmann::json;

namespace {

std::string text_of(const json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

std::uint64_t number_of(const json& object, const char* name) { return object.value(name, std::uint64_t{0}); }

std::string digits(const json& object, const char* name) { return std::to_string(number_of(object, name)); }

std::string decimal(const char* format, double value) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), format, value);
  return text.data();
}

std::string outcome(const json& summary) {
  return std::string(summary.value("finished", false) ? "crawl ended: " : "crawl stopped: ") +
         text_of(summary, "reason");
}

// Text of a page, or of an attribute between double quotes.
std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

constexpr std::string_view head = R"(<!DOCTYPE html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Orbweaver: a crawl's summary</title>
<style>
:root { color-scheme: light dark; --ink: #1b1f24; --paper: #fff; --line: #c9ced6; --fetched: #1a7f37; --failed: #cf222e;
  --excluded: #8250df; --queued: #9a6700 }
@media (prefers-color-scheme: dark) { :root { --ink: #e6edf3; --paper: #0d1117; --line: #3d444d; --fetched: #3fb950;
  --failed: #f85149; --excluded: #bc8cff; --queued: #d29922 } }
body { font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); max-width: 60rem;
  margin: 2rem auto; padding: 0 1rem }
h1 { font-size: 1.4rem } h2 { font-size: 1.1rem; margin-top: 2rem }
table { border-collapse: collapse; width: 100% } th, td { text-align: left; padding: .3rem .6rem .3rem 0;
  border-bottom: 1px solid var(--line); vertical-align: top; overflow-wrap: anywhere }
td:first-child { white-space: nowrap }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap }
.bar { display: flex; height: 1.2rem; border-radius: .3rem; overflow: hidden; margin: 1rem 0 .3rem }
.fetched { background: var(--fetched) } .failed { background: var(--failed) } .excluded { background: var(--excluded) }
.queued { background: var(--queued) }
.key { display: inline-block; width: .8rem; height: .8rem; border-radius: .2rem; margin-right: .3rem }
</style>
)";

constexpr std::array<std::pair<const char*, const char*>, 4> states = {
    {{"fetched", "pages"}, {"failed", "failed"}, {"excluded", "excluded"}, {"queued", "queued"}}};

std::string row(const std::vector<std::pair<std::string, bool>>& cells, const char* tag) {
  std::string out = "<tr>";
  for (const auto& [text, number] : cells)
    out += std::string("<") + tag + (number ? " class=\"n\">" : ">") + escaped(text) + "</" + tag + ">";
  return out + "\n";
}

std::string ledger_bar(const json& summary) {
  std::uint64_t all = 0;
  for (const auto& [state, name] : states) all += number_of(summary, name);
  std::string bar = "<div class=\"bar\" role=\"img\" aria-label=\"the discovered URLs, by state\">";
  std::string table = "<table>\n";
  for (const auto& [state, name] : states) {
    const std::uint64_t count = number_of(summary, name);
    if (count > 0)
      bar += std::string("<div class=\"") + state + "\" style=\"flex:" + std::to_string(count) + "\"></div>";
    table += std::string("<tr><td><span class=\"key ") + state + "\"></span>" + state + "<td class=\"n\">" +
             std::to_string(count) + "\n";
  }
  return bar + "</div>\n" + table + "<tr><th>= discovered<th class=\"n\">" + std::to_string(all) + "\n</table>\n";
}

std::string reasons_table(const json& summary) {
  const json reasons = summary.value("reasons", json::array());
  if (reasons.empty()) return {};
  std::string out = "<h2>Why pages are missing</h2>\n<table>\n" +
                    row({{"state", false}, {"URLs", true}, {"reason", false}, {"an example", false}}, "th");
  for (const json& reason : reasons) {
    const std::string fix = text_of(reason, "fix");
    out += row({{text_of(reason, "state"), false},
                {digits(reason, "count"), true},
                {text_of(reason, "why") + (fix.empty() ? "" : "; " + fix), false},
                {text_of(reason, "example"), false}},
               "td");
  }
  return out + "</table>\n";
}

std::string peers_table(const json& summary) {
  std::string out = "<h2>Peers</h2>\n<table>\n" +
                    row({{"peer", false}, {"directory", false}, {"fetched", true}, {"forwarded", true}}, "th");
  for (const json& peer : summary.value("peers", json::array())) {
    const json counts = peer.value("counts", json::object());
    out += row({{text_of(peer, "id").substr(0, 8), false},
                {text_of(peer, "directory"), false},
                {digits(counts, "fetched"), true},
                {digits(counts, "forwarded"), true}},
               "td");
  }
  return out + "</table>\n";
}

json read_object(const std::string& path) {
  std::ifstream in(path);
  json object = json::parse(in, nullptr, false);
  return object.is_object() ? object : json::object();
}

}  // namespace

std::string summary_text(const json& summary) {
  std::string out = outcome(summary) + "\n  pages " + digits(summary, "pages") + "  failed " +
                    digits(summary, "failed") + "  excluded " + digits(summary, "excluded") + "  still queued " +
                    digits(summary, "queued") + "  in " + decimal("%.1f", summary.value("seconds", 0.0)) + " s\n";
  for (const json& reason : summary.value("reasons", json::array())) {
    const std::string fix = text_of(reason, "fix");
    out += "    " + text_of(reason, "state") + ": " + text_of(reason, "why") + ", " + digits(reason, "count") + ": " +
           text_of(reason, "example") + (fix.empty() ? "" : "; " + fix) + "\n";
  }
  if (const std::string unknown = text_of(summary, "reasons_unknown"); !unknown.empty())
    out += "    the reasons could not be read: " + unknown + "\n";
  if (const std::uint64_t left = number_of(summary.value("totals", json::object()), "links_out_of_scope"); left > 0)
    out += "  links out of scope, not followed: " + std::to_string(left) + "\n";
  for (const json& redirect : summary.value("redirects_out", json::array()))
    out += "  the seed " + text_of(redirect, "url") + " redirects to " + text_of(redirect, "to") +
           ", which is out of scope: " + text_of(redirect, "fix") + "\n";
  if (summary.contains("missed"))
    out += "  pages that the seen-set's filter may have missed: " + decimal("%.3g", summary.value("missed", 0.0)) +
           " expected\n";
  const json archives = summary.value("archive_dirs", json::array());
  for (const json& directory : archives) out += "  archive " + directory.get<std::string>() + "\n";
  if (!archives.empty()) out += "  index   orbweaver index " + text_of(summary, "out") + "\n";
  if (!summary.value("finished", false)) out += "  the same command continues where it stopped\n";
  return out;
}

std::string summary_html(const json& summary) {
  const double seconds = summary.value("seconds", 0.0);
  std::string out(head);
  out += "<h1>" + escaped(outcome(summary)) + "</h1>\n<p>" + digits(summary, "pages") + " pages in " +
         decimal("%.1f", seconds) + " s, in <code>" + escaped(text_of(summary, "out")) + "</code>.\n";
  out += ledger_bar(summary) + reasons_table(summary) + peers_table(summary);
  const json archives = summary.value("archive_dirs", json::array());
  if (!archives.empty()) out += "<h2>Archives</h2>\n<ul>\n";
  for (const json& directory : archives) out += "<li><code>" + escaped(directory.get<std::string>()) + "</code>\n";
  return out + (archives.empty() ? "" : "</ul>\n") + "</html>\n";
}

Result<void> write_summary(const std::string& directory, const json& summary, Durability durability) {
  const std::string text = summary.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
  ORBWEAVER_TRY(write_whole(directory + "/summary.json", text, durability));
  return write_whole(directory + "/summary.html", summary_html(summary), durability);
}

std::string why_it_stopped(const std::string& directory) {
  const json summary = read_object(directory + "/summary.json");
  if (!summary.empty()) return outcome(summary);
  for (const std::string& peer : peer_directories(directory).value_or(std::vector<std::string>())) {
    const json ended = read_object(peer + "/ended.json");
    if (const std::string reason = text_of(ended, "reason"); !reason.empty())
      return (ended.value("finished", false) ? "crawl ended: " : "crawl stopped: ") + reason;
  }
  return {};
}

}  // namespace orbweaver
