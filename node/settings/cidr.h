// IP addresses and ranges of them as text and as bytes, used by allow_private and by the check of addresses. Pure;
// values, free to copy between threads. An IPv4-mapped IPv6 address (::ffff:192.0.2.1, RFC 4291 2.5.5.2) is the IPv4
// address everywhere, so that no range can be bypassed by writing an address in the other form.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "node/base.h"

namespace orbweaver {

// In network byte order; `size` is 4 (IPv4) or 16 (IPv6).
struct IpAddress {
  std::array<std::uint8_t, 16> bytes{};
  std::size_t size = 4;

  bool operator==(const IpAddress&) const = default;
  std::span<const std::uint8_t> view() const { return {bytes.data(), size}; }
  // "192.0.2.1", "2001:db8::1" (RFC 5952)
  std::string text() const;
  // 4 or 16 bytes, as in a socket address; any other length gives nothing.
  static std::optional<IpAddress> from_bytes(std::span<const std::uint8_t> bytes);
};

// Dotted decimal without leading zeros, or IPv6 (RFC 4291 2.2) without brackets and zone.
std::optional<IpAddress> parse_ip(std::string_view text);

// A range of addresses: RFC 4632 for IPv4 ("10.0.0.0/8"), RFC 4291 2.3 for IPv6 ("fd00::/8").
class Cidr {
 public:
  // "10.0.0.0/8", "fd00::/8", or one address. The error says what is wrong and suggests a fix: bits set after the
  // prefix are refused, because 10.1.2.3/8 may have been meant as 10.1.2.3/32.
  static Result<Cidr> parse(std::string_view text);

  // `address`: 4 or 16 bytes in network order; any other length: false.
  bool contains(std::span<const std::uint8_t> address) const;
  bool contains(const IpAddress& address) const;
  unsigned prefix_bits() const { return prefix_bits_; }
  const IpAddress& first() const { return first_; }
  std::string text() const;  // always with its prefix length

 private:
  Cidr(const IpAddress& first, unsigned prefix_bits) : first_(first), prefix_bits_(prefix_bits) {}

  IpAddress first_;
  unsigned prefix_bits_ = 0;
};

}  // namespace orbweaver
