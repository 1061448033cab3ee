// What waits for the core. Messages from peers are bounded: when too many wait, more are refused (their senders repeat
// them). Events of this peer's own fetches are bounded by the number of fetches under way. Thread rule: push from any
// thread, wait() from the loop.
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>

#include "node/crawl/events.h"

namespace orbweaver {

class EventQueue {
 public:
  static constexpr std::size_t messages_max = 4096;

  void push(Event event) {
    const std::lock_guard lock(mutex_);
    events_.push_back(std::move(event));
    ready_.notify_one();
  }
  // False: too many messages wait; this one is dropped.
  bool push_message(MessageEvent message) {
    const std::lock_guard lock(mutex_);
    if (messages_ >= messages_max) return false;
    ++messages_;
    events_.emplace_back(std::move(message));
    ready_.notify_one();
    return true;
  }
  // All that waits; empty after `longest` without any.
  std::deque<Event> wait(Duration longest) {
    std::unique_lock lock(mutex_);
    if (events_.empty() && longest > Duration{}) ready_.wait_for(lock, longest, [this] { return !events_.empty(); });
    messages_ = 0;
    return std::exchange(events_, {});
  }

 private:
  std::mutex mutex_;
  std::condition_variable ready_;
  std::deque<Event> events_;
  std::size_t messages_ = 0;
};

}  // namespace orbweaver
