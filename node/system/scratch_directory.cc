#include "node/system/scratch_directory.h"

#include <stdlib.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

namespace orbweaver {

Result<std::unique_ptr<ScratchDirectory>> ScratchDirectory::make(const std::string& parent, const std::string& prefix) {
  std::error_code error;
  const std::string base = parent.empty() ? std::filesystem::temp_directory_path(error).string() : parent;
  if (error) return fail(ErrorCode::io, "there is no directory for temporary files (TMPDIR): " + error.message());
  std::string path = base + "/" + prefix + "-XXXXXX";
  if (::mkdtemp(path.data()) == nullptr)
    return fail(ErrorCode::io, "cannot make a directory in " + base + ": " + std::strerror(errno));
  return std::unique_ptr<ScratchDirectory>(new ScratchDirectory(std::move(path)));
}

ScratchDirectory::~ScratchDirectory() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace orbweaver
