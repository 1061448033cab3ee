// The importance of a line of the log. In its own file, so that
// rules can name it without knowing the log. Thread rule: a value.
#pragma once

#include <cstdint>

namespace orbweaver {

enum class LogLevel : std::uint8_t { debug, info, warning, error };

}  // namespace orbweaver
