#include "node/control/control_desk.h"

#include <utility>

namespace orbweaver {

void ControlDesk::start() {
  {
    const std::lock_guard lock(mutex_);
    running_ = true;
  }
  for (std::size_t i = 0; i < threads; ++i) threads_.emplace_back([this] { run(); });
}

bool ControlDesk::put(std::function<void()> work) {
  {
    const std::lock_guard lock(mutex_);
    if (!running_ || waiting_.size() >= max_waiting) return false;
    waiting_.push_back(std::move(work));
  }
  news_.notify_one();
  return true;
}

void ControlDesk::stop() {
  {
    const std::lock_guard lock(mutex_);
    running_ = false;
  }
  news_.notify_all();
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

void ControlDesk::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    news_.wait(lock, [this] { return !running_ || !waiting_.empty(); });
    if (waiting_.empty()) return;
    const std::function<void()> work = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    work();
    lock.lock();
  }
}

}  // namespace orbweaver
