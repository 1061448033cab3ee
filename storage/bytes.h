// Big-endian integers in byte strings, for keys that sort as their numbers do.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace orbweaver::storage {

template <class Unsigned>
void put_be(std::string& out, Unsigned value) {
  for (int shift = static_cast<int>(sizeof(Unsigned)) * 8 - 8; shift >= 0; shift -= 8)
    out.push_back(static_cast<char>((value >> shift) & 0xff));
}

// The caller has checked that `bytes` has sizeof(Unsigned) bytes at `at`.
template <class Unsigned>
Unsigned get_be(std::string_view bytes, std::size_t at) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < sizeof(Unsigned); ++i) value = (value << 8) | static_cast<std::uint8_t>(bytes[at + i]);
  return static_cast<Unsigned>(value);
}

}  // namespace orbweaver::storage
