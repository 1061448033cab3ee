#include "node/run/private_file.h"

#include <fcntl.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

namespace orbweaver {

namespace {

ErrorCode code_of(int error) { return error == ENOSPC || error == EDQUOT ? ErrorCode::disk_full : ErrorCode::io; }

tl::unexpected<Error> cannot(const char* what, const std::string& path, int error) {
  return fail(code_of(error), std::string("cannot ") + what + " " + path + ": " + std::strerror(error));
}

// Into a file that this call makes; on failure nothing is left of it.
Result<void> write_new(const std::string& path, const std::string& text, mode_t mode,
                       storage::OpenWaiter* waiter = nullptr) {
  int fd = -1;
  const int failure = storage::open_with(waiter, path, [&] {
    fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
    return fd < 0 ? errno : 0;
  });
  if (failure != 0) return cannot("make", path, failure);
  std::size_t done = 0;
  int error = 0;
  while (done < text.size() && error == 0) {
    const ssize_t wrote = ::write(fd, text.data() + done, text.size() - done);
    if (wrote >= 0) done += static_cast<std::size_t>(wrote);
    if (wrote < 0 && errno != EINTR) error = errno;
  }
  if (::close(fd) != 0 && error == 0) error = errno;
  if (error == 0) return {};
  ::unlink(path.c_str());
  return cannot("write", path, error);
}

Result<void> check_owner(const std::string& path, const struct stat& status) {
  if (status.st_uid == ::geteuid() || status.st_uid == 0) return {};
  const struct passwd* const owner = ::getpwuid(status.st_uid);
  const std::string name = owner == nullptr ? std::to_string(status.st_uid) : owner->pw_name;
  return fail(ErrorCode::io, path + " belongs to another user (" + name +
                                 "), who could lead what is written there astray; run this as that user" +
                                 (::geteuid() == 0 ? " (--user " + name + ")" : "") +
                                 ", or take a directory of your own");
}

mode_t mask_of(DataAccess access) {
  switch (access) {
    case DataAccess::owner:
      return 077;
    case DataAccess::group:
      return 027;
    case DataAccess::all:
      return 022;
  }
  return 077;
}

}  // namespace

void set_data_access(DataAccess access) { ::umask(mask_of(access)); }

Result<void> make_own_directory(const std::string& path, DataAccess access) {
  std::error_code made;
  std::filesystem::create_directories(path, made);
  if (made) return fail(code_of(made.value()), "cannot make the directory " + path + ": " + made.message());
  std::error_code looked;
  if (std::filesystem::is_empty(path, looked) && !looked) return close_directory(path, access);
  return {};
}

Result<void> check_owner(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return cannot("look at", path, errno);
  return check_owner(path, status);
}

Result<void> close_directory(const std::string& path, DataAccess access) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) {
    if (errno == ENOENT) return {};
    return cannot("look at", path, errno);
  }
  if (Result<void> owned = check_owner(path, status); !owned) return owned;
  const mode_t wanted = 0777U & ~mask_of(access);
  // Of a directory of root's, used by another user, root has said who may read it.
  if (status.st_uid != ::geteuid() || (status.st_mode & 0777U) == wanted) return {};
  if (::chmod(path.c_str(), wanted) != 0) return cannot("close", path, errno);
  return {};
}

Result<void> write_whole(const std::string& path, const std::string& text, storage::OpenWaiter* waiter) {
  const std::string fresh = path + ".new";
  if (::unlink(fresh.c_str()) != 0 && errno != ENOENT) return cannot("replace", fresh, errno);
  if (Result<void> written = write_new(fresh, text, 0666, waiter); !written) return written;
  if (::rename(fresh.c_str(), path.c_str()) == 0) return {};
  const int error = errno;
  ::unlink(fresh.c_str());
  return cannot("write", path, error);
}

Result<void> write_secret(const std::string& path, const std::string& text) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) == 0)
    return fail(ErrorCode::invalid_input, path + " is there already and stays as it is; name a new file");
  return write_new(path, text, 0600);
}

}  // namespace orbweaver
