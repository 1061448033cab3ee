#include "node/system/confined_process.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <limits>
#include <string_view>

#include "node/system/landlock.h"
#include "node/system/process_tree.h"
#include "node/system/spared_children.h"

namespace orbweaver {

namespace {

constexpr std::array<const char*, 6> kept_variables{"PATH", "HOME", "LANG", "LC_ALL", "LC_CTYPE", "TZ"};
constexpr std::size_t stack_bytes = 256U << 10;
constexpr rlim_t max_descriptors = 64;
constexpr rlim_t max_processes = 64;
constexpr std::uint64_t begets_no_orphans = std::numeric_limits<std::uint64_t>::max();

// Readable when this process has ended.
class OwnDescriptor {
 public:
  OwnDescriptor() : descriptor_(static_cast<int>(::syscall(SYS_pidfd_open, ::getpid(), 0))) {}
  ~OwnDescriptor() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  OwnDescriptor(const OwnDescriptor&) = delete;
  OwnDescriptor& operator=(const OwnDescriptor&) = delete;
  int get() const { return descriptor_; }  // -1: there is none, before Linux 5.3

 private:
  int descriptor_;
};

struct Limit {
  int what = 0;
  rlim_t value = 0;
};

// All that the child needs, prepared before it starts: the child may not allocate.
struct Plan {
  const char* path = nullptr;
  char* const* arguments = nullptr;
  char* const* environment = nullptr;
  int input = -1;
  int output = -1;
  int landlock = -1;  // -1: none
  int peer = -1;      // OwnDescriptor
  const SeccompFilter* filter = nullptr;
  bool own_mounts = false;  // own processes too: then try a /proc of its own
  std::array<Limit, 6> limits{};
  std::size_t limits_used = 0;
  int error = 0;  // of a child whose exec failed
};

// The child's code. It runs on its own stack in this process's memory; the parent's thread is suspended until the exec.
[[gnu::no_sanitize_address]] int child_main(void* argument) {
  Plan& plan = *static_cast<Plan*>(argument);
  const auto stop = [&plan] {
    plan.error = errno == 0 ? EINVAL : errno;
    ::_exit(127);
  };
  // If this peer is killed from now on; or was, since the clone.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  pollfd peer{plan.peer, POLLIN, 0};
  if (plan.peer >= 0 && ::poll(&peer, 1, 0) != 0) ::_exit(127);
  if (::setsid() < 0) stop();
  // First moves them out of the way of 0, 1 and 2.
  const int input = ::fcntl(plan.input, F_DUPFD, 3);
  const int output = ::fcntl(plan.output, F_DUPFD, 3);
  const int landlock = plan.landlock < 0 ? -1 : ::fcntl(plan.landlock, F_DUPFD, 3);
  const int nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  if (input < 0 || output < 0 || nowhere < 0 || (plan.landlock >= 0 && landlock < 0)) stop();
  if (::dup2(input, STDIN_FILENO) < 0 || ::dup2(output, STDOUT_FILENO) < 0 || ::dup2(nowhere, STDERR_FILENO) < 0)
    stop();
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) stop();
  // Before Landlock, which forbids mounts. It fails where parts of /proc are hidden (containers): /proc then stays.
  if (plan.own_mounts) ::mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr);
  if (landlock >= 0 && !enter_landlock(landlock)) stop();
  for (std::size_t i = 0; i < plan.limits_used; ++i) {
    const rlimit limit{plan.limits[i].value, plan.limits[i].value};
    if (::setrlimit(static_cast<__rlimit_resource_t>(plan.limits[i].what), &limit) != 0) stop();
  }
  if (::close_range(3, ~0U, 0) != 0) {
    rlimit open_files{};  // before Linux 5.9
    if (::getrlimit(RLIMIT_NOFILE, &open_files) != 0) stop();
    for (int fd = 3; fd < 65'536; ++fd) ::close(fd);
  }
  struct sigaction usual {};
  usual.sa_handler = SIG_DFL;
  for (int signal = 1; signal < NSIG; ++signal) ::sigaction(signal, &usual, nullptr);  // fails for some signals
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::umask(077);
  if (!plan.filter->enter()) stop();
  ::execve(plan.path, plan.arguments, plan.environment);
  stop();
  return 127;
}

// Since Linux 5.14 a user's processes are counted per user namespace; before, a limit would count all of them.
bool counts_processes_apart() {
  utsname system{};
  int major = 0;
  int minor = 0;
  if (::uname(&system) != 0 || std::sscanf(system.release, "%d.%d", &major, &minor) != 2) return false;
  return major > 5 || (major == 5 && minor >= 14);
}

// Searches like execvp; if nothing is found, returns the name itself, and the system reports the reason.
std::string program_path(const std::string& name) {
  if (name.find('/') != std::string::npos) return name;
  const char* const variable = std::getenv("PATH");
  std::string_view path = variable != nullptr ? variable : "/usr/local/bin:/usr/bin:/bin";
  while (!path.empty()) {
    const std::size_t end = std::min(path.find(':'), path.size());
    std::string found = (end == 0 ? std::string(".") : std::string(path.substr(0, end))) + "/" + name;
    std::error_code ignored;
    if (::access(found.c_str(), X_OK) == 0 && !std::filesystem::is_directory(found, ignored)) return found;
    path.remove_prefix(std::min(end + 1, path.size()));
  }
  return name;
}

std::vector<std::string> environment() {
  std::vector<std::string> kept;
  for (const char* name : kept_variables)
    if (const char* const value = std::getenv(name)) kept.push_back(std::string(name) + "=" + value);
  return kept;
}

std::vector<char*> words_of(const std::vector<std::string>& texts) {
  std::vector<char*> words;
  words.reserve(texts.size() + 1);
  for (const std::string& text : texts) words.push_back(const_cast<char*>(text.c_str()));
  words.push_back(nullptr);
  return words;
}

void add_limit(Plan& plan, int what, rlim_t value) { plan.limits[plan.limits_used++] = Limit{what, value}; }

pid_t launch(Plan& plan, int flags) {
  void* const stack =
      ::mmap(nullptr, stack_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
  if (stack == MAP_FAILED) {
    plan.error = errno;
    return -1;
  }
  // None of our signal handlers may run in the child, because it shares our memory.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  plan.error = 0;
  const pid_t pid =
      ::clone(child_main, static_cast<char*>(stack) + stack_bytes, CLONE_VM | CLONE_VFORK | SIGCHLD | flags, &plan);
  if (pid < 0) plan.error = errno;
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  ::munmap(stack, stack_bytes);
  if (pid > 0 && plan.error != 0) {
    int status = 0;
    while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    return -1;
  }
  return pid;
}

// Returns when it has ended; waitpid is still due.
void wait_for(pid_t pid) {
  siginfo_t info{};
  while (::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOWAIT) != 0 && errno == EINTR) {
  }
}

bool not_allowed(int error) { return error == EPERM || error == EINVAL || error == ENOSPC || error == EUSERS; }

}  // namespace

ConfinedProcesses::ConfinedProcesses(Namespaces namespaces)
    : namespaces_(namespaces), filter_(SeccompFilter::of_a_reader()) {}

int ConfinedProcesses::landlock_abi() { return landlock_abi_of_kernel(); }

Result<ConfinedProcesses::Process> ConfinedProcesses::start(const std::vector<std::string>& arguments, int input,
                                                            int output, const ProcessLimits& limits) {
  if (!filter_) return tl::make_unexpected(filter_.error());
  const std::string path = program_path(arguments.front());
  const std::vector<std::string> variables = environment();
  const std::vector<char*> words = words_of(arguments);
  const std::vector<char*> kept = words_of(variables);
  const LandlockRules rules = LandlockRules::no_writing();
  const OwnDescriptor self;
  Plan plan;
  plan.peer = self.get();
  plan.path = path.c_str();
  plan.arguments = words.data();
  plan.environment = kept.data();
  plan.input = input;
  plan.output = output;
  plan.landlock = rules.descriptor();
  plan.filter = &*filter_;
  add_limit(plan, RLIMIT_AS, static_cast<rlim_t>(limits.memory_bytes));
  add_limit(plan, RLIMIT_CPU, static_cast<rlim_t>(std::chrono::ceil<std::chrono::seconds>(limits.cpu).count()));
  add_limit(plan, RLIMIT_NOFILE, max_descriptors);
  add_limit(plan, RLIMIT_FSIZE, 0);
  add_limit(plan, RLIMIT_CORE, 0);
  const std::lock_guard guard(mutex_);  // end_orphans() must not find a process that is not yet listed
  if (namespaces_ == Namespaces::where_allowed) {
    const std::size_t without = plan.limits_used;
    if (counts_processes_apart()) add_limit(plan, RLIMIT_NPROC, max_processes);
    plan.own_mounts = true;
    const pid_t pid = launch(plan, CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWNS);
    if (pid > 0) {
      running_.push_back({pid, begets_no_orphans});
      return Process{pid, true};
    }
    if (!not_allowed(plan.error))
      return fail(ErrorCode::io, std::string("cannot be started: ") + std::strerror(plan.error));
    plan.limits_used = without;
    plan.own_mounts = false;
  }
  ::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
  const pid_t pid = launch(plan, 0);
  if (pid < 0) return fail(ErrorCode::io, std::string("cannot be started: ") + std::strerror(plan.error));
  Running running{pid, 0};
  for (const ProcessEntry& entry : processes())
    if (entry.pid == pid) running.started = entry.started;
  running_.push_back(running);
  return Process{pid, false};
}

// Ends the processes that the command started and that still exist: its descendants, and orphans that this process has
// received since the command started. Skips those that another running command may have started. Repeats this, because
// the children of a killed process become orphans too.
void ConfinedProcesses::end_orphans(pid_t of) {
  constexpr int max_passes = 2'000;
  constexpr int pass_wait_ms = 1;
  const pid_t self = ::getpid();
  for (int pass = 0; pass < max_passes; ++pass) {
    std::vector<ProcessEntry> all;
    std::set<pid_t> spared;
    SparedChildren::look([&](const std::set<pid_t>& children) {
      all = processes();
      spared = children;
    });
    std::vector<pid_t> roots = {of};
    for (const ProcessEntry& process : all) {
      if (process.parent != self || spared.contains(process.pid)) continue;
      const bool of_another = std::any_of(running_.begin(), running_.end(), [&](const Running& other) {
        return other.pid == process.pid || (other.pid != of && other.started <= process.started);
      });
      if (!of_another) roots.push_back(process.pid);
    }
    bool any = false;
    for (const ProcessEntry& process : with_descendants(all, roots)) {
      if (process.pid == of) continue;
      if (process.state == 'Z') {
        if (process.parent == self) ::waitpid(process.pid, nullptr, WNOHANG);
        continue;
      }
      any = true;
      ::kill(process.pid, SIGKILL);
    }
    if (!any) return;
    ::poll(nullptr, 0, pass_wait_ms);
  }
}

int ConfinedProcesses::end(const Process& process) {
  ::kill(-process.pid, SIGKILL);  // its number is not reused before waitpid
  ::kill(process.pid, SIGKILL);
  if (process.own_namespaces) wait_for(process.pid);
  const std::lock_guard guard(mutex_);
  if (!process.own_namespaces) end_orphans(process.pid);
  int status = 0;
  while (::waitpid(process.pid, &status, 0) < 0 && errno == EINTR) {
  }
  std::erase_if(running_, [&](const Running& running) { return running.pid == process.pid; });
  return status;
}

}  // namespace orbweaver
