// The process's limit of open files. Thread rule: free function; main thread.
#pragma once

#include <cstdint>

namespace orbweaver {

// Raises the soft limit to `wanted` (0: to 65,536), or to the hard limit if that is lower. Returns the limit now in
// effect. Children inherit it.
std::uint64_t raise_open_files(std::uint64_t wanted);

}  // namespace orbweaver
