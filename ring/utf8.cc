#include "ring/utf8.h"

#include <cstdint>
#include <cstring>

namespace orbweaver::ring {

namespace {

// The bytes that may follow a first byte (RFC 3629, section 4):
// how many, and the range of the first of them; the others are 80 to BF.
struct Tail {
  std::size_t bytes = 0;
  std::uint8_t low = 0x80;
  std::uint8_t high = 0xbf;
};

Tail tail_of(std::uint8_t first) {
  if (first >= 0xc2 && first <= 0xdf) return {1};
  if (first == 0xe0) return {2, 0xa0, 0xbf};
  if (first == 0xed) return {2, 0x80, 0x9f};
  if (first >= 0xe1 && first <= 0xef) return {2};
  if (first == 0xf0) return {3, 0x90, 0xbf};
  if (first >= 0xf1 && first <= 0xf3) return {3};
  if (first == 0xf4) return {3, 0x80, 0x8f};
  return {};
}

}  // namespace

bool is_utf8(std::string_view bytes) {
  for (std::size_t at = 0; at < bytes.size();) {
    std::uint64_t eight = 0;
    if (at + sizeof eight <= bytes.size()) {
      std::memcpy(&eight, bytes.data() + at, sizeof eight);
      if ((eight & 0x8080808080808080) == 0) {
        at += sizeof eight;
        continue;
      }
    }
    const auto first = static_cast<std::uint8_t>(bytes[at++]);
    if (first < 0x80) continue;
    const Tail tail = tail_of(first);
    if (tail.bytes == 0 || bytes.size() - at < tail.bytes) return false;
    const auto second = static_cast<std::uint8_t>(bytes[at]);
    if (second < tail.low || second > tail.high) return false;
    for (std::size_t i = 1; i < tail.bytes; ++i)
      if ((static_cast<std::uint8_t>(bytes[at + i]) & 0xc0) != 0x80) return false;
    at += tail.bytes;
  }
  return true;
}

}  // namespace orbweaver::ring
