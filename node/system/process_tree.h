// The processes of this machine, as /proc has them at one moment. Thread rule: free functions.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <vector>

namespace orbweaver {

struct ProcessEntry {
  pid_t pid = -1;
  pid_t parent = -1;
  char state = '?';           // 'Z': has ended, is not waited for yet
  std::uint64_t started = 0;  // ticks since boot
};

std::vector<ProcessEntry> processes();

// Those of `all` that `roots` started, and theirs, and the roots themselves.
std::vector<ProcessEntry> with_descendants(const std::vector<ProcessEntry>& all, std::vector<pid_t> roots);

}  // namespace orbweaver
