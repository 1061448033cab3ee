// Landlock (Linux 5.13): a process gives up rights to files, sockets and signals, for itself and all that it starts.
// By raw system calls, for Debian 12's headers know ABI 2 only. Source: Documentation/userspace-api/landlock.rst.
// Thread rule: any thread.
#pragma once

#include <utility>

namespace orbweaver {

// 0: this kernel has none, or it is switched off.
int landlock_abi_of_kernel();

// A set of rules as a descriptor; -1 where there is no Landlock.
class LandlockRules {
 public:
  // Nothing may be written, made, renamed or removed but /dev/null; ABI 4: no TCP; 5: no ioctl of devices; 6: no signal
  // and no abstract socket to what is outside. Reading stays as it is.
  static LandlockRules no_writing();
  LandlockRules(LandlockRules&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  LandlockRules& operator=(LandlockRules&&) = delete;
  ~LandlockRules();
  int descriptor() const { return fd_; }

 private:
  explicit LandlockRules(int fd) : fd_(fd) {}
  int fd_;
};

// For this thread and what it starts; needs NO_NEW_PRIVS. Async-signal-safe. False: errno says why.
bool enter_landlock(int rules);

}  // namespace orbweaver
