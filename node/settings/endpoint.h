// Addresses as text: "127.0.0.1:7700", "[::1]:7700", "peer.example:7700",
// and libcurl-like "HOST:PORT:ADDR". Pure; no name is looked up.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "node/base.h"

namespace orbweaver {

struct Endpoint {
  std::string host;  // without brackets
  std::uint16_t port = 0;
  bool is_ip = false;        // `host` is an address, not a name
  bool loopback = false;     // 127.0.0.0/8, ::1 (RFC 6890), or the name localhost (RFC 6761 6.3)
  std::string text() const;  // brackets around IPv6
};

// HOST:PORT; an IPv6 address in brackets. Port 0 is accepted: the caller decides whether it makes sense.
Result<Endpoint> parse_endpoint(std::string_view text);

// The address of a proxy: http:// or socks5h://, [USER:PASSWORD@]HOST:PORT, port 0 refused. The error does not repeat
// the text, which may contain a password.
Result<Endpoint> parse_proxy(std::string_view text);

// "docs.example:80:127.0.0.2": requests to that host and port connect to that address. Host "*": every host.
struct ResolveEntry {
  std::string host;  // lower case
  std::uint16_t port = 0;
  std::string address;  // an IP address without brackets
};

Result<ResolveEntry> parse_resolve_entry(std::string_view text);

}  // namespace orbweaver
