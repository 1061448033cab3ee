// Escapes in the canonical form (canonical_url.cc, rule 4). Only node/url/ includes this.
#pragma once

#include <string>
#include <string_view>

namespace orbweaver {

// Appends `text`, of a path or a query, with "%xx" of unreserved characters decoded (RFC 3986, 6.2.2.2) and other
// escapes in upper-case digits (6.2.2.1); a '%' that starts no escape stays. Idempotent, even when '&'-separated parts
// of the result are removed or reordered: what is decoded depends on the part alone.
void append_normalised(std::string& out, std::string_view text);

}  // namespace orbweaver
