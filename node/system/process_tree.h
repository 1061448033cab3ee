// The processes of this machine, as listed in /proc at one moment. Thread rule: free functions.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <vector>

namespace orbweaver {

struct ProcessEntry {
  pid_t pid = -1;
  pid_t parent = -1;
  char state = '?';           // 'Z': has ended, waitpid is still due
  std::uint64_t started = 0;  // in ticks since boot
};

std::vector<ProcessEntry> processes();

// The `roots` and all their descendants among `all`.
std::vector<ProcessEntry> with_descendants(const std::vector<ProcessEntry>& all, std::vector<pid_t> roots);

}  // namespace orbweaver
