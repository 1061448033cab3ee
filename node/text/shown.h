// Offending text for a message: quoted, without control characters, of bounded length.
#pragma once

#include <string>
#include <string_view>

#include "node/text/printable.h"

namespace orbweaver {

inline std::string shown(std::string_view text) {
  constexpr std::size_t max_shown = 128;
  return "'" + printable(text.substr(0, max_shown)) + (text.size() > max_shown ? "...'" : "'");
}

}  // namespace orbweaver
