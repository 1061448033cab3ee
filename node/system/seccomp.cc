#include "node/system/seccomp.h"

#include <asm/ioctls.h>
#include <fcntl.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <utility>

namespace orbweaver {

namespace {

// set_mempolicy_home_node, Linux 5.17: the newest call that was reviewed for this list, on all architectures.
constexpr int newest_call = 450;
// Calls from there up to this one do not exist yet: a future one may do what the list refuses.
constexpr int calls_end = 600;

// More than libseccomp takes for the filter.
constexpr std::size_t filter_bytes = 4u << 20;

// libseccomp 2.5.4 ends the process (it writes to a null pointer) when it gets no memory. So it is tried before; a
// refusal throws std::bad_alloc.
void try_memory() {
  void* volatile tried = ::operator new(filter_bytes);  // volatile: else it may be left out
  ::operator delete(tried);
}

constexpr std::array refused = std::to_array<std::string_view>({
    // Sockets.
    "socket",
    "connect",
    "bind",
    "listen",
    // Properties and names of files. Landlock covers names, and lengths from ABI 3 on.
    "chmod",
    "fchmod",
    "fchmodat",
    "chown",
    "lchown",
    "fchown",
    "fchownat",
    "chown32",
    "lchown32",
    "fchown32",
    "utime",
    "utimes",
    "futimesat",
    "utimensat",
    "utimensat_time64",
    "setxattr",
    "lsetxattr",
    "fsetxattr",
    "removexattr",
    "lremovexattr",
    "fremovexattr",
    "mkdir",
    "mkdirat",
    "mknod",
    "mknodat",
    "rmdir",
    "unlink",
    "unlinkat",
    "rename",
    "renameat",
    "renameat2",
    "link",
    "linkat",
    "symlink",
    "symlinkat",
    "truncate",
    "truncate64",
    "open_by_handle_at",
    // Other processes: their memory, keys and queues.
    "ptrace",
    "process_vm_readv",
    "process_vm_writev",
    "process_madvise",
    "process_mrelease",
    "pidfd_getfd",
    "kcmp",
    "add_key",
    "request_key",
    "keyctl",
    "ipc",
    "shmget",
    "shmat",
    "shmctl",
    "msgget",
    "msgsnd",
    "msgrcv",
    "msgctl",
    "semget",
    "semop",
    "semtimedop",
    "semtimedop_time64",
    "semctl",
    "mq_open",
    "mq_unlink",
    // Rarer parts of the kernel, where faults are found.
    "io_uring_setup",
    "io_uring_enter",
    "io_uring_register",
    "bpf",
    "userfaultfd",
    "perf_event_open",
    "fanotify_init",
    "fanotify_mark",
    "lookup_dcookie",
    "memfd_secret",
    "modify_ldt",
    // The machine.
    "mount",
    "umount",
    "umount2",
    "pivot_root",
    "chroot",
    "open_tree",
    "move_mount",
    "fsopen",
    "fsconfig",
    "fsmount",
    "fspick",
    "mount_setattr",
    "unshare",
    "setns",
    "init_module",
    "finit_module",
    "delete_module",
    "create_module",
    "kexec_load",
    "kexec_file_load",
    "reboot",
    "swapon",
    "swapoff",
    "acct",
    "quotactl",
    "quotactl_fd",
    "settimeofday",
    "stime",
    "clock_settime",
    "clock_settime64",
    "adjtimex",
    "clock_adjtime",
    "clock_adjtime64",
    "sethostname",
    "setdomainname",
    "iopl",
    "ioperm",
    "syslog",
    "vhangup",
    "nfsservctl",
});

// Their flags are in memory, which a filter cannot see; the C library falls back to older calls.
constexpr std::array not_there = std::to_array<std::string_view>({"clone3", "openat2"});

// Allowed or refused by their arguments.
constexpr std::array by_arguments =
    std::to_array<std::string_view>({"clone", "open", "openat", "sendto", "socketpair", "ioctl", "socketcall"});

constexpr std::uint64_t namespaces = CLONE_NEWCGROUP | CLONE_NEWIPC | CLONE_NEWNET | CLONE_NEWNS | CLONE_NEWPID |
                                     CLONE_NEWUSER | CLONE_NEWUTS;  // only clone3 and unshare have CLONE_NEWTIME

constexpr std::uint64_t tcgets2 = 0x802c542a;  // later C libraries use it instead of TCGETS
// What a program asks about its own descriptors: whether one is a terminal, how much can be read, whether it blocks,
// whether exec keeps it.
constexpr std::array<std::uint64_t, 8> asked = {TCGETS,   tcgets2, TIOCGWINSZ, TIOCGPGRP,
                                                FIONREAD, FIONBIO, FIOCLEX,    FIONCLEX};

template <std::size_t N>
bool among(const std::array<std::string_view, N>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// Adds rules until one fails; `error` then has the failure.
class Rules {
 public:
  explicit Rules(scmp_filter_ctx context) : context_(context) {}
  void add(std::uint32_t action, int call, const std::vector<scmp_arg_cmp>& arguments = {}) {
    if (error == 0)
      error = ::seccomp_rule_add_array(context_, action, call, static_cast<unsigned>(arguments.size()),
                                       arguments.empty() ? nullptr : arguments.data());
  }
  // A call that this architecture does not have (open, on newer ones) is skipped.
  void allow(const char* name, const std::vector<scmp_arg_cmp>& arguments) {
    if (const int call = ::seccomp_syscall_resolve_name(name); call >= 0) add(SCMP_ACT_ALLOW, call, arguments);
  }

  int error = 0;

 private:
  scmp_filter_ctx context_;
};

scmp_arg_cmp is(unsigned argument, std::uint64_t value) { return {argument, SCMP_CMP_EQ, value, 0}; }
scmp_arg_cmp masked(unsigned argument, std::uint64_t mask, std::uint64_t value) {
  return {argument, SCMP_CMP_MASKED_EQ, mask, value};
}

void add_rules(Rules& rules) {
  for (int call = 0; call < calls_end; ++call) {
    const std::unique_ptr<char, decltype(&std::free)> known(::seccomp_syscall_resolve_num_arch(SCMP_ARCH_NATIVE, call),
                                                            &std::free);
    const std::string_view name = known ? known.get() : "";
    if (call > newest_call || among(not_there, name)) {
      rules.add(SCMP_ACT_ERRNO(ENOSYS), call);
    } else if (!name.empty() && !among(refused, name) && !among(by_arguments, name)) {
      rules.add(SCMP_ACT_ALLOW, call);
    }
  }
  rules.allow("clone", {masked(0, namespaces, 0)});
  // The kernel looks only at the low 32 bits.
  const auto opens = [&rules](const char* name, unsigned flags) {
    rules.allow(name, {masked(flags, O_TRUNC, 0)});
    rules.allow(name, {masked(flags, O_TRUNC | O_ACCMODE, O_TRUNC | O_WRONLY)});
    rules.allow(name, {masked(flags, O_TRUNC | O_ACCMODE, O_TRUNC | O_RDWR)});
  };
  opens("open", 1);
  opens("openat", 2);
  rules.allow("sendto", {is(4, 0)});
  constexpr std::uint64_t low = 0xffffffff;
  constexpr std::uint64_t kind = 0xf;  // other bits: SOCK_NONBLOCK, SOCK_CLOEXEC
  for (const std::uint64_t stream : {SOCK_STREAM, SOCK_SEQPACKET})
    rules.allow("socketpair", {masked(0, low, AF_UNIX), masked(1, kind, stream)});
  for (const std::uint64_t request : asked) rules.allow("ioctl", {masked(1, low, request)});
}

struct Release {
  void operator()(void* context) const { ::seccomp_release(context); }
};

// The filter as libseccomp writes it to a descriptor; version 2.5 has no other way.
int exported(scmp_filter_ctx context, std::vector<sock_filter>& out) {
  const int fd = ::memfd_create("filter", MFD_CLOEXEC);
  if (fd < 0) return -errno;
  int error = ::seccomp_export_bpf(context, fd);
  struct stat file {};
  if (error == 0 && ::fstat(fd, &file) != 0) error = -errno;
  if (error == 0) {
    out.resize(static_cast<std::size_t>(file.st_size) / sizeof(sock_filter));
    const ssize_t got = ::pread(fd, out.data(), out.size() * sizeof(sock_filter), 0);
    if (got != file.st_size || out.empty()) error = got < 0 ? -errno : -EIO;
  }
  ::close(fd);
  return error;
}

}  // namespace

Result<SeccompFilter> SeccompFilter::of_a_reader() {
  try_memory();
  const std::unique_ptr<void, Release> context(::seccomp_init(SCMP_ACT_ERRNO(EPERM)));
  if (!context) return fail(ErrorCode::io, "no filter of system calls could be made");
  int error = ::seccomp_attr_set(context.get(), SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);
  // A binary tree: a few comparisons per call.
  if (error == 0) error = ::seccomp_attr_set(context.get(), SCMP_FLTATR_CTL_OPTIMIZE, 2);
  Rules rules(context.get());
  if (error == 0) {
    add_rules(rules);
    error = rules.error;
  }
  std::vector<sock_filter> program;
  if (error == 0) error = exported(context.get(), program);
  if (error != 0)
    return fail(ErrorCode::io, std::string("no filter of system calls could be made: ") + std::strerror(-error));
  return SeccompFilter(std::move(program));
}

bool SeccompFilter::enter() const {
  const sock_fprog filter{static_cast<unsigned short>(program_.size()), const_cast<sock_filter*>(program_.data())};
  return ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter, 0, 0) == 0;
}

}  // namespace orbweaver
