// Room for messages that wait to be sent: from the moment they are given to the transport until ZeroMQ frees them,
// whether they wait here or in its pipes. Pure.
//
// A destination may use as much room as is still free. So N destinations that read nothing get at most one N-th each,
// and the same amount remains for the next one. A peer that does not read cannot block the answers to others (dynamic
// thresholds: Choudhury and Hahne, IEEE/ACM Transactions on Networking 6:2, 1998). A message larger than that passes
// when nothing else waits. Thread rule: any thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <mutex>
#include <string>

namespace orbweaver::ring {

class SendRoom {
 public:
  // About what a message costs in addition to its bytes; this matters for many small ones.
  static constexpr std::size_t a_message = 256;

  // Both are in bytes.
  SendRoom(std::size_t max_bytes, std::size_t max_destination)
      : max_bytes_(max_bytes), max_destination_(max_destination) {}

  // Reserves room for a message of this many bytes to this destination. False: there is no room for it.
  bool take(const std::string& to, std::size_t bytes) {
    const std::size_t cost = bytes + a_message;
    const std::lock_guard lock(mutex_);
    const auto waiting = waiting_.find(to);
    const std::size_t here = waiting == waiting_.end() ? 0 : waiting->second;
    const std::size_t free = max_bytes_ - std::min(bytes_, max_bytes_);
    if (bytes_ > 0 && here + cost > std::min(free, max_destination_)) return false;
    waiting_[to] += cost;
    bytes_ += cost;
    return true;
  }
  void give_back(const std::string& to, std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    const auto waiting = waiting_.find(to);
    waiting->second -= bytes + a_message;
    bytes_ -= bytes + a_message;
    if (waiting->second == 0) waiting_.erase(waiting);
  }
  std::size_t bytes() const {
    const std::lock_guard lock(mutex_);
    return bytes_;
  }

 private:
  const std::size_t max_bytes_;
  const std::size_t max_destination_;
  mutable std::mutex mutex_;
  std::map<std::string, std::size_t> waiting_;  // by destination
  std::size_t bytes_ = 0;
};

}  // namespace orbweaver::ring
