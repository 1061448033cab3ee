// MD5 (RFC 1321) as the project's hash of hosts, URLs and ring points. Not for security: keys and placement only.
// Thread rule: free functions, safe from any thread. Cost: about 0.2 us for 64 bytes.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace orbweaver::ring {

using Md5 = std::array<std::uint8_t, 16>;

Md5 md5(std::string_view bytes);

// 32 lower-case hex digits.
std::string to_hex(const Md5& digest);

// The first eight bytes, big-endian: the digest's leading 64 bits as a number.
std::uint64_t leading_bits(const Md5& digest);
// The last eight, likewise.
std::uint64_t trailing_bits(const Md5& digest);

}  // namespace orbweaver::ring
