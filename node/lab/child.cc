#include "node/lab/child.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <thread>
#include <utility>

#include "node/system/program_beside.h"

namespace orbweaver {

namespace {

constexpr std::chrono::milliseconds look_every{10};

double seconds_of(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

}  // namespace

Result<Child> Child::start(const std::vector<std::string>& arguments, const std::string& out_file,
                           const std::string& err_file) {
  const Result<std::string> program = program_beside(crawler_program);
  if (!program) return tl::make_unexpected(program.error());
  const int out = ::open(out_file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  const int err = ::open(err_file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (out < 0 || err < 0) {
    const int error = errno;
    if (out >= 0) ::close(out);
    if (err >= 0) ::close(err);
    return fail(ErrorCode::io, "cannot write to " + (out < 0 ? out_file : err_file) + ": " + std::strerror(error));
  }
  std::vector<std::string> texts = {"orbweaver"};
  texts.insert(texts.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  argv.reserve(texts.size() + 1);
  for (std::string& text : texts) argv.push_back(text.data());
  argv.push_back(nullptr);
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid == 0) {  // the child has no other threads: system calls only
    ::prctl(PR_SET_PDEATHSIG, SIGINT);
    if (::getppid() != parent) ::_exit(0);
    ::setpgid(0, 0);
    ::dup2(out, 1);
    ::dup2(err, 2);
    ::execv(program->c_str(), argv.data());
    ::_exit(static_cast<int>(ErrorCode::internal));
  }
  const int error = errno;
  ::close(out);
  ::close(err);
  if (pid < 0) return fail(ErrorCode::io, std::string("cannot start a process: ") + std::strerror(error));
  return Child(pid);
}

Child::Child(Child&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)), code_(other.code_), cpu_seconds_(other.cpu_seconds_) {}

Child::~Child() {
  if (pid_ <= 0) return;
  ::kill(pid_, SIGKILL);
  reap(true);
}

bool Child::reap(bool block) {
  int status = 0;
  rusage usage{};
  if (pid_ <= 0) return true;
  if (::wait4(pid_, &status, block ? 0 : WNOHANG, &usage) != pid_) return false;
  pid_ = -1;
  code_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  cpu_seconds_ = seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime);
  return true;
}

bool Child::running() { return !reap(false); }

void Child::interrupt() const {
  if (pid_ > 0) ::kill(pid_, SIGINT);
}

std::optional<int> Child::wait(std::chrono::milliseconds at_most) {
  const auto until = std::chrono::steady_clock::now() + at_most;
  while (!reap(false)) {
    if (std::chrono::steady_clock::now() >= until) return std::nullopt;
    std::this_thread::sleep_for(look_every);
  }
  return code_;
}

Result<WorkDirectory> WorkDirectory::make(const std::string& parent) {
  std::error_code error;
  const std::filesystem::path below =
      parent.empty() ? std::filesystem::temp_directory_path(error) : std::filesystem::path(parent);
  std::string path = (below / "orbweaver-lab-XXXXXX").string();
  if (error || ::mkdtemp(path.data()) == nullptr)
    return fail(ErrorCode::io, "cannot make a directory in " + below.string() + ": " +
                                   (error ? error.message() : std::strerror(errno)));
  return WorkDirectory(path);
}

WorkDirectory::WorkDirectory(WorkDirectory&& other) noexcept : path_(std::exchange(other.path_, {})) {}

WorkDirectory::~WorkDirectory() {
  std::error_code ignored;  // nothing depends on it any more
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

}  // namespace orbweaver
