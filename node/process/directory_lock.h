// Holds a data directory for one process: flock on <directory>/lock, which names the holder, and which its owner alone
// may open (0600, whatever data_access is). Freed by the system when the process dies. Thread rule: one owner.
#pragma once

#include <optional>
#include <string>

#include "node/base.h"
#include "node/settings/settings.h"

namespace orbweaver {

class DirectoryLock {
 public:
  // Makes the directory when it is not there (make_own_directory(), which refuses what others could lead astray, before
  // anything is written). in_use names the process that holds it. A link in the lock's place is refused.
  static Result<DirectoryLock> take(const std::string& directory, DataAccess access = DataAccess::owner);
  // The process that holds it now, by its number; nothing when none does. Nothing is written. For a user who may not
  // open the lock: the peer of peer.json while it lives and has not ended; "unknown" where there is none.
  static std::optional<std::string> holder(const std::string& directory);
  DirectoryLock(DirectoryLock&& other) noexcept : fd_(std::exchange(other.fd_, -1)), path_(std::move(other.path_)) {}
  DirectoryLock& operator=(DirectoryLock&&) = delete;
  ~DirectoryLock();
  // False once the directory was removed or another one is in its place: what is written from then on is lost with the
  // open files, though the system reports no error.
  bool still_there() const;

 private:
  DirectoryLock(int fd, std::string path) : fd_(fd), path_(std::move(path)) {}
  int fd_;
  std::string path_;  // of the lock's file
};

}  // namespace orbweaver
