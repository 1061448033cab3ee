#include "node/system/denied.h"

#include <fcntl.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

namespace orbweaver {
namespace {

// The first part of the path that another user owns and that stops this process, with its owner's name. Empty when
// there is none.
std::string owner_of_bar(const std::string& path) {
  std::filesystem::path part;
  for (const std::filesystem::path& name : std::filesystem::path(path)) {
    part /= name;
    struct stat status {};
    if (::stat(part.c_str(), &status) != 0) return {};
    const int wanted = part != path ? X_OK : S_ISDIR(status.st_mode) ? R_OK | X_OK : R_OK;
    if (::faccessat(AT_FDCWD, part.c_str(), wanted, AT_EACCESS) == 0) continue;
    if (status.st_uid == ::geteuid()) return {};
    const struct passwd* const owner = ::getpwuid(status.st_uid);
    const std::string user = owner == nullptr ? std::to_string(status.st_uid) : owner->pw_name;
    return (part == path ? "it" : part.string()) + " belongs to " + user + ": run this as " + user;
  }
  return {};
}

}  // namespace

tl::unexpected<Error> cannot_read(const std::string& path, int error) {
  const std::string owner = error == EACCES || error == EPERM ? owner_of_bar(path) : std::string();
  return fail(ErrorCode::io, "cannot read " + path + ": " + std::strerror(error) + (owner.empty() ? "" : "; " + owner));
}

Result<bool> is_there(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) == 0) return true;
  if (errno == ENOENT || errno == ENOTDIR) return false;
  return cannot_read(path, errno);
}

}  // namespace orbweaver
