// The URL standard's host parser and host serialiser in one: text to the serialised host.
// Thread rule: free functions. Cost: one pass for a plain ASCII name; ICU for the rest.
#pragma once

#include <string>
#include <string_view>

namespace orbweaver {

// Why a host is refused; null when it is accepted. A string literal.
using HostFailure = const char*;

// Parses `input` (well-formed UTF-8, not empty unless opaque) into `host`: "example.com", "192.0.2.1", "[::1]"; with
// `opaque` (schemes that are not special) only percent-encoded.
HostFailure parse_host(std::string_view input, bool opaque, std::string& host);

// Is this serialised host of a special scheme an IPv4 or IPv6 address? (A name never ends in a number.)
bool is_ip_address(std::string_view host);

}  // namespace orbweaver
