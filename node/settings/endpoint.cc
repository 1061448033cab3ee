#include "node/settings/endpoint.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "node/settings/cidr.h"
#include "node/text/shown.h"

namespace orbweaver {
namespace {

std::optional<std::uint16_t> parse_port(std::string_view text) {
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return port;
}

// Letters, digits, '-', '.', '_' and not all digits and dots: a mistyped address must not pass as a name (RFC
// 1123 2.1).
bool is_name(std::string_view text) {
  constexpr std::size_t max_name = 253;  // RFC 1035 2.3.4
  if (text.empty() || text.size() > max_name || text.front() == '.' || text.front() == '-') return false;
  const auto allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '.' ||
           c == '_';
  };
  return std::all_of(text.begin(), text.end(), allowed) &&
         text.find_first_not_of("0123456789.") != std::string_view::npos;
}

bool is_loopback(const IpAddress& address) {
  if (address.size == 4) return address.bytes[0] == 127;
  return std::all_of(address.bytes.begin(), address.bytes.end() - 1, [](auto b) { return b == 0; }) &&
         address.bytes[15] == 1;
}

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

}  // namespace

std::string Endpoint::text() const {
  const bool brackets = host.find(':') != std::string::npos;
  return (brackets ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

Result<Endpoint> parse_endpoint(std::string_view text) {
  const auto bad = [&](std::string_view why) {
    return fail(ErrorCode::invalid_setting,
                shown(text) + " " + std::string(why) + ": write ADDR:PORT, for example 127.0.0.1:7700 or [::1]:7700");
  };
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return bad("has no port");
  std::string_view host = text.substr(0, colon);
  const auto port = parse_port(text.substr(colon + 1));
  if (!port) return bad("has no port from 0 to 65535");
  const bool brackets = host.size() >= 2 && host.front() == '[' && host.back() == ']';
  if (brackets) host = host.substr(1, host.size() - 2);
  const bool colons = host.find(':') != std::string_view::npos;
  if (colons != brackets)
    return bad(colons ? "has an IPv6 address without brackets" : "has brackets around no IPv6 address");
  Endpoint endpoint;
  endpoint.host = std::string(host);
  endpoint.port = *port;
  if (const auto address = parse_ip(host)) {
    endpoint.is_ip = true;
    endpoint.loopback = is_loopback(*address);
  } else if (brackets || !is_name(host)) {
    return bad("names no address or host");
  } else {
    endpoint.host = lower(host);
    endpoint.loopback = endpoint.host == "localhost";
  }
  return endpoint;
}

Result<Endpoint> parse_proxy(std::string_view text) {
  const std::size_t scheme = text.find("://");
  const std::string_view kind = text.substr(0, scheme);
  std::string_view place = scheme == std::string_view::npos ? std::string_view() : text.substr(scheme + 3);
  if (const std::size_t at = place.rfind('@'); at != std::string_view::npos) place.remove_prefix(at + 1);
  while (place.ends_with('/')) place.remove_suffix(1);
  Result<Endpoint> endpoint = parse_endpoint(place);
  if ((kind == "http" || kind == "socks5h") && endpoint && endpoint->port != 0) return endpoint;
  return fail(ErrorCode::invalid_setting, "is no proxy: write http://HOST:PORT or socks5h://HOST:PORT");
}

Result<ResolveEntry> parse_resolve_entry(std::string_view text) {
  const auto bad = [&](std::string_view why) {
    return fail(ErrorCode::invalid_setting,
                shown(text) + " " + std::string(why) +
                    ": write HOST:PORT:ADDR, for example docs.example:80:127.0.0.2 or *:80:[::1]");
  };
  const std::size_t first = text.find(':');
  const std::size_t second = first == std::string_view::npos ? first : text.find(':', first + 1);
  if (second == std::string_view::npos) return bad("has fewer than three parts");
  const std::string_view host = text.substr(0, first);
  if (host != "*" && !parse_ip(host) && !is_name(host)) return bad("names no host");
  const auto port = parse_port(text.substr(first + 1, second - first - 1));
  if (!port || *port == 0) return bad("has no port from 1 to 65535");
  std::string_view address = text.substr(second + 1);
  const bool brackets = address.size() >= 2 && address.front() == '[' && address.back() == ']';
  if (brackets) address = address.substr(1, address.size() - 2);
  const auto parsed = parse_ip(address);
  if (!parsed) return bad("ends in no IP address");
  if (brackets != (address.find(':') != std::string_view::npos))
    return bad("needs brackets around an IPv6 address, and only there");
  return ResolveEntry{lower(host), *port, parsed->text()};
}

}  // namespace orbweaver
