// `orbweaver robots`: the crawler's robots.txt matcher as a tool for people and scripts. Reads any bytes; never throws.
#pragma once

#include <iosfwd>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace orbweaver {

// What `body` says to `agent` about `url`: {"allowed", "rule", "line", "group", "group_line", "crawl_delay_seconds"
// (null when there is none), "sitemaps"}. `url` is a URL or a path; what a URL may not hold is percent-encoded first,
// as the crawler does. Dump it with an error handler that replaces: the texts are the file's bytes, which need not be
// UTF-8.
nlohmann::json robots_report(std::string_view body, std::string_view agent, std::string_view url);

// Such reports of one file, each with its "url", for people.
std::string robots_text(const nlohmann::json& reports);

// JSON lines in, JSON lines out, one for one, flushed at the end:
//   {"robots_b64": "…" (absent: the file of the line before), "agent": "…", "url": "…"}  ->  {"allowed": true}
// A line that cannot be read is answered with {"error": "…"}. The URL is taken as it stands, nothing is encoded.
// Returns the exit code: 0, or 2 when a line could not be read.
int robots_batch(std::istream& in, std::ostream& out);

}  // namespace orbweaver
