#include "node/settings/cidr.h"

#include <arpa/inet.h>

#include <algorithm>
#include <charconv>

#include "node/text/shown.h"

namespace orbweaver {
namespace {

constexpr std::array<std::uint8_t, 12> mapped_prefix{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
constexpr unsigned mapped_bits = 96;

bool is_mapped(std::span<const std::uint8_t> bytes) {
  return bytes.size() == 16 && std::equal(mapped_prefix.begin(), mapped_prefix.end(), bytes.begin());
}

// `address` with all bits after the first `bits` set to 0.
IpAddress masked(const IpAddress& address, unsigned bits) {
  IpAddress out = address;
  for (std::size_t i = 0; i < out.size; ++i) {
    const unsigned before = static_cast<unsigned>(i) * 8;
    const unsigned kept = bits <= before ? 0 : std::min(8U, bits - before);
    out.bytes[i] = static_cast<std::uint8_t>(out.bytes[i] & (0xff00U >> kept));
  }
  return out;
}

// Parses without turning a mapped address into IPv4: a prefix length counts in the written family.
std::optional<IpAddress> parse_as_written(std::string_view text) {
  // The longest text: "ffff:ffff:ffff:ffff:ffff:ffff:255.255.255.255"
  if (text.empty() || text.size() >= INET6_ADDRSTRLEN || text.find('\0') != std::string_view::npos) return std::nullopt;
  const std::string terminated(text);
  IpAddress address;
  address.size = text.find(':') == std::string_view::npos ? 4 : 16;
  if (inet_pton(address.size == 4 ? AF_INET : AF_INET6, terminated.c_str(), address.bytes.data()) != 1)
    return std::nullopt;
  return address;
}

}  // namespace

std::optional<IpAddress> IpAddress::from_bytes(std::span<const std::uint8_t> bytes) {
  IpAddress address;
  if (bytes.size() == 4) {
    std::copy(bytes.begin(), bytes.end(), address.bytes.begin());
  } else if (is_mapped(bytes)) {
    std::copy(bytes.begin() + 12, bytes.end(), address.bytes.begin());
  } else if (bytes.size() == 16) {
    address.size = 16;
    std::copy(bytes.begin(), bytes.end(), address.bytes.begin());
  } else {
    return std::nullopt;
  }
  return address;
}

std::string IpAddress::text() const {
  std::array<char, INET6_ADDRSTRLEN> buffer{};
  const char* const text = inet_ntop(size == 4 ? AF_INET : AF_INET6, bytes.data(), buffer.data(), buffer.size());
  return text == nullptr ? std::string{} : std::string{text};
}

std::optional<IpAddress> parse_ip(std::string_view text) {
  const auto written = parse_as_written(text);
  return written ? IpAddress::from_bytes(written->view()) : std::nullopt;
}

Result<Cidr> Cidr::parse(std::string_view text) {
  const std::size_t slash = text.find('/');
  const auto address = parse_as_written(text.substr(0, slash));
  if (!address) {
    return fail(ErrorCode::invalid_setting,
                shown(text) + " is not a range of addresses: write ADDRESS/BITS, for example 10.0.0.0/8 or fd00::/8");
  }
  const auto max_bits = static_cast<unsigned>(address->size) * 8;
  unsigned bits = max_bits;
  if (slash != std::string_view::npos) {
    const std::string_view digits = text.substr(slash + 1);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), bits);
    if (error != std::errc{} || end != digits.data() + digits.size() || bits > max_bits) {
      return fail(ErrorCode::invalid_setting, shown(text) + " has no prefix length from 0 to " +
                                                  std::to_string(max_bits) + " after '/': write for example " +
                                                  address->text() + "/" + std::to_string(max_bits));
    }
  }
  const IpAddress first = masked(*address, bits);
  if (first != *address) {
    return fail(ErrorCode::invalid_setting, shown(text) + " has bits set beyond its prefix: write " + first.text() +
                                                "/" + std::to_string(bits) + " for the range, or " + address->text() +
                                                "/" + std::to_string(max_bits) + " for the one address");
  }
  // A range within ::ffff:0:0/96 is a range of IPv4; a wider one stays unchanged and covers no IPv4 address.
  if (is_mapped(first.view()) && bits >= mapped_bits)
    return Cidr(*IpAddress::from_bytes(first.view()), bits - mapped_bits);
  return Cidr(first, bits);
}

bool Cidr::contains(std::span<const std::uint8_t> address) const {
  const auto value = IpAddress::from_bytes(address);
  return value && value->size == first_.size && masked(*value, prefix_bits_) == first_;
}

bool Cidr::contains(const IpAddress& address) const { return contains(address.view()); }

std::string Cidr::text() const { return first_.text() + "/" + std::to_string(prefix_bits_); }

}  // namespace orbweaver
