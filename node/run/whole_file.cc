#include "node/run/whole_file.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

namespace orbweaver {

Result<void> write_whole_file(const std::string& path, const std::string& text, storage::OpenWaiter* waiter) {
  {
    std::ofstream out;
    errno = 0;
    storage::open_with(waiter, path, [&] {
      out.open(path + ".new", std::ios::trunc);
      return out.is_open() ? 0 : errno;
    });
    out << text;
    out.flush();
    if (!out)
      return fail(errno == ENOSPC ? ErrorCode::disk_full : ErrorCode::io,
                  "cannot write " + path + ".new: " + std::strerror(errno));
  }
  std::error_code renamed;
  std::filesystem::rename(path + ".new", path, renamed);
  if (renamed) return fail(ErrorCode::io, "cannot write " + path + ": " + renamed.message());
  return {};
}

}  // namespace orbweaver
