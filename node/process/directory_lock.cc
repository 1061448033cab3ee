#include "node/process/directory_lock.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>

#include "node/process/peer_file.h"
#include "node/system/private_file.h"

namespace orbweaver {
namespace {

constexpr int max_looks = 10;
constexpr std::chrono::milliseconds look_time{20};

// The process number in the lock's file.
std::string number_in(int fd) {
  char text[32] = {};
  const ssize_t got = ::pread(fd, text, sizeof text - 1, 0);
  return std::string(text, got > 0 ? static_cast<std::size_t>(got) : 0);
}

// For users that may read the data (data_access) but not the lock: judges by the files that the peer wrote.
std::optional<std::string> holder_by_its_files(const std::string& directory) {
  struct stat status {};
  if (::stat((directory + "/lock").c_str(), &status) != 0) return std::nullopt;  // nothing else is there either
  if (::access((directory + "/ended.json").c_str(), F_OK) == 0) return std::nullopt;
  const Result<PeerFile> peer = read_peer_file(directory);
  if (!peer || peer->pid <= 0) return "unknown";
  if (::kill(peer->pid, 0) != 0 && errno == ESRCH) return std::nullopt;
  return std::to_string(peer->pid);
}

}  // namespace

std::optional<std::string> DirectoryLock::holder(const std::string& directory) {
  const std::string path = directory + "/lock";
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return errno == EACCES ? holder_by_its_files(directory) : std::nullopt;
  std::optional<std::string> holder;
  if (::flock(fd, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK) holder = number_in(fd);
  ::close(fd);
  return holder;
}

Result<DirectoryLock> DirectoryLock::take(const std::string& directory, DataAccess access) {
  if (Result<void> made = make_own_directory(directory, access); !made) return tl::make_unexpected(made.error());
  const std::string path = directory + "/lock";
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd < 0 && errno == ELOOP)
    return fail(ErrorCode::io, path + " is a link, which is not followed: remove it, or use another directory");
  if (fd < 0)
    return fail(errno == ENOSPC ? ErrorCode::disk_full : ErrorCode::io,
                "cannot open " + path + ": " + std::strerror(errno));
  // Independent of data_access: a user who can open the file can lock it and keep the owner out. A lock file from an
  // earlier release is made private.
  if (::fchmod(fd, 0600) != 0 && errno != EPERM) {
    const int error = errno;
    ::close(fd);
    return fail(ErrorCode::io, "cannot close " + path + ": " + std::strerror(error));
  }
  int refused = ::flock(fd, LOCK_EX | LOCK_NB);
  // A command that asks whether the directory is locked locks it for a moment.
  for (int i = 0; i < max_looks && refused != 0 && errno == EWOULDBLOCK; ++i) {
    std::this_thread::sleep_for(look_time);
    refused = ::flock(fd, LOCK_EX | LOCK_NB);
  }
  if (refused != 0) {
    const std::string holder = number_in(fd);
    ::close(fd);
    return fail(ErrorCode::in_use, "the directory " + directory + " is in use by process " + holder +
                                       "; stop it first (orbweaver stop), or use another directory");
  }
  const std::string pid = std::to_string(::getpid());
  if (::ftruncate(fd, 0) != 0 || ::pwrite(fd, pid.data(), pid.size(), 0) != static_cast<ssize_t>(pid.size())) {
    const int error = errno;
    ::close(fd);
    return fail(error == ENOSPC ? ErrorCode::disk_full : ErrorCode::io,
                "cannot write " + path + ": " + std::strerror(error));
  }
  return DirectoryLock(fd, path);
}

bool DirectoryLock::still_there() const {
  struct stat open_file {};
  struct stat named {};
  return ::fstat(fd_, &open_file) == 0 && ::stat(path_.c_str(), &named) == 0 && open_file.st_ino == named.st_ino &&
         open_file.st_dev == named.st_dev;
}

DirectoryLock::~DirectoryLock() {
  if (fd_ >= 0) ::close(fd_);
}

}  // namespace orbweaver
