// The input of a fuzz target, split into numbers, choices and texts, as long as it lasts; then zeros.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace orbweaver::fuzz {

class Bytes {
 public:
  Bytes(const std::uint8_t* data, std::size_t size) : rest_(reinterpret_cast<const char*>(data), size) {}

  bool empty() const { return rest_.empty(); }
  std::uint8_t byte() {
    if (rest_.empty()) return 0;
    const auto first = static_cast<std::uint8_t>(rest_.front());
    rest_.remove_prefix(1);
    return first;
  }
  std::uint8_t below(std::uint8_t bound) { return static_cast<std::uint8_t>(byte() % bound); }
  bool coin() { return (byte() & 1) != 0; }
  std::uint16_t word() {
    const std::uint8_t high = byte();
    return static_cast<std::uint16_t>(high << 8 | byte());
  }
  std::uint64_t eight() {
    std::uint64_t value = 0;
    for (int i = 0; i < 8; ++i) value = value << 8 | byte();
    return value;
  }
  // Numbers that may do harm: small, near the ends, anything.
  std::uint64_t number() {
    switch (below(6)) {
      case 0:
      case 1:
        return byte();
      case 2:
        return UINT64_MAX - byte();
      case 3:
        return (std::uint64_t{1} << (byte() % 64)) - 1 + (byte() % 3);
      case 4:
        return word();
      default:
        return eight();
    }
  }
  std::string text(std::size_t most) {
    const std::size_t wanted = byte() % (most + 1);  // first, because it takes a byte of the rest
    const std::size_t size = std::min(wanted, rest_.size());
    std::string taken(rest_.substr(0, size));
    rest_.remove_prefix(size);
    return taken;
  }
  std::string_view rest() { return rest_; }

 private:
  std::string_view rest_;
};

}  // namespace orbweaver::fuzz
