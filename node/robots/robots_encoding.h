// The bytes of a robots.txt as UTF-8. RFC 9309 requires UTF-8; files saved as UTF-16 exist and are accepted.
#pragma once

#include <string>
#include <string_view>

namespace orbweaver::robots {

// Drops a UTF-8 byte order mark (or its first bytes); turns UTF-16 with a byte order mark into UTF-8, unpaired
// surrogates into U+FFFD. Anything else is returned unchanged. `scratch` contains the text when it was converted.
std::string_view as_utf8(std::string_view body, std::string& scratch);

}  // namespace orbweaver::robots
