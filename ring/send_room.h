// Room for what waits to be sent: messages from the moment they are handed to the transport until ZeroMQ frees them,
// whether they wait here or in its pipes. Pure.
//
// A destination may hold as much as is still free. So N of them that take nothing off get an N-th each or less, and as
// much is left for one who comes next: whoever does not read cannot silence the answers to others (dynamic thresholds:
// Choudhury and Hahne, IEEE/ACM Transactions on Networking 6:2, 1998). What is larger than that passes when nothing
// else is held. Thread rule: any thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <mutex>
#include <string>

namespace orbweaver::ring {

class SendRoom {
 public:
  // What a message costs beside its bytes, about: small ones are many.
  static constexpr std::size_t a_message = 256;

  // Bytes.
  SendRoom(std::size_t bytes_max, std::size_t destination_max)
      : bytes_max_(bytes_max), destination_max_(destination_max) {}

  // A message of this many bytes to this destination. False: there is no room for it.
  bool take(const std::string& to, std::size_t bytes) {
    const std::size_t cost = bytes + a_message;
    const std::lock_guard lock(mutex_);
    const auto held = held_.find(to);
    const std::size_t here = held == held_.end() ? 0 : held->second;
    const std::size_t free = bytes_max_ - std::min(bytes_, bytes_max_);
    if (bytes_ > 0 && here + cost > std::min(free, destination_max_)) return false;
    held_[to] += cost;
    bytes_ += cost;
    return true;
  }
  void give_back(const std::string& to, std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    const auto held = held_.find(to);
    held->second -= bytes + a_message;
    bytes_ -= bytes + a_message;
    if (held->second == 0) held_.erase(held);
  }
  std::size_t bytes() const {
    const std::lock_guard lock(mutex_);
    return bytes_;
  }

 private:
  const std::size_t bytes_max_;
  const std::size_t destination_max_;
  mutable std::mutex mutex_;
  std::map<std::string, std::size_t> held_;  // by destination
  std::size_t bytes_ = 0;
};

}  // namespace orbweaver::ring
