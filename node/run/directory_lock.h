// Holds a data directory for one process: flock on <directory>/lock, which names the holder. Freed by the system when
// the process dies. Thread rule: one owner.
#pragma once

#include <string>

#include "node/base.h"

namespace orbweaver {

class DirectoryLock {
 public:
  // Makes the directory when it is not there. in_use names the process that holds it.
  static Result<DirectoryLock> take(const std::string& directory);
  DirectoryLock(DirectoryLock&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  DirectoryLock& operator=(DirectoryLock&&) = delete;
  ~DirectoryLock();

 private:
  explicit DirectoryLock(int fd) : fd_(fd) {}
  int fd_;
};

}  // namespace orbweaver
