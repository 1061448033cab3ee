// Links in a response's head: Link fields (RFC 8288) and Refresh. Pure functions.
#pragma once

#include <string>
#include <vector>

#include "node/html/links.h"

namespace orbweaver::html {

// Adds the links of Link fields whose relation is followed in <link> too: canonical, alternate, next, prev and, as
// chosen, stylesheets and resources loaded with the page. `values` are the fields' values; a malformed part ends its
// field (RFC 8288, appendix B.2). A link with an "anchor" is another resource's and is left out.
void note_link_fields(const std::vector<std::string>& values, LinkChoice choice, PageLinks& page);

// Adds the target of a Refresh field that has one: it is read like <meta http-equiv=refresh> (HTML standard, 7.4.6.2).
void note_refresh_field(std::string_view value, PageLinks& page);

}  // namespace orbweaver::html
