// The keys by which the store finds a host and a URL. Pure.
#pragma once

#include <array>
#include <compare>
#include <cstdint>

namespace orbweaver::storage {

using HostDigest = std::array<std::uint8_t, 8>;  // the first eight bytes of MD5(host)
using UrlDigest = std::array<std::uint8_t, 16>;  // MD5(canonical URL)

struct HostKey {
  std::uint16_t partition = 0;
  HostDigest host{};
  auto operator<=>(const HostKey&) const = default;
};

struct UrlKey {
  HostKey host;
  UrlDigest url{};
  auto operator<=>(const UrlKey&) const = default;
};

}  // namespace orbweaver::storage
