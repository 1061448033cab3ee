// How much memory this machine can give without swapping; a large allocation is compared with it before it is made.
// Thread rule: free function, any thread.
#pragma once

#include <cstdint>
#include <string>

#include "node/base.h"

namespace orbweaver {

// MemAvailable of /proc/meminfo (proc(5)), in bytes. An error where there is no such line.
Result<std::uint64_t> memory_available(const std::string& meminfo = "/proc/meminfo");

// The maximum for this process, in bytes: the machine's memory (MemTotal), or less if its control group or one above it
// has a lower limit (memory.max of version 2, memory.limit_in_bytes of version 1). 0: unknown.
std::uint64_t memory_of_machine(const std::string& proc = "/proc", const std::string& cgroups = "/sys/fs/cgroup");

// The memory of this process as the system counts it: now, and the peak so far. 0: unknown.
struct ResidentMemory {
  std::uint64_t now = 0;
  std::uint64_t peak = 0;
};
ResidentMemory resident_memory();

// invalid_setting when `wanted` bytes are more than there are; the message begins with `what`: "a filter for … URLs".
// If the available memory is unknown, nothing is refused.
Result<void> check_memory(const std::string& what, std::uint64_t wanted, const Result<std::uint64_t>& available);

// "36.1 MiB".
std::string bytes_text(std::uint64_t bytes);

}  // namespace orbweaver
