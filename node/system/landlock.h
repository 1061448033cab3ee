// Landlock (Linux 5.13): a process gives up rights to files, sockets and signals, for itself and all processes it
// starts. It uses raw system calls, since Debian 12's headers only have ABI 2. Source:
// Documentation/userspace-api/landlock.rst. Thread rule: any thread.
#pragma once

#include <utility>

namespace orbweaver {

// 0: this kernel does not have Landlock, or it is disabled.
int landlock_abi_of_kernel();

// A set of rules as a descriptor; -1 without Landlock.
class LandlockRules {
 public:
  // Nothing except /dev/null may be written; nothing may be made, renamed or removed. ABI 4: no TCP; 5: no ioctl of
  // devices; 6: no signals and abstract sockets to the outside. Reading stays allowed.
  static LandlockRules no_writing();
  LandlockRules(LandlockRules&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  LandlockRules& operator=(LandlockRules&&) = delete;
  ~LandlockRules();
  int descriptor() const { return fd_; }

 private:
  explicit LandlockRules(int fd) : fd_(fd) {}
  int fd_;
};

// Applies to this thread and processes it starts; needs NO_NEW_PRIVS. Async-signal-safe. False: the reason is in errno.
bool enter_landlock(int rules);

}  // namespace orbweaver
