// Offending text in a message: quoted, without control characters, never a megabyte of it.
#pragma once

#include <string>
#include <string_view>

#include "node/text/printable.h"

namespace orbweaver {

inline std::string shown(std::string_view text) {
  constexpr std::size_t shown_max = 128;
  return "'" + printable(text.substr(0, shown_max)) + (text.size() > shown_max ? "...'" : "'");
}

}  // namespace orbweaver
