#include "node/lab/dedup/disk_use.h"

#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

namespace orbweaver {

Result<DiskUse> disk_use(const std::string& directory) {
  DiskUse use;
  std::error_code trouble;
  auto at = std::filesystem::recursive_directory_iterator(directory, trouble);
  for (; !trouble && at != std::filesystem::recursive_directory_iterator(); at.increment(trouble)) {
    struct stat entry {};
    if (::lstat(at->path().c_str(), &entry) != 0) return tl::make_unexpected(disk_error("cannot look at", at->path()));
    use.bytes += static_cast<std::uint64_t>(entry.st_blocks) * 512;  // stat(2): units of 512 bytes, whatever the disk's
    ++use.files;
  }
  if (trouble) return fail(ErrorCode::io, "cannot read " + directory + ": " + trouble.message());
  return use;
}

Error disk_error(const std::string& what, const std::string& path) {
  const bool full = errno == ENOSPC || errno == EDQUOT;
  return {full ? ErrorCode::disk_full : ErrorCode::io, what + " " + path + ": " + std::strerror(errno)};
}

}  // namespace orbweaver
