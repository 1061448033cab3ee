#include "storage/append_directory.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

#include "storage/append_file.h"

namespace orbweaver::storage {

Result<void> make_directory(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) return io_error("cannot make directory", path, error.value());
  return {};
}

Result<void> sync_directory(const std::string& path, OpenWaiter* waiter) {
  const std::string directory = path.empty() ? "." : path;
  int fd = -1;
  const int refused = open_with(waiter, directory, [&] {
    fd = ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return fd < 0 ? errno : 0;
  });
  if (refused != 0) return io_error("cannot open the directory", directory, refused);
  const int error = ::fsync(fd) != 0 ? errno : 0;
  ::close(fd);
  return error == 0 ? Result<void>() : sync_error(directory, error);
}

Result<void> sync_directories_to(const std::string& path, OpenWaiter* waiter) {
  std::error_code error;
  std::filesystem::path at = std::filesystem::canonical(path, error);
  if (error) return io_error("cannot open the directory", path, error.value());
  struct stat first {};
  if (::stat(at.c_str(), &first) != 0) return io_error("cannot look at", at.string(), errno);
  for (;;) {
    if (auto synced = sync_directory(at.string(), waiter); !synced) return synced;
    const std::filesystem::path parent = at.parent_path();
    struct stat status {};
    if (parent == at || ::access(parent.c_str(), W_OK) != 0 || ::stat(parent.c_str(), &status) != 0 ||
        status.st_dev != first.st_dev)
      return {};
    at = parent;
  }
}

}  // namespace orbweaver::storage
