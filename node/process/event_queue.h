// What waits for the core. Messages from peers are bounded, by their number and by the memory that they hold until the
// core has handled them: when too many wait, more are refused (their senders repeat them). Events of this peer's own
// fetches are bounded by the number of fetches in flight. Thread rule: push from any thread, wait() and handled() from
// the loop.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>

#include "node/crawl/events.h"

namespace orbweaver {

class EventQueue {
 public:
  static constexpr std::size_t messages_max = 4096;

  // `message_bytes_max`: of the messages that wait, by what they hold of memory (ring::memory_bytes).
  explicit EventQueue(std::uint64_t message_bytes_max) : message_bytes_max_(message_bytes_max) {}

  void push(Event event) {
    const std::lock_guard lock(mutex_);
    events_.push_back(std::move(event));
    ready_.notify_one();
  }
  // False: too many messages wait, or too many bytes; this one is dropped. One that is larger than the bound by itself
  // is let in when no other waits.
  bool push_message(MessageEvent message, std::uint64_t bytes) {
    const std::lock_guard lock(mutex_);
    const bool fits = message_bytes_ == 0 || message_bytes_ + bytes <= message_bytes_max_;
    if (messages_ >= messages_max || !fits) {
      ++dropped_;
      return false;
    }
    ++messages_;
    message_bytes_ += bytes;
    events_.emplace_back(std::move(message));
    ready_.notify_one();
    return true;
  }
  // All that waits; empty after `longest` without any. What messages hold counts until handled().
  std::deque<Event> wait(Duration longest) {
    std::unique_lock lock(mutex_);
    if (events_.empty() && longest > Duration{}) ready_.wait_for(lock, longest, [this] { return !events_.empty(); });
    taken_messages_ = messages_;
    taken_bytes_ = message_bytes_;
    return std::exchange(events_, {});
  }
  // What the last wait() answered is gone.
  void handled() {
    const std::lock_guard lock(mutex_);
    messages_ -= std::exchange(taken_messages_, 0);
    message_bytes_ -= std::exchange(taken_bytes_, 0);
  }

  std::uint64_t message_bytes() const {
    const std::lock_guard lock(mutex_);
    return message_bytes_;
  }
  std::uint64_t dropped() const {
    const std::lock_guard lock(mutex_);
    return dropped_;
  }

 private:
  const std::uint64_t message_bytes_max_;
  mutable std::mutex mutex_;
  std::condition_variable ready_;
  std::deque<Event> events_;
  std::size_t messages_ = 0;  // waiting, or taken and not yet handled
  std::uint64_t message_bytes_ = 0;
  std::size_t taken_messages_ = 0;
  std::uint64_t taken_bytes_ = 0;
  std::uint64_t dropped_ = 0;
};

}  // namespace orbweaver
