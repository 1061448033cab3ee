// The disk space of a structure's files, and its errors in words. Thread rule: free functions, any thread.
#pragma once

#include <cstdint>
#include <string>

#include "node/base.h"

namespace orbweaver {

struct DiskUse {
  std::uint64_t bytes = 0;  // blocks allocated to files and directories, st_blocks of stat(2)
  std::uint64_t files = 0;  // files and directories, without the outermost directory
};
Result<DiskUse> disk_use(const std::string& directory);

// io or disk_full, by the present errno: "cannot write FILE: No space left on device".
Error disk_error(const std::string& what, const std::string& path);

}  // namespace orbweaver
