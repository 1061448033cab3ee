// Locks a data directory for one process: flock on <directory>/lock, which names the process. Only the file's owner may
// open it (0600, whatever data_access is). The system releases the lock when the process dies. Thread rule: one owner.
#pragma once

#include <optional>
#include <string>

#include "node/base.h"
#include "node/settings/settings.h"

namespace orbweaver {

class DirectoryLock {
 public:
  // Makes the directory if it does not exist. make_own_directory() first refuses paths that another user could
  // redirect. The error in_use names the process that has the lock. A symbolic link at the lock's path is refused.
  static Result<DirectoryLock> take(const std::string& directory, DataAccess access = DataAccess::owner);
  // The number of the process that has the lock; nothing when none has. Nothing is written. For a user who may not open
  // the lock: the peer of peer.json if it is alive and has not ended; "unknown" without a peer.json.
  static std::optional<std::string> holder(const std::string& directory);
  DirectoryLock(DirectoryLock&& other) noexcept : fd_(std::exchange(other.fd_, -1)), path_(std::move(other.path_)) {}
  DirectoryLock& operator=(DirectoryLock&&) = delete;
  ~DirectoryLock();
  // False once the directory was removed or replaced: from then on everything written is lost when the open files are
  // closed, though the system reports no error.
  bool still_there() const;

 private:
  DirectoryLock(int fd, std::string path) : fd_(fd), path_(std::move(path)) {}
  int fd_;
  std::string path_;  // of the lock's file
};

}  // namespace orbweaver
