#include "node/system/program_beside.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

namespace orbweaver {

Result<std::string> program_directory() {
  std::error_code error;
  // The link's target ends in " (deleted)" if the program was replaced while it ran; its directory is still right.
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) return fail(ErrorCode::io, "cannot read /proc/self/exe: " + error.message());
  return self.parent_path().string();
}

Result<std::string> program_beside(const std::string& name) {
  const Result<std::string> directory = program_directory();
  if (!directory) return tl::make_unexpected(directory.error());
  const std::string path = *directory + "/" + name;
  if (::access(path.c_str(), X_OK) == 0) return path;
  return fail(ErrorCode::io, "cannot run " + path + " (" + std::strerror(errno) + "): this command is in the program " +
                                 name +
                                 ", which belongs next to this one; copy or install both into one directory, or build "
                                 "both with deploy/build");
}

Error become(const std::string& name, char** argv) {
  const Result<std::string> path = program_beside(name);
  if (!path) return path.error();
  ::execv(path->c_str(), argv);
  return {ErrorCode::io, "cannot run " + *path + ": " + std::strerror(errno)};
}

}  // namespace orbweaver
