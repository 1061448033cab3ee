// Waits out a lack of file descriptors: a file that cannot be opened because the process or the system has too many
// open (EMFILE, ENFILE) is tried again until one is free, instead of ending the peer.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

namespace orbweaver::storage {

bool lacks_descriptors(int error_number);  // EMFILE or ENFILE

// Thread rule: any thread; it blocks the one that asks.
class OpenWaiter {
 public:
  // `on_wait` is called, on the thread that waits, when a wait begins and about every ten seconds of it. After
  // `patience` the error is the caller's.
  OpenWaiter(std::chrono::milliseconds patience, std::function<void(const std::string& path)> on_wait)
      : patience_(patience), on_wait_(std::move(on_wait)) {}

  // Calls `attempt` until it answers neither EMFILE nor ENFILE; pauses from 10 ms to 1 s in between. Returns its last
  // answer: 0, or an errno.
  int open(const std::string& path, const std::function<int()>& attempt);
  std::uint64_t waits() const { return waits_; }  // opens that had to wait

 private:
  const std::chrono::milliseconds patience_;
  const std::function<void(const std::string& path)> on_wait_;
  std::atomic<std::uint64_t> waits_{0};
};

// With `waiter` null the attempt is made once.
int open_with(OpenWaiter* waiter, const std::string& path, const std::function<int()>& attempt);

}  // namespace orbweaver::storage
