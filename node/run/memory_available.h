// How much memory this machine can give without swapping: what a large allocation is held against before it is made.
// Thread rule: free function, any thread.
#pragma once

#include <cstdint>
#include <string>

#include "node/base.h"

namespace orbweaver {

// MemAvailable of /proc/meminfo (proc(5)), in bytes. An error where there is no such line.
Result<std::uint64_t> memory_available(const std::string& meminfo = "/proc/meminfo");

// invalid_setting when `wanted` bytes are more than there are; `what` begins the message: "a filter for … URLs".
// Where it cannot be told how much there is, nothing is refused.
Result<void> check_memory(const std::string& what, std::uint64_t wanted, const Result<std::uint64_t>& available);

// "36.1 MiB".
std::string bytes_text(std::uint64_t bytes);

}  // namespace orbweaver
