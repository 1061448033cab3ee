#include "ring/host_port.h"

#include <algorithm>
#include <charconv>

#include "ring/messages.h"

namespace orbweaver::ring {

namespace {

bool is_ipv4_literal(const std::string& host) {
  return !host.empty() && host.find_first_not_of("0123456789.") == std::string::npos;
}

bool is_name_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '-' || c == '_';
}

bool is_ipv6_char(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F') || c == ':' || c == '.' || c == '%';
}

}  // namespace

std::string HostPort::endpoint() const {
  return "tcp://" + (is_ipv6 ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

bool HostPort::is_loopback() const {
  if (is_ipv6) return host == "::1";
  return host == "localhost" || (is_ipv4_literal(host) && host.starts_with("127."));
}

std::optional<HostPort> parse_host_port(std::string_view text) {
  constexpr std::size_t max_name = 253;  // RFC 1035, 2.3.4
  if (text.size() > max_address_bytes) return std::nullopt;
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos || colon == 0 || colon > max_name) return std::nullopt;
  HostPort parsed;
  const char* const end = text.data() + text.size();
  const auto [stop, failure] = std::from_chars(text.data() + colon + 1, end, parsed.port);
  if (failure != std::errc() || stop != end) return std::nullopt;
  parsed.host = text.substr(0, colon);
  if (parsed.host.front() == '[') {
    if (parsed.host.size() < 4 || parsed.host.back() != ']') return std::nullopt;
    parsed.host = parsed.host.substr(1, parsed.host.size() - 2);
    parsed.is_ipv6 = true;
    const bool plausible = parsed.host.find(':') != std::string::npos;
    if (!plausible || !std::all_of(parsed.host.begin(), parsed.host.end(), is_ipv6_char)) return std::nullopt;
    return parsed;
  }
  if (!std::all_of(parsed.host.begin(), parsed.host.end(), is_name_char)) return std::nullopt;
  return parsed;
}

}  // namespace orbweaver::ring
