// Waits until one of many ZeroMQ sockets has something to do. A wait costs by the number of sockets that have, not by
// the number of all: zmq_poll asks each of its sockets at each wake. Only for ring/zmq_*.cc.
//
// The descriptor of a socket (ZMQ_FD) is readable while libzmq has word for that socket. Each call on the socket may
// take this word, and then the descriptor says nothing of the messages that the word was about. So after any call on a
// socket, ZMQ_EVENTS must be looked at, or a receive must have found nothing, before the next wait (zmq_getsockopt(3)).
// Likewise once after the socket is made: libzmq gives word only to who has found nothing before.
//
// Bounds: one descriptor of its own, and one entry of the kernel's for each socket. Thread rule: one thread at a time.
#pragma once

#include <chrono>
#include <vector>

namespace orbweaver::ring {

class SocketWaiter {
 public:
  // Throws zmq::error_t when there is no descriptor left.
  SocketWaiter();
  ~SocketWaiter();
  SocketWaiter(const SocketWaiter&) = delete;
  SocketWaiter& operator=(const SocketWaiter&) = delete;

  // `who` is what wait() calls it by. False: the system has no room for it; errno tells why.
  bool add(int descriptor, void* who);
  // Before the socket is closed: libzmq closes its descriptor later, on a thread of its own.
  void remove(int descriptor);
  // Those that are ready, at most 64 at a time; the others come next time. None when `patience` is over, or after a
  // signal.
  std::vector<void*> wait(std::chrono::milliseconds patience);

 private:
  int epoll_;
};

}  // namespace orbweaver::ring
