// Waits out a lack of file descriptors. When a file cannot be opened because the process or the system has too many
// open (EMFILE, ENFILE), it tries again until one is free, instead of ending the peer.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

namespace orbweaver::storage {

bool lacks_descriptors(int error_number);  // EMFILE or ENFILE

// Thread rule: any thread; it blocks the calling thread.
class OpenWaiter {
 public:
  // `on_wait` is called, on the waiting thread, when a wait begins and about every ten seconds during it. After
  // `patience` the caller gets the error. `around` makes an object, on that thread too, that exists while it waits.
  OpenWaiter(std::chrono::milliseconds patience, std::function<void(const std::string& path)> on_wait,
             std::function<std::shared_ptr<void>()> around = {})
      : patience_(patience), on_wait_(std::move(on_wait)), around_(std::move(around)) {}

  // Calls `attempt` until it answers neither EMFILE nor ENFILE; pauses from 10 ms to 1 s in between. Returns its last
  // answer: 0, or an errno.
  int open(const std::string& path, const std::function<int()>& attempt);
  std::uint64_t waits() const { return waits_; }  // opens that had to wait
  // All waits end within this time from now; after that nothing waits any more, and a lack is an error.
  void stop_in(std::chrono::milliseconds time);
  bool stopped() const;  // that time has passed

 private:
  using Clock = std::chrono::steady_clock;

  const std::chrono::milliseconds patience_;
  const std::function<void(const std::string& path)> on_wait_;
  const std::function<std::shared_ptr<void>()> around_;
  std::atomic<std::uint64_t> waits_{0};
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<Clock::time_point> stop_at_;  // guarded by mutex_
};

// With `waiter` null the attempt is made once.
int open_with(OpenWaiter* waiter, const std::string& path, const std::function<int()>& attempt);

}  // namespace orbweaver::storage
