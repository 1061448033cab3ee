// IPv6 addresses as text: the URL standard's IPv6 parser and serialiser (RFC 5952's form).
// Thread rule: free functions.
#pragma once

#include <string>
#include <string_view>

namespace orbweaver {

// `input` is the text between '[' and ']'. On success `host` is "[...]" in RFC 5952's form; else it is unchanged.
bool parse_ipv6(std::string_view input, std::string& host);

}  // namespace orbweaver
