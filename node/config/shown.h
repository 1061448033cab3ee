// Offending text in a message: quoted, without control characters, never a megabyte of it.
#pragma once

#include <string>
#include <string_view>

namespace orbweaver {

inline std::string shown(std::string_view text) {
  constexpr std::size_t shown_max = 128;
  std::string out{"'"};
  for (const char c : text.substr(0, shown_max)) out += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? '?' : c;
  return out + (text.size() > shown_max ? "...'" : "'");
}

}  // namespace orbweaver
