#include "ring/zmq_start.h"

#include <zmq.h>

#include <cerrno>
#include <future>
#include <string_view>
#include <thread>
#include <vector>

namespace orbweaver::ring {

namespace {

constexpr std::string_view no_memory_text =
    "there is not enough memory, or no thread is to be had (ulimit -v, ulimit -u)";
constexpr std::size_t library_threads = 2;  // of a context: the reaper and one for I/O

}  // namespace

Error listen_error(const std::string& listen, int number) {
  const std::string start = "cannot listen on " + listen + ": ";
  if (number == EADDRINUSE) {
    return {start +
            "the address is in use by another program (a peer that still runs?); stop it, or choose another port " +
            "with --listen (port 0 takes any free one)"};
  }
  if (number == EADDRNOTAVAIL || number == ENODEV) {
    return {start +
            "it is not a numeric address of this machine; --listen takes ADDR:PORT with one of its own addresses"};
  }
  if (number == EACCES) return {start + "ports below 1024 need root; choose another with --listen"};
  if (number == EAGAIN || number == ENOMEM) return {start + std::string(no_memory_text)};
  return {start + zmq_strerror(number)};
}

void try_library_threads() {
  std::vector<std::jthread> threads;  // joined after `started` is gone, which ends their wait
  std::promise<void> started;
  const std::shared_future<void> all_started = started.get_future().share();
  while (threads.size() < library_threads) threads.emplace_back([all_started] { all_started.wait(); });
}

}  // namespace orbweaver::ring
