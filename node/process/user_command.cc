#include "node/process/user_command.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>

#include "node/settings/settings.h"
#include "node/settings/units.h"

namespace orbweaver {

namespace {

using Steady = std::chrono::steady_clock;

// A file descriptor, closed by the destructor.
class Descriptor {
 public:
  explicit Descriptor(int fd = -1) : fd_(fd) {}
  ~Descriptor() { close(); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }
  bool open() const { return fd_ >= 0; }
  void set(int fd) { fd_ = fd; }
  void close() {
    if (fd_ >= 0) ::close(fd_);
    fd_ = -1;
  }

 private:
  int fd_;
};

std::string system_fault(const char* what, int error) { return std::string(what) + ": " + std::strerror(error); }

struct Streams {
  Descriptor input;  // our end; writing to it never raises SIGPIPE, because it is a socket
  Descriptor output;
  Descriptor child_input;
  Descriptor child_output;

  std::string open() {
    std::array<int, 2> ends{};
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) return system_fault("socket", errno);
    input.set(ends[0]);
    child_input.set(ends[1]);
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) return system_fault("pipe", errno);
    output.set(ends[0]);
    child_output.set(ends[1]);
    for (const int fd : {input.get(), output.get()})
      if (::fcntl(fd, F_SETFL, O_NONBLOCK) != 0) return system_fault("fcntl", errno);
    return {};
  }
};

// Writes and reads until the command closes its output, time is over, or the output is too long. Drops unread input.
void exchange(Streams& streams, std::string_view input, Steady::time_point deadline, std::size_t max_output_bytes,
              CommandOutput& out) {
  std::array<char, 65536> buffer{};
  if (input.empty()) streams.input.close();
  while (true) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Steady::now());
    if (left.count() <= 0) {
      out.fault = "did not end in time";
      return;
    }
    std::array<pollfd, 2> ready = {
        {{streams.output.get(), POLLIN, 0}, {streams.input.open() ? streams.input.get() : -1, POLLOUT, 0}}};
    const int wait = static_cast<int>(std::min<std::int64_t>(left.count(), 60'000));
    if (::poll(ready.data(), ready.size(), wait) < 0 && errno != EINTR) {
      out.fault = system_fault("poll", errno);
      return;
    }
    if (ready[1].revents != 0) {
      const ssize_t sent = ::send(streams.input.get(), input.data(), input.size(), MSG_NOSIGNAL);
      if (sent > 0) input.remove_prefix(static_cast<std::size_t>(sent));
      if (input.empty() || (sent < 0 && errno != EAGAIN && errno != EINTR)) streams.input.close();
    }
    if (ready[0].revents == 0) continue;
    const ssize_t got = ::read(streams.output.get(), buffer.data(), buffer.size());
    if (got == 0) return;
    if (got < 0 && errno != EAGAIN && errno != EINTR) {
      out.fault = system_fault("read", errno);
      return;
    }
    if (got < 0) continue;
    const std::size_t room = max_output_bytes - out.text.size();
    out.text.append(buffer.data(), std::min(room, static_cast<std::size_t>(got)));
    if (static_cast<std::size_t>(got) > room) {
      out.truncated = true;
      return;
    }
  }
}

// After the command closed its output it may need a moment to end. True: it has ended, and waitpid is still due.
bool ended(pid_t pid, Steady::time_point deadline) {
  constexpr int look_every_ms = 2;
  siginfo_t info{};
  while (::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == 0) {
    if (Steady::now() >= deadline) return false;
    ::poll(nullptr, 0, look_every_ms);
  }
  return true;
}

}  // namespace

CommandOutput UserCommands::run(const std::vector<std::string>& arguments, std::string_view input,
                                const CommandLimits& limits) {
  CommandOutput out;
  const Steady::time_point deadline = Steady::now() + limits.timeout;
  Streams streams;
  out.fault = streams.open();
  if (!out.fault.empty()) return out;
  const auto process = processes_.start(arguments, streams.child_input.get(), streams.child_output.get(),
                                        {.memory_bytes = limits.memory_bytes, .cpu = limits.timeout});
  if (!process) {
    out.fault = process.error().message;
    return out;
  }
  streams.child_input.close();
  streams.child_output.close();
  exchange(streams, input, deadline, limits.max_output_bytes, out);
  streams.input.close();
  streams.output.close();
  const bool by_itself = !out.truncated && out.fault.empty() && ended(process->pid, deadline);
  const int status = processes_.end(*process);
  if (!by_itself) {
    if (out.fault.empty() && !out.truncated) out.fault = "did not end in time";
  } else if (WIFSIGNALED(status)) {
    out.fault = "ended by signal " + std::to_string(WTERMSIG(status));
  } else if (WEXITSTATUS(status) != 0) {
    out.fault = "exit code " + std::to_string(WEXITSTATUS(status));
  }
  if (out.fault == "did not end in time") out.fault += " (" + duration_text(limits.timeout) + ")";
  if (!out.fault.empty()) out.text.clear();
  return out;
}

}  // namespace orbweaver
