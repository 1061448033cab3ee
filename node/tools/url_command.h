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

// The crawler's result for one URL, as a JSON object of valid UTF-8:
//   "input", "base" (or null), "href" (WHATWG serialisation, with the fragment), "canonical" (the form the crawler keys
//   by; null when it does not crawl such URLs: "refused" says why), "canonical_rules" (the rules that changed it
//   from "href": see canonicaliser.h), "scheme", "host" and "port" (the effective one), null where there is none,
//   "registrable_domain", "surt", "cdx_key", "partition" (of partitions_default); null where "canonical" is.
// An error if the text is not a URL.
Result<nlohmann::json> url_report(std::string_view text, std::optional<std::string_view> base = std::nullopt,
                                  const Canonicaliser& canonicaliser = {});

// The same report with a ring's answer to the question "explain" about the URL: the ring's canonical form and rules
// replace this process's; also its partition, "owner" and "owner_address".
void add_owner(nlohmann::json& report, const nlohmann::json& explained);

// Reads JSON lines and writes one JSON line for each, flushed at the end:
//   {"input": "...", "base": "..." or null}  ->  {"href": "..." or null}   (WHATWG serialisation, with the fragment)
// A line that is not such an object is answered with {"error": "...", "href": null}. Returns the exit code: 0, or 2
// when there was such a line.
int url_batch(std::istream& in, std::ostream& out);

}  // namespace orbweaver
