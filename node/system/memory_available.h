// How much memory this machine can give without swapping: what a large allocation is held against before it is made.
// Thread rule: free function, any thread.
#pragma once

#include <cstdint>
#include <string>

#include "node/base.h"

namespace orbweaver {

// MemAvailable of /proc/meminfo (proc(5)), in bytes. An error where there is no such line.
Result<std::uint64_t> memory_available(const std::string& meminfo = "/proc/meminfo");

// What this process may have at most, in bytes: the machine's memory (MemTotal), or less where a control group, its own
// or one above it, says so (memory.max of version 2, memory.limit_in_bytes of version 1). 0: cannot be told.
std::uint64_t memory_of_machine(const std::string& proc = "/proc", const std::string& cgroups = "/sys/fs/cgroup");

// Of this process, as the system counts: now, and the most so far. 0: cannot be told.
struct ResidentMemory {
  std::uint64_t now = 0;
  std::uint64_t peak = 0;
};
ResidentMemory resident_memory();

// invalid_setting when `wanted` bytes are more than there are; `what` begins the message: "a filter for … URLs".
// Where it cannot be told how much there is, nothing is refused.
Result<void> check_memory(const std::string& what, std::uint64_t wanted, const Result<std::uint64_t>& available);

// "36.1 MiB".
std::string bytes_text(std::uint64_t bytes);

}  // namespace orbweaver
