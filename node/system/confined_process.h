// A user's process that reads hostile bytes, kept from everything that it does not need:
//
//   descriptors   0, 1, and /dev/null as 2; no other one of this process (close_range)
//   environment   PATH, HOME, LANG, LC_ALL, LC_CTYPE, TZ; nothing else
//   limits        memory, CPU time, 64 descriptors, no file written (FSIZE 0), no core; 64 processes where they can be
//                 counted apart from the user's others (own namespaces, Linux 5.14, not as root)
//   rights        no new ones (NO_NEW_PRIVS), a session of its own
//   system calls  those that a reader needs (seccomp.h): no socket, no chmod, no access to other processes
//   namespaces    where the system allows them: own processes, network, mounts and user, so it has no network and none
//                 of root's rights, and all processes that it started end with it; with a /proc of its own, where that
//                 may be mounted, it sees no other process
//   Landlock      where the kernel has it: nothing may be written, made, renamed or removed except /dev/null; from
//                 ABI 4 on no TCP; from 6 on no signals
//                 and no abstract sockets to the outside
//
// What it can still do: read files that this user may read. It can send them nowhere except to its output.
// It is started without fork(): only async-signal-safe calls between clone (CLONE_VM, CLONE_VFORK) and exec.
// Thread rule: any thread; the thread that started a process also ends it.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "node/base.h"
#include "node/system/seccomp.h"

namespace orbweaver {

struct ProcessLimits {
  std::uint64_t memory_bytes = std::uint64_t{1} << 30;  // address space of each of its processes
  Duration cpu{std::chrono::seconds{30}};               // of each of its processes; rounded up to seconds
};

class ConfinedProcesses {
 public:
  enum class Namespaces : std::uint8_t { where_allowed, never };
  explicit ConfinedProcesses(Namespaces namespaces = Namespaces::where_allowed);

  struct Process {
    pid_t pid = -1;
    bool own_namespaces = false;
  };
  // `arguments`: the program, which is looked up in PATH, and its arguments; at least one. The descriptors become its 0
  // and 1. Errors: io. Also io if the kernel has no filter of system calls: then nothing is started.
  Result<Process> start(const std::vector<std::string>& arguments, int input, int output, const ProcessLimits& limits);
  // Kills it and all processes that it started, including daemons in their own session, and waits for it. Returns its
  // status as from waitpid. Without namespaces this process adopts orphans (PR_SET_CHILD_SUBREAPER) and ends those that
  // no other command can have started; an orphan that another command may have started ends with that command.
  int end(const Process& process);

  // The Landlock ABI of this kernel; 0: it has none.
  static int landlock_abi();

 private:
  struct Running {
    pid_t pid = -1;
    std::uint64_t started = 0;  // in ticks since boot, as in /proc/PID/stat
  };
  void end_orphans(pid_t of);

  const Namespaces namespaces_;
  const Result<SeccompFilter> filter_;
  std::mutex mutex_;
  std::vector<Running> running_;  // guarded by mutex_
};

}  // namespace orbweaver
