#include "node/memory/memory_share.h"

namespace orbweaver {

void MemoryShare::take(std::uint64_t bytes) {
  const std::uint64_t now = used_.fetch_add(bytes) + bytes;
  std::uint64_t peak = peak_.load(std::memory_order_relaxed);
  while (now > peak && !peak_.compare_exchange_weak(peak, now)) {
  }
}

// A waiter counts itself before it reads `used_`, and here `used_` falls before the counts are read: no room is missed.
void MemoryShare::give_back(std::uint64_t bytes) {
  used_.fetch_sub(bytes);
  if (waiting_.load() > 0) {
    const std::lock_guard lock(mutex_);
    room_.notify_all();
  }
  if (wanted_.load() && wanted_.exchange(false)) {
    const std::lock_guard lock(mutex_);
    if (tell_) tell_();
  }
}

void MemoryShare::wait_and_take(std::uint64_t bytes) {
  std::unique_lock lock(mutex_);
  waiting_.fetch_add(1);
  const auto may_go = [&] { return stopped_ || used() == 0 || has_room(bytes); };
  if (!may_go()) {
    waits_.fetch_add(1, std::memory_order_relaxed);
    room_.wait(lock, may_go);
  }
  waiting_.fetch_sub(1);
  take(bytes);
}

void MemoryShare::stop_waiting() {
  const std::lock_guard lock(mutex_);
  stopped_ = true;
  room_.notify_all();
}

void MemoryShare::set_tell(std::function<void()> tell) {
  const std::lock_guard lock(mutex_);
  tell_ = std::move(tell);
}

}  // namespace orbweaver
