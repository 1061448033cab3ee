// Durations and sizes as people write them: a number and a unit. Pure. Thread rule: free functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "node/base.h"

namespace orbweaver {

// "300ms", "1.5s", "2m", "1h"; "0s". The error lists the units.
Result<Duration> parse_duration(std::string_view text);
std::string duration_text(Duration duration);
// "64MiB", "500KiB", "1GB", "4096" (bytes).
Result<std::uint64_t> parse_size(std::string_view text);
std::string size_text(std::uint64_t bytes);

}  // namespace orbweaver
