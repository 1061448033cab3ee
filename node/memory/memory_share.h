// One share of a peer's memory (memory_plan.h) while the peer runs: how much of it is taken, its peak, and how often a
// caller waited for room. A MemoryCharge is the amount that a buffer has taken. It moves with the buffer from thread to
// thread and gives the amount back when it is destroyed.
//
// A share does not refuse by itself: its user asks has_room() first, or waits in wait_and_take(). That never blocks
// while nothing is taken, so a buffer larger than the whole share passes alone and no thread waits forever. Thread
// rule: any thread.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>

namespace orbweaver {

class MemoryShare {
 public:
  // `bound`: in bytes.
  explicit MemoryShare(std::uint64_t bound) : bound_(bound) {}
  MemoryShare(const MemoryShare&) = delete;
  MemoryShare& operator=(const MemoryShare&) = delete;

  std::uint64_t bound() const { return bound_; }
  std::uint64_t used() const { return used_.load(); }
  std::uint64_t peak() const { return peak_.load(); }
  std::uint64_t waits() const { return waits_.load(); }  // how often a caller had to wait

  bool has_room(std::uint64_t bytes) const { return used() + bytes <= bound_; }
  void take(std::uint64_t bytes);  // whatever the bound says
  void give_back(std::uint64_t bytes);
  // Blocks until there is room, or nothing is taken, or stop_waiting() was called.
  void wait_and_take(std::uint64_t bytes);
  // Ends all waits: the code that commits, and so gives memory back, has stopped.
  void stop_waiting();

  // For a user that does not block: after want_room(), the next give_back() calls `tell` once, on the thread that calls
  // it. Set it before other threads use the share; null ends it, after which no call begins.
  void set_tell(std::function<void()> tell);
  void want_room() {
    wanted_.store(true);
    waits_.fetch_add(1, std::memory_order_relaxed);
  }

 private:
  const std::uint64_t bound_;
  std::atomic<std::uint64_t> used_{0};
  std::atomic<std::uint64_t> peak_{0};
  std::atomic<std::uint64_t> waits_{0};
  std::atomic<std::uint32_t> waiting_{0};
  std::atomic<bool> wanted_{false};
  std::mutex mutex_;
  std::condition_variable room_;
  std::function<void()> tell_;  // guarded by mutex_
  bool stopped_ = false;        // guarded by mutex_
};

class MemoryCharge {
 public:
  MemoryCharge() = default;
  // `bytes` are already taken; the charge gives them back.
  MemoryCharge(std::shared_ptr<MemoryShare> share, std::uint64_t bytes) : share_(std::move(share)), bytes_(bytes) {}
  MemoryCharge(MemoryCharge&& other) noexcept
      : share_(std::move(other.share_)), bytes_(std::exchange(other.bytes_, 0)) {}
  MemoryCharge& operator=(MemoryCharge&& other) noexcept {
    release();
    share_ = std::move(other.share_);
    bytes_ = std::exchange(other.bytes_, 0);
    return *this;
  }
  ~MemoryCharge() { release(); }

  std::uint64_t bytes() const { return bytes_; }
  // Changes the amount to this many.
  void set(std::uint64_t bytes) {
    if (share_ == nullptr || bytes == bytes_) return;
    if (bytes > bytes_) {
      share_->take(bytes - bytes_);
    } else {
      share_->give_back(bytes_ - bytes);
    }
    bytes_ = bytes;
  }
  void release() {
    if (share_ != nullptr && bytes_ > 0) share_->give_back(bytes_);
    bytes_ = 0;
  }

 private:
  std::shared_ptr<MemoryShare> share_;
  std::uint64_t bytes_ = 0;
};

}  // namespace orbweaver
