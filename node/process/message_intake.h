// Decodes a peer's bytes and queues them for the core. A message that is unreadable or does not fit is counted, logged
// and dropped. Thread rule: take() from the transport's thread, the counts from any.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "node/process/event_queue.h"
#include "ring/transport.h"

namespace orbweaver {

class MessageIntake {
 public:
  explicit MessageIntake(EventQueue& events) : events_(&events) {}

  void take(const std::string& bytes, ring::ReplyPath reply);
  std::uint64_t malformed() const { return malformed_; }

 private:
  EventQueue* events_;
  std::atomic<std::uint64_t> malformed_{0};
};

}  // namespace orbweaver
