// A process of the user's that reads hostile bytes, kept from whatever it does not need for that:
//
//   descriptors   0, 1 and /dev/null as 2; no other of this process (close_range)
//   environment   PATH, HOME, LANG, LC_ALL, LC_CTYPE, TZ; nothing else
//   limits        memory, CPU time, 64 descriptors, no file written (FSIZE 0), no core; 64 processes where they can be
//                 counted apart from the user's others (own namespaces, Linux 5.14, not as root)
//   rights        no new ones (NO_NEW_PRIVS), a session of its own
//   system calls  those that a reader needs (seccomp.h): no socket, no chmod, no way into other processes
//   namespaces    where the system lets users make them: its own processes, network, mounts and user, so it has no
//                 network and no right of root's, and all that it started ends with it; with a /proc of its own, where
//                 that may be mounted, it sees no other process
//   Landlock      where the kernel has it: nothing may be written, made, renamed or removed but /dev/null; from ABI 4
//   on
//                 no TCP, from 6 on no signal and no abstract socket to what is outside
//
// What it may do anyway: read what this user may read. It has no way to send that anywhere but its output.
// It is started without fork(): only async-signal-safe calls between clone (CLONE_VM, CLONE_VFORK) and exec.
// Thread rule: any thread; a process is ended by the thread that started it.
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
  // `arguments`: the program, looked up in PATH, and its arguments; at least one. The descriptors become its 0 and 1.
  // Errors: io; also where the kernel has no filter of system calls: then nothing is started.
  Result<Process> start(const std::vector<std::string>& arguments, int input, int output, const ProcessLimits& limits);
  // Kills it and all that it started, a daemon in a session of its own too, and waits for it: its status, as waitpid
  // gives it. Without namespaces this process takes in the orphans of its children (PR_SET_CHILD_SUBREAPER) and ends
  // those that no other command can have started; one that another one may have started ends when that one does.
  int end(const Process& process);

  // The Landlock ABI of this kernel; 0: it has none.
  static int landlock_abi();

 private:
  struct Running {
    pid_t pid = -1;
    std::uint64_t started = 0;  // ticks since boot, as /proc/PID/stat has it
  };
  void end_orphans(pid_t of);

  const Namespaces namespaces_;
  const Result<SeccompFilter> filter_;
  std::mutex mutex_;
  std::vector<Running> running_;  // guarded by mutex_
};

}  // namespace orbweaver
