// The queue of events for the core, in two lanes. Probes between members go first: a peer that has much
// to do answers them still, so that no other takes it for dead. Everything else goes in the order in which it came.
//
// Messages from peers are bounded by their number and by the memory that they take until the core has handled them; the
// probes have bounds of their own. When too many are waiting, further ones are dropped, and their senders repeat them.
// Events of this peer's own fetches are bounded by the number of fetches in flight. Thread rule: push from any thread,
// wait() and handled() from the loop.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <utility>
#include <variant>

#include "node/crawl/events.h"

namespace orbweaver {

class EventQueue {
 public:
  static constexpr std::size_t max_messages = 4096;
  static constexpr std::size_t max_probes = 1024;
  static constexpr std::size_t max_taken = 64;  // at a time, besides probes: a probe waits for no more than these

  // `max_message_bytes`: the bound for waiting messages, by the memory that they take (ring::memory_bytes). A sixteenth
  // of it is for probes.
  explicit EventQueue(std::uint64_t max_message_bytes)
      : probes_{.max_messages = max_probes, .max_bytes = max_message_bytes / 16},
        others_{.max_messages = max_messages, .max_bytes = max_message_bytes - max_message_bytes / 16} {}

  void push(Event event) {
    {
      const std::lock_guard lock(mutex_);
      others_.waiting.push_back({std::move(event), false, 0});
    }
    ready_.notify_one();
  }
  // False: too many messages or bytes are waiting, and this message is dropped. A message larger than the bound is
  // accepted when no other is waiting.
  bool push_message(MessageEvent message, std::uint64_t bytes) {
    {
      const std::lock_guard lock(mutex_);
      Lane& lane = is_probe(message.message.body) ? probes_ : others_;
      const bool fits = lane.bytes == 0 || lane.bytes + bytes <= lane.max_bytes;
      if (lane.messages >= lane.max_messages || !fits) {
        ++dropped_;
        return false;
      }
      ++lane.messages;
      lane.bytes += bytes;
      lane.waiting.push_back({std::move(message), true, bytes});
    }
    ready_.notify_one();
    return true;
  }
  // Takes all probes and the first of the other events; none when none arrives within `longest`. The taken messages'
  // memory counts until handled().
  std::deque<Event> wait(Duration longest) {
    std::unique_lock lock(mutex_);
    const auto some = [this] { return !probes_.waiting.empty() || !others_.waiting.empty(); };
    if (!some() && longest > Duration{}) ready_.wait_for(lock, longest, some);
    std::deque<Event> events;
    probes_.take(events, probes_.waiting.size());
    others_.take(events, max_taken);
    return events;
  }
  // The events of the last wait() are destroyed.
  void handled() {
    const std::lock_guard lock(mutex_);
    probes_.handled();
    others_.handled();
  }

  static bool is_probe(const ring::Body& body) {
    return std::holds_alternative<ring::Ping>(body) || std::holds_alternative<ring::PingRequest>(body) ||
           std::holds_alternative<ring::PingAck>(body);
  }

  std::uint64_t message_bytes() const {
    const std::lock_guard lock(mutex_);
    return probes_.bytes + others_.bytes;
  }
  std::uint64_t dropped() const {
    const std::lock_guard lock(mutex_);
    return dropped_;
  }

 private:
  struct Waiting {
    Event event;
    bool message;
    std::uint64_t bytes;
  };
  struct Lane {
    const std::size_t max_messages;
    const std::uint64_t max_bytes;
    std::deque<Waiting> waiting = {};
    std::size_t messages = 0;  // waiting, or taken and not yet handled
    std::uint64_t bytes = 0;   // of these
    std::size_t taken_messages = 0;
    std::uint64_t taken_bytes = 0;

    void take(std::deque<Event>& events, std::size_t most) {
      for (; most > 0 && !waiting.empty(); --most) {
        taken_messages += waiting.front().message ? 1 : 0;
        taken_bytes += waiting.front().bytes;
        events.push_back(std::move(waiting.front().event));
        waiting.pop_front();
      }
    }
    void handled() {
      messages -= std::exchange(taken_messages, 0);
      bytes -= std::exchange(taken_bytes, 0);
    }
  };

  mutable std::mutex mutex_;
  std::condition_variable ready_;
  Lane probes_;
  Lane others_;
  std::uint64_t dropped_ = 0;
};

}  // namespace orbweaver
