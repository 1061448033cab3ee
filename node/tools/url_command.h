// `orbweaver url`: the crawler's own URL parser and canonicaliser as a tool for people and scripts.
// Thread rule: free functions. Any input is safe.
#pragma once

#include <iosfwd>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

#include "node/base.h"
#include "node/url/canonicaliser.h"

namespace orbweaver {

// What the crawler makes of one URL, as a JSON object of valid UTF-8:
//   "input", "base" (or null), "href" (WHATWG serialisation, with the fragment), "canonical" (the form the crawler keys
//   by; null when it does not crawl such URLs, and then "refused" says why), "canonical_rules" (what makes it differ
//   from "href": see canonicaliser.h), "scheme", "host" and "port" (the effective one), null where there is none,
//   "registrable_domain", "surt", "cdx_key", "partition" (of partitions_default); null where "canonical" is.
// An error when the text is not a URL.
Result<nlohmann::json> url_report(std::string_view text, std::optional<std::string_view> base = std::nullopt,
                                  const Canonicaliser& canonicaliser = {});

// The same report with what a peer of a ring said of the URL to the question "explain": the ring's canonical form and
// its rules in place of this process's, its partition, and "owner" and "owner_address".
void add_owner(nlohmann::json& report, const nlohmann::json& explained);

// JSON lines in, one JSON line out for each, flushed at the end:
//   {"input": "...", "base": "..." or null}  ->  {"href": "..." or null}   (WHATWG serialisation, with the fragment)
// A line that is no such object is answered with {"error": "...", "href": null}. Returns the exit code: 0, or 2 when
// there was such a line.
int url_batch(std::istream& in, std::ostream& out);

}  // namespace orbweaver
