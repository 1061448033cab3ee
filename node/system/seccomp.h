// seccomp (Linux 3.17, by Debian's libseccomp): a process gives up system calls, for itself and its descendants. It
// covers what Landlock and namespaces leave: sockets with paths; modes, owners and times of files; rarer kernel parts.
//
// It is a list of allowed calls. Others fail with EPERM, so that a program can report what it lacks:
//   sockets of every family, connect, bind, an address in sendto; a pair is AF_UNIX and a stream or seqpacket, for a
//   datagram's address cannot be seen
//   chmod, chown, utime, xattr; names: mkdir, unlink, rename, link, mknod; truncate, and O_TRUNC without write access
//   other processes: ptrace, process_vm_*, pidfd_getfd, System V IPC and message queues, keyrings
//   the kernel: io_uring, bpf, userfaultfd, perf events, mounts, namespaces, modules, clocks, quotas, fanotify
//   ioctl, but for what a program asks of its own descriptors
// Calls newer than Linux 5.17, and clone3 and openat2, whose flags cannot be seen, fail with ENOSYS: the C library has
// other ways. A call of another architecture (i386, x32) kills the process. Thread rule: any thread.
#pragma once

#include <linux/filter.h>

#include <utility>
#include <vector>

#include "node/base.h"

namespace orbweaver {

class SeccompFilter {
 public:
  // The filter for a text command. Errors: io, with the system's words. Without memory it throws std::bad_alloc.
  static Result<SeccompFilter> of_a_reader();
  // For this thread and processes it starts; needs NO_NEW_PRIVS. Async-signal-safe. False: the reason is in errno.
  bool enter() const;

 private:
  explicit SeccompFilter(std::vector<sock_filter> program) : program_(std::move(program)) {}
  std::vector<sock_filter> program_;
};

}  // namespace orbweaver
