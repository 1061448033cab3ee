#include "node/url/url_host.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

#include "node/url/icu_idna.h"
#include "node/url/ipv6_text.h"
#include "node/url/percent_encode.h"

namespace orbweaver {

using namespace url_text;

namespace {

// The last dot-separated part, ignoring a single trailing dot ("ends in a number checker", steps 2 to 4).
std::string_view last_part(std::string_view domain) {
  if (domain.ends_with('.')) domain.remove_suffix(1);
  const std::size_t dot = domain.rfind('.');
  return dot == std::string_view::npos ? domain : domain.substr(dot + 1);
}

bool has_hex_prefix(std::string_view part) { return part.size() >= 2 && part[0] == '0' && ascii_lower(part[1]) == 'x'; }

bool ends_in_number(std::string_view domain) {
  const std::string_view last = last_part(domain);
  if (last.empty() || !is_ascii_digit(last[0])) return false;
  if (std::all_of(last.begin(), last.end(), is_ascii_digit)) return true;
  return has_hex_prefix(last) && std::all_of(last.begin() + 2, last.end(), [](char c) { return is(c, hex_digit); });
}

// The IPv4 number parser. Values past 2^32 stay at 2^32: all of them are out of range.
std::optional<std::uint64_t> ipv4_number(std::string_view part) {
  if (part.empty()) return std::nullopt;
  unsigned radix = 10;
  if (has_hex_prefix(part)) {
    part.remove_prefix(2);
    radix = 16;
  } else if (part.size() >= 2 && part[0] == '0') {
    part.remove_prefix(1);
    radix = 8;
  }
  std::uint64_t value = 0;
  for (const char c : part) {
    if (!is(c, hex_digit) || hex_value(c) >= radix) return std::nullopt;
    value = std::min<std::uint64_t>(value * radix + hex_value(c), std::uint64_t{1} << 32);
  }
  return value;
}

HostFailure parse_ipv4(std::string_view input, std::string& host) {
  if (input.ends_with('.')) input.remove_suffix(1);
  std::array<std::uint64_t, 4> numbers{};
  std::size_t count = 0;
  for (bool more = true; more;) {
    if (count == 4) return "an IPv4 address with more than four parts";
    const std::size_t dot = input.find('.');
    const std::optional<std::uint64_t> number = ipv4_number(input.substr(0, dot));
    if (!number) return "a host that ends in a number but is no IPv4 address";
    numbers[count++] = *number;
    more = dot != std::string_view::npos;
    if (more) input.remove_prefix(dot + 1);
  }
  for (std::size_t i = 0; i + 1 < count; ++i) {
    if (numbers[i] > 255) return "an IPv4 address part above 255";
  }
  std::uint64_t address = numbers[count - 1];
  if (address >= std::uint64_t{1} << (8 * (5 - count))) return "an IPv4 address out of range";
  for (std::size_t i = 0; i + 1 < count; ++i) address += numbers[i] << (8 * (3 - i));
  host.clear();
  for (int shift = 24; shift >= 0; shift -= 8) {
    host += std::to_string(address >> shift & 255);
    if (shift != 0) host += '.';
  }
  return nullptr;
}

HostFailure parse_opaque_host(std::string_view input, std::string& host) {
  if (std::any_of(input.begin(), input.end(), [](char c) { return is(c, forbidden_host); })) {
    return "a character that no host may have";
  }
  host.clear();
  append_percent_encoded(host, input, c0_control_set);
  return nullptr;
}

// Parses a name with escapes or non-ASCII characters into `host`: the slow path of the domain parser.
HostFailure parse_encoded_domain(std::string_view input, std::string& host) {
  const std::string domain = percent_decode(input);
  if (std::all_of(domain.begin(), domain.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; })) {
    host = domain;
    std::transform(host.begin(), host.end(), host.begin(), ascii_lower);
    return nullptr;
  }
  if (first_invalid_utf8(domain)) return "a host whose escapes are not UTF-8";
  std::optional<std::string> ascii = idna_to_ascii(domain);
  if (!ascii) return "an international host name that IDNA refuses";
  host = std::move(*ascii);
  return nullptr;
}

}  // namespace

HostFailure parse_host(std::string_view input, bool opaque, std::string& host) {
  if (input.starts_with('[')) {
    if (!input.ends_with(']')) return "an IPv6 address without ']'";
    return parse_ipv6(input.substr(1, input.size() - 2), host) ? nullptr : "a malformed IPv6 address";
  }
  if (opaque) return parse_opaque_host(input, host);
  bool plain = true;
  host.resize(input.size());
  for (std::size_t i = 0; i < input.size(); ++i) {
    plain = plain && !is(input[i], forbidden_domain | c0_control_set);
    host[i] = ascii_lower(input[i]);
  }
  if (!plain) {
    if (const HostFailure failure = parse_encoded_domain(input, host)) return failure;
    if (host.empty()) return "an empty host";
    if (std::any_of(host.begin(), host.end(), [](char c) { return is(c, forbidden_domain); })) {
      return "a character that no host name may have";
    }
  }
  return ends_in_number(host) ? parse_ipv4(std::string(host), host) : nullptr;
}

bool is_ip_address(std::string_view host) { return host.starts_with('[') || ends_in_number(host); }

}  // namespace orbweaver
