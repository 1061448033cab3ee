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

// What a page says: {"base", "charset", "links": [{"url", "kind", "nofollow"}], "skipped": {"scheme", "malformed"},
// "meta": {"nofollow", "noindex"}}, and with tidy "title" and "language" too. `url` is the canonical form; each link of
// the page is listed, in order, those with nofollow also. `content_type` is the header's value, empty when there is
// none; `link_fields` are the values of Link fields. Links beside navigation are listed as `rules` choose. A `base_url`
// that is not a URL gives {"error"}. Dump it with an error handler that replaces: titles may hold malformed UTF-8.
nlohmann::json links_report(std::string_view html_bytes, std::string_view base_url, std::string_view content_type,
                            ParserKind parser, const LinkRules& rules = {},
                            const std::vector<std::string>& link_fields = {});

// JSON lines in, JSON lines out, one for one:
//   {"base_url": "…", "html_b64": "…", "charset": "…" or null}  ->  {"links": ["…absolute…"]}
// The links that may be followed, each once, in order, as the WHATWG serialisation without fragment (not the crawler's
// canonical form). A charset counts as the Content-Type's. A line that cannot be read is answered with {"error": "…"}.
// Returns the exit code: 0, or 2 when a line could not be read.
int links_batch(std::istream& in, std::ostream& out, ParserKind parser);

}  // namespace orbweaver
