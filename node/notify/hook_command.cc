#include "node/notify/hook_command.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <sstream>

#include "node/system/spared_children.h"

namespace orbweaver {

namespace {

Delivery fault(const std::string& what) { return {Delivery::Outcome::again, what}; }
Delivery system_fault(const char* what, int error) { return fault(std::string(what) + ": " + std::strerror(error)); }

struct Actions {
  Actions() { ::posix_spawn_file_actions_init(&value); }
  ~Actions() { ::posix_spawn_file_actions_destroy(&value); }
  Actions(const Actions&) = delete;
  Actions& operator=(const Actions&) = delete;
  posix_spawn_file_actions_t value{};
};
struct Attributes {
  Attributes() { ::posix_spawnattr_init(&value); }
  ~Attributes() { ::posix_spawnattr_destroy(&value); }
  Attributes(const Attributes&) = delete;
  Attributes& operator=(const Attributes&) = delete;
  posix_spawnattr_t value{};
};

// 0 or an error number.
int start(const std::vector<std::string>& arguments, int input, pid_t& pid) {
  Actions actions;
  ::posix_spawn_file_actions_adddup2(&actions.value, input, STDIN_FILENO);
  ::posix_spawn_file_actions_addopen(&actions.value, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  ::posix_spawn_file_actions_addopen(&actions.value, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  ::posix_spawn_file_actions_addclosefrom_np(&actions.value, STDERR_FILENO + 1);
  Attributes attributes;
  // This process's threads block signals, and it ignores SIGPIPE: a program expects neither.
  sigset_t none;
  sigset_t usual;
  sigemptyset(&none);
  sigemptyset(&usual);
  sigaddset(&usual, SIGPIPE);
  ::posix_spawnattr_setsigmask(&attributes.value, &none);
  ::posix_spawnattr_setsigdefault(&attributes.value, &usual);
  ::posix_spawnattr_setflags(&attributes.value, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSID);
  std::vector<char*> words;
  for (const std::string& argument : arguments) words.push_back(const_cast<char*>(argument.c_str()));
  words.push_back(nullptr);
  return ::posix_spawnp(&pid, words[0], &actions.value, &attributes.value, words.data(), environ);
}

using Steady = std::chrono::steady_clock;
constexpr std::chrono::milliseconds look_every{10};

// All of it, or what it reads until the time is over.
Delivery give(int pipe, const std::string& json, Steady::time_point end) {
  std::size_t at = 0;
  while (at < json.size()) {
    const ssize_t written = ::write(pipe, json.data() + at, json.size() - at);
    if (written > 0) at += static_cast<std::size_t>(written);
    if (written >= 0 || errno == EINTR) continue;
    if (errno == EPIPE) return {};  // it does not want to know more
    if (errno != EAGAIN) return system_fault("its input", errno);
    if (Steady::now() >= end) return fault("it does not read its input");
    pollfd ready{.fd = pipe, .events = POLLOUT, .revents = 0};
    ::poll(&ready, 1, static_cast<int>(look_every.count()));
  }
  return {};
}

// The status, as from waitpid; nothing: time is over.
std::optional<int> wait_for(pid_t pid, Steady::time_point end) {
  int status = 0;
  for (;;) {
    const pid_t found = ::waitpid(pid, &status, WNOHANG);
    if (found == pid) return status;
    if (found < 0 && errno != EINTR) return std::nullopt;
    if (Steady::now() >= end) return std::nullopt;
    ::poll(nullptr, 0, static_cast<int>(look_every.count()));
  }
}

Delivery judged(int status) {
  if (WIFSIGNALED(status)) return fault("it ended by signal " + std::to_string(WTERMSIG(status)));
  if (WEXITSTATUS(status) != 0) return fault("it ended with exit code " + std::to_string(WEXITSTATUS(status)));
  return {};
}

}  // namespace

std::vector<std::string> words_of(const std::string& command) {
  std::istringstream text(command);
  std::vector<std::string> words;
  for (std::string word; text >> word;) words.push_back(word);
  return words;
}

Delivery run(const HookCommand& command, const std::string& json) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0 || ::fcntl(ends[1], F_SETFL, O_NONBLOCK) != 0)
    return system_fault("pipe", errno);
  int error = 0;
  const pid_t pid = SparedChildren::start([&] {
    pid_t child = -1;
    error = start(command.arguments, ends[0], child);
    return error == 0 ? child : -1;
  });
  ::close(ends[0]);
  if (error != 0) {
    ::close(ends[1]);
    return system_fault("it cannot be started", error);
  }
  const Steady::time_point end = Steady::now() + command.timeout;
  const Delivery given = give(ends[1], json + "\n", end);
  ::close(ends[1]);
  const std::optional<int> status = wait_for(pid, end);
  if (!status) {
    ::kill(-pid, SIGKILL);
    (void)wait_for(pid, Steady::now() + std::chrono::seconds{5});  // one that may not be killed is left
  }
  SparedChildren::ended(pid);
  if (!status) return fault("it did not end in time");
  return given.outcome == Delivery::Outcome::taken ? judged(*status) : given;
}

}  // namespace orbweaver
