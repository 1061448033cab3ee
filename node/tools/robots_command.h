// `orbweaver robots`: the crawler's robots.txt matcher as a tool for people and scripts. Reads any bytes; never throws.
#pragma once

#include <iosfwd>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace orbweaver {

// The rule of `body` for `agent` and `url`: {"allowed", "rule", "line", "group", "group_line", "crawl_delay_seconds"
// (null when there is none), "sitemaps"}. `url` is a URL or a path; characters that a URL may not contain are
// percent-encoded first, as in the crawler. Dump it with an error handler that replaces: the texts are the file's
// bytes, which may not be UTF-8.
nlohmann::json robots_report(std::string_view body, std::string_view agent, std::string_view url);

// Such reports on one file, each with its "url", as text for people.
std::string robots_text(const nlohmann::json& reports);

// Reads JSON lines and writes one JSON line for each, flushed at the end:
//   {"robots_b64": "…" (absent: the file of the line before), "agent": "…", "url": "…"}  ->  {"allowed": true}
// An unreadable line is answered with {"error": "…"}. The URL is used as it is, without encoding. Returns the exit
// code: 0, or 2 when a line was unreadable.
int robots_batch(std::istream& in, std::ostream& out);

}  // namespace orbweaver
