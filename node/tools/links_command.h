// `orbweaver links`: the crawler's own link extractor as a tool for people and scripts. Reads any bytes; never throws.
#pragma once

#include <iosfwd>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "node/html/links.h"
#include "node/settings/settings.h"

namespace orbweaver {

// The links of a page: {"base", "charset", "links": [{"url", "kind", "nofollow"}], "skipped": {"scheme", "malformed"},
// "meta": {"nofollow", "noindex"}}, and with tidy "title" and "language" too. `url` is the canonical form. All links
// are listed in order, including those with nofollow. `content_type` is the header's value, empty when there is none;
// `link_fields` are the values of Link fields. `rules` choose the listed links apart from navigation. A `base_url` that
// is not a URL gives {"error"}. Dump it with a replacing error handler: titles may contain malformed UTF-8.
nlohmann::json links_report(std::string_view html_bytes, std::string_view base_url, std::string_view content_type,
                            ParserKind parser, const LinkRules& rules = {},
                            const std::vector<std::string>& link_fields = {});

// Reads JSON lines and writes one JSON line for each:
//   {"base_url": "…", "html_b64": "…", "charset": "…" or null}  ->  {"links": ["…absolute…"]}
// The links that may be followed, each once, in order, as the WHATWG serialisation without fragment (not the crawler's
// canonical form). A charset is treated as the Content-Type's. An unreadable line is answered with {"error": "…"}.
// Returns the exit code: 0, or 2 when a line was unreadable.
int links_batch(std::istream& in, std::ostream& out, ParserKind parser);

}  // namespace orbweaver
