// A peer's address as text, "HOST:PORT": "peer.example:7400", "10.0.0.1:7400", "[::1]:7400". Pure; no name is looked
// up.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace orbweaver::ring {

struct HostPort {
  std::string host;  // without brackets
  std::uint16_t port = 0;
  bool is_ipv6 = false;          // a literal
  std::string endpoint() const;  // "tcp://host:port", IPv6 in brackets
  bool is_loopback() const;      // 127.0.0.0/8, ::1, localhost
};

// Accepts only "host:port", "1.2.3.4:port" and "[v6]:port" of at most max_address_bytes bytes, else returns nothing. So
// an accepted address is printable ASCII.
std::optional<HostPort> parse_host_port(std::string_view text);

}  // namespace orbweaver::ring
