#include "ring/zmq_waiter.h"

#include <sys/epoll.h>
#include <unistd.h>

#include <array>
#include <zmq.hpp>

namespace orbweaver::ring {

namespace {
constexpr std::size_t at_a_time = 64;
}  // namespace

SocketWaiter::SocketWaiter() : epoll_(epoll_create1(EPOLL_CLOEXEC)) {
  if (epoll_ < 0) throw zmq::error_t();
}

SocketWaiter::~SocketWaiter() { ::close(epoll_); }

bool SocketWaiter::add(int descriptor, void* who) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.ptr = who;
  return epoll_ctl(epoll_, EPOLL_CTL_ADD, descriptor, &event) == 0;
}

void SocketWaiter::remove(int descriptor) { epoll_ctl(epoll_, EPOLL_CTL_DEL, descriptor, nullptr); }

std::vector<void*> SocketWaiter::wait(std::chrono::milliseconds patience) {
  std::array<epoll_event, at_a_time> events;
  const int ready = epoll_wait(epoll_, events.data(), at_a_time, static_cast<int>(patience.count()));
  std::vector<void*> who;
  who.reserve(at_a_time);
  for (int i = 0; i < ready; ++i) who.push_back(events.at(static_cast<std::size_t>(i)).data.ptr);
  return who;
}

}  // namespace orbweaver::ring
