// The process's limit of open files. Thread rule: free function; main thread.
#pragma once

#include <cstdint>

namespace orbweaver {

// Raises the soft limit to `wanted`, or to the hard limit when that is lower; 0: to 65,536 likewise. Returns the limit
// that holds then. Children inherit it.
std::uint64_t raise_open_files(std::uint64_t wanted);

}  // namespace orbweaver
