#include "node/fetch/address_guard.h"

#include <netinet/in.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

namespace orbweaver {
namespace {

std::optional<IpAddress> from_v4(const std::uint8_t* four) { return IpAddress::from_bytes({four, 4}); }

struct V4Row {
  std::uint32_t base;
  unsigned bits;
  const char* name;
};

// The rows of the IPv4 Special-Purpose Address Registry that are not globally reachable: RFC 791, 1918, 6598, 1122,
// 3927, 6890, 5737, 7526, 2544, 1112, 919, in order of first mention. Added: multicast (RFC 5771), class E, and one
// public address at which a cloud answers its own machines. 169.254.169.254, where clouds keep their machines' secrets,
// is link-local, and 100.100.100.200 is shared address space.
constexpr V4Row v4_rows[] = {
    {0x00000000, 8, "0.0.0.0/8 (this network)"},
    {0x0a000000, 8, "10.0.0.0/8 (private use)"},
    {0x64400000, 10, "100.64.0.0/10 (shared address space)"},
    {0x7f000000, 8, "127.0.0.0/8 (loopback)"},
    {0xa9fe0000, 16, "169.254.0.0/16 (link-local)"},
    {0xa83f8110, 32, "168.63.129.16/32 (Azure's platform address)"},
    {0xac100000, 12, "172.16.0.0/12 (private use)"},
    {0xc0000000, 24, "192.0.0.0/24 (IETF protocol assignments)"},
    {0xc0000200, 24, "192.0.2.0/24 (documentation)"},
    {0xc0586300, 24, "192.88.99.0/24 (6to4 relay anycast)"},
    {0xc0a80000, 16, "192.168.0.0/16 (private use)"},
    {0xc6120000, 15, "198.18.0.0/15 (benchmarking)"},
    {0xc6336400, 24, "198.51.100.0/24 (documentation)"},
    {0xcb007100, 24, "203.0.113.0/24 (documentation)"},
    {0xe0000000, 4, "224.0.0.0/4 (multicast)"},
    {0xffffffff, 32, "255.255.255.255/32 (limited broadcast)"},
    {0xf0000000, 4, "240.0.0.0/4 (reserved)"},
};

struct V6Row {
  std::array<std::uint8_t, 6> base;  // no row's prefix is longer than 48 bits
  unsigned bits;
  const char* name;
};

// The IPv6 registry's rows: RFC 8215, 6666, 2928 (which includes Teredo, RFC 4380), 3849, 9637, 9602, 4193 (which
// includes fd00:ec2::254), 4291, 3879. Rows outside 2000::/3 only give the refusal its name: the last rule refuses them
// anyway.
constexpr V6Row v6_rows[] = {
    {{0x00, 0x64, 0xff, 0x9b, 0x00, 0x01}, 48, "64:ff9b:1::/48 (local-use IPv4/IPv6 translation)"},
    {{0x01, 0x00}, 64, "100::/64 (discard-only)"},
    {{0x20, 0x01, 0x00, 0x00}, 23, "2001::/23 (IETF protocol assignments)"},
    {{0x20, 0x01, 0x0d, 0xb8}, 32, "2001:db8::/32 (documentation)"},
    {{0x3f, 0xff}, 20, "3fff::/20 (documentation)"},
    {{0x5f, 0x00}, 16, "5f00::/16 (segment routing)"},
    {{0xfc, 0x00}, 7, "fc00::/7 (unique local)"},
    {{0xfe, 0x80}, 10, "fe80::/10 (link-local)"},
    {{0xfe, 0xc0}, 10, "fec0::/10 (site-local)"},
    {{0xff, 0x00}, 8, "ff00::/8 (multicast)"},
};

bool same_prefix(const std::uint8_t* a, const std::uint8_t* b, unsigned bits) {
  const std::size_t whole = bits / 8;
  if (std::memcmp(a, b, whole) != 0) return false;
  if (bits % 8 == 0) return true;
  const unsigned mask = 0xffu << (8 - bits % 8);
  return ((a[whole] ^ b[whole]) & mask & 0xffu) == 0;
}

const char* v4_special(const IpAddress& address) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < 4; ++i) value = value << 8 | address.bytes[i];
  for (const V4Row& row : v4_rows) {
    if (((value ^ row.base) >> (32 - row.bits)) == 0) return row.name;
  }
  return nullptr;
}

const char* v6_special(const IpAddress& address) {
  constexpr std::array<std::uint8_t, 16> unspecified{};
  constexpr std::array<std::uint8_t, 16> loopback{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
  if (address.bytes == unspecified) return "::/128 (unspecified)";
  if (address.bytes == loopback) return "::1/128 (loopback)";
  for (const V6Row& row : v6_rows) {
    std::array<std::uint8_t, 16> base{};
    std::copy(row.base.begin(), row.base.end(), base.begin());
    if (same_prefix(address.bytes.data(), base.data(), row.bits)) return row.name;
  }
  if ((address.bytes[0] & 0xe0) != 0x20) return "no allocated range (outside 2000::/3)";
  return nullptr;
}

// The IPv4 address embedded in an IPv6 address: NAT64 (RFC 6052) or 6to4 (RFC 3056). Mapped addresses are v4
// already.
std::optional<IpAddress> embedded_v4(const IpAddress& address) {
  constexpr std::array<std::uint8_t, 12> nat64{0x00, 0x64, 0xff, 0x9b};
  if (address.size == 4) return std::nullopt;
  if (same_prefix(address.bytes.data(), nat64.data(), 96)) return from_v4(address.bytes.data() + 12);
  if (address.bytes[0] == 0x20 && address.bytes[1] == 0x02) return from_v4(address.bytes.data() + 2);
  return std::nullopt;
}

std::optional<std::string> special(const IpAddress& address) {
  const char* name = address.size == 4 ? v4_special(address) : v6_special(address);
  if (name == nullptr) return std::nullopt;
  return address.text() + " is in " + name;
}

}  // namespace

std::optional<IpAddress> ip_of(const sockaddr* address) {
  if (address == nullptr) return std::nullopt;
  std::array<std::uint8_t, 16> raw{};
  if (address->sa_family == AF_INET) {
    sockaddr_in four{};
    std::memcpy(&four, address, sizeof four);
    std::memcpy(raw.data(), &four.sin_addr, 4);
    return IpAddress::from_bytes({raw.data(), 4});
  }
  if (address->sa_family != AF_INET6) return std::nullopt;
  sockaddr_in6 six{};
  std::memcpy(&six, address, sizeof six);
  std::memcpy(raw.data(), &six.sin6_addr, raw.size());
  return IpAddress::from_bytes(raw);
}

namespace {

Result<std::vector<Cidr>> ranges(const std::vector<std::string>& texts) {
  std::vector<Cidr> read;
  for (const std::string& text : texts) {
    Result<Cidr> range = Cidr::parse(text);
    if (!range) return tl::make_unexpected(range.error());
    read.push_back(*range);
  }
  return read;
}

bool any_contains(const std::vector<Cidr>& ranges, const IpAddress& address) {
  return std::any_of(ranges.begin(), ranges.end(), [&](const Cidr& range) { return range.contains(address); });
}

}  // namespace

Result<AddressGuard> AddressGuard::create(const std::vector<std::string>& allow_private,
                                          const std::vector<std::string>& deny_addresses) {
  Result<std::vector<Cidr>> allowed = ranges(allow_private);
  if (!allowed) return tl::make_unexpected(allowed.error());
  Result<std::vector<Cidr>> denied = ranges(deny_addresses);
  if (!denied) return tl::make_unexpected(denied.error());
  return AddressGuard(std::move(*allowed), std::move(*denied));
}

std::optional<AddressRefusal> AddressGuard::refusal(const IpAddress& address) const {
  const auto denied = [](std::string words) { return AddressRefusal{FetchError::address_denied, std::move(words)}; };
  if (any_contains(denied_, address)) return denied(address.text() + " is in deny_addresses");
  if (const std::optional<IpAddress> inner = embedded_v4(address); inner && any_contains(denied_, *inner))
    return denied(address.text() + " stands for " + inner->text() + ", which is in deny_addresses");
  if (any_contains(allowed_, address)) return std::nullopt;
  if (const std::optional<IpAddress> inner = embedded_v4(address)) {
    std::optional<AddressRefusal> why = refusal(*inner);
    if (why) why->words = address.text() + " stands for " + why->words;
    return why;
  }
  if (std::optional<std::string> why = special(address))
    return AddressRefusal{FetchError::address_refused, std::move(*why)};
  if (!public_refused_) return std::nullopt;
  return AddressRefusal{
      FetchError::no_contact,
      address.text() +
          " is public, and there is no contact for people whose sites are crawled: set one, for example "
          "--contact https://example.org/bot"};
}

std::optional<AddressRefusal> AddressGuard::refusal(const sockaddr* address) const {
  const std::optional<IpAddress> parsed = ip_of(address);
  if (!parsed) return AddressRefusal{FetchError::address_refused, "not an IPv4 or IPv6 address"};
  return refusal(*parsed);
}

bool AddressGuard::is_public(const sockaddr* address) { return !AddressGuard().refusal(address); }
bool AddressGuard::is_public(const IpAddress& address) { return !AddressGuard().refusal(address); }

}  // namespace orbweaver
