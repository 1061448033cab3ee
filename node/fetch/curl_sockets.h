// The epoll set under libcurl's multi interface: which sockets libcurl waits for, and for what.
//
// libcurl stops and starts waiting for a kept-alive connection once per transfer; passing that to the kernel would cost
// two system calls per page. So one of our sockets stays in the set until it is closed, or has an event that libcurl
// does not wait for. That is safe only for sockets whose opening and closing pass through here (opened(),
// close_socket()). Changes to libcurl's own sockets (its resolver's wake-up pair) go to the kernel immediately. Thread
// rule: the fetcher's thread; wake() from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "node/base.h"

namespace orbweaver {

class CurlSockets {
 public:
  static constexpr std::uint8_t readable = 1;
  static constexpr std::uint8_t writable = 2;
  static constexpr std::uint8_t broken = 4;  // error or hang-up

  struct Event {
    int fd;
    std::uint8_t what;
  };

  CurlSockets() = default;
  ~CurlSockets();
  CurlSockets(const CurlSockets&) = delete;
  CurlSockets& operator=(const CurlSockets&) = delete;

  Result<void> open();
  void opened(int fd);
  int close_socket(int fd);
  std::size_t count() const { return count_; }  // our open sockets
  // What libcurl waits for on `fd`; 0: nothing more.
  void want(int fd, std::uint8_t what);
  // Waits at most `milliseconds` (-1: forever). The events stay valid until the next wait.
  const std::vector<Event>& wait(int milliseconds);
  void wake();

 private:
  struct Entry {
    std::uint8_t wanted = 0;
    std::uint8_t registered = 0;  // in the kernel's set
    bool ours = false;
  };
  Entry& entry(int fd);
  void tell(int fd, Entry& entry, std::uint8_t what);

  int epoll_ = -1;
  int wake_ = -1;
  std::size_t count_ = 0;
  std::vector<Entry> entries_;  // by fd: at most the process's limit of open files
  std::vector<Event> events_;
};

}  // namespace orbweaver
