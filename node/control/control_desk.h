// Carries out what requests ask for on threads of its own, so that the HTTP server waits for no peer. Bounded: what
// does not fit is refused. Thread rule: put() from any thread; the rest by one owner.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace orbweaver {

class ControlDesk {
 public:
  static constexpr std::size_t threads = 2;
  static constexpr std::size_t max_waiting = 16;

  ControlDesk() = default;
  ~ControlDesk() { stop(); }
  ControlDesk(const ControlDesk&) = delete;
  ControlDesk& operator=(const ControlDesk&) = delete;

  void start();
  // False: too many wait, or it has stopped.
  bool put(std::function<void()> work);
  void stop();  // after what has been put

 private:
  void run();

  std::mutex mutex_;  // of what follows
  std::condition_variable news_;
  bool running_ = false;
  std::deque<std::function<void()>> waiting_;
  std::vector<std::thread> threads_;
};

}  // namespace orbweaver
