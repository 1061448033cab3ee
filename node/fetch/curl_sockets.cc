#include "node/fetch/curl_sockets.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

namespace orbweaver {

CurlSockets::~CurlSockets() {
  if (wake_ >= 0) ::close(wake_);
  if (epoll_ >= 0) ::close(epoll_);
}

Result<void> CurlSockets::open() {
  epoll_ = epoll_create1(EPOLL_CLOEXEC);
  wake_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.fd = wake_;
  if (epoll_ < 0 || wake_ < 0 || epoll_ctl(epoll_, EPOLL_CTL_ADD, wake_, &event) != 0) {
    return fail(ErrorCode::io, std::string("cannot set up the fetcher's event loop: ") + std::strerror(errno));
  }
  return {};
}

CurlSockets::Entry& CurlSockets::entry(int fd) {
  const auto index = static_cast<std::size_t>(fd);
  if (index >= entries_.size()) entries_.resize(index + 64);
  return entries_[index];
}

void CurlSockets::opened(int fd) {
  entry(fd) = Entry{};
  entry(fd).ours = true;
  ++count_;
}

int CurlSockets::close_socket(int fd) {
  if (std::exchange(entry(fd), Entry{}).ours) --count_;  // closing takes it out of the epoll set
  return ::close(fd);
}

void CurlSockets::tell(int fd, Entry& entry, std::uint8_t what) {
  epoll_event event{};
  event.data.fd = fd;
  if ((what & readable) != 0) event.events |= EPOLLIN;
  if ((what & writable) != 0) event.events |= EPOLLOUT;
  const int operation = what == 0 ? EPOLL_CTL_DEL : entry.registered == 0 ? EPOLL_CTL_ADD : EPOLL_CTL_MOD;
  if (epoll_ctl(epoll_, operation, fd, &event) != 0 && what != 0) {
    // The descriptor's number was closed and reused without our knowledge: the other of ADD and MOD is right.
    if (errno == EEXIST) epoll_ctl(epoll_, EPOLL_CTL_MOD, fd, &event);
    if (errno == ENOENT) epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &event);
  }
  entry.registered = what;
}

void CurlSockets::want(int fd, std::uint8_t what) {
  Entry& found = entry(fd);
  found.wanted = what;
  const bool lazy = what == 0 && found.ours;
  if (what != found.registered && !lazy) tell(fd, found, what);
  if (what == 0 && !found.ours) found = Entry{};
}

const std::vector<CurlSockets::Event>& CurlSockets::wait(int milliseconds) {
  std::array<epoll_event, 256> ready{};
  events_.clear();
  const int count = epoll_wait(epoll_, ready.data(), static_cast<int>(ready.size()), milliseconds);
  for (int i = 0; i < count; ++i) {
    const epoll_event& event = ready[static_cast<std::size_t>(i)];
    if (event.data.fd == wake_) {
      std::uint64_t value = 0;
      [[maybe_unused]] const ssize_t got = ::read(wake_, &value, sizeof value);
      continue;
    }
    Entry& found = entry(event.data.fd);
    if (found.wanted == 0) {
      tell(event.data.fd, found, 0);
      continue;
    }
    std::uint8_t what = 0;
    if ((event.events & EPOLLIN) != 0) what |= readable;
    if ((event.events & EPOLLOUT) != 0) what |= writable;
    if ((event.events & (EPOLLERR | EPOLLHUP)) != 0) what |= broken;
    events_.push_back({event.data.fd, what});
  }
  return events_;
}

void CurlSockets::wake() {
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t put = ::write(wake_, &one, sizeof one);
}

}  // namespace orbweaver
