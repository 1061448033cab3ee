// Tells one receiver of notices, in their order, each until it is taken: a thread and a queue. What fails is tried
// again after first_wait, then twice that, up to max_wait. The queue is bounded: with more than max_waiting the oldest
// is lost, and counted. Thread rule: start(), end() and stop() by one owner; the rest from any thread.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "node/base.h"

namespace orbweaver {

// How one try ended.
struct Delivery {
  enum class Outcome : std::uint8_t { taken, again, refused };  // refused: it is no use to try it again
  Outcome outcome = Outcome::taken;
  std::string fault;  // of the others
};

class NoticeSender {
 public:
  struct Config {
    std::chrono::milliseconds first_wait{1'000};
    std::chrono::milliseconds max_wait{5 * 60 * 1'000};
    std::size_t max_waiting = 1'000;
  };
  // Both run on the sender's thread; `deliver` blocks for at most the time given.
  using Deliver = std::function<Delivery(const std::string& notice, std::chrono::milliseconds time)>;
  using Report = std::function<void(const std::string& fault, bool refused)>;
  NoticeSender(Config config, Deliver deliver, Report report)
      : config_(config), deliver_(std::move(deliver)), report_(std::move(report)) {}
  ~NoticeSender() {
    end({});
    (void)stop();
  }
  NoticeSender(const NoticeSender&) = delete;
  NoticeSender& operator=(const NoticeSender&) = delete;

  Result<void> start();
  void push(std::string notice);
  // From now on it goes on for at most `patience`, and after a failure no longer. A try that has begun goes on.
  void end(std::chrono::milliseconds patience);
  // What is not taken yet.
  std::vector<std::string> left() const;
  // Waits for the end. Returns what was not taken.
  std::vector<std::string> stop();

  std::uint64_t taken() const;
  std::uint64_t lost() const;  // refused, or pushed out of the queue
  std::size_t waiting() const;

 private:
  void run();

  const Config config_;
  const Deliver deliver_;
  const Report report_;
  mutable std::mutex mutex_;  // of what follows
  std::condition_variable change_;
  std::deque<std::string> queue_;  // the first is being told
  bool telling_ = false;
  bool stops_ = false;
  std::chrono::steady_clock::time_point until_{};  // stops_: not after this
  std::uint64_t taken_ = 0;
  std::uint64_t lost_ = 0;
  std::thread thread_;
};

}  // namespace orbweaver
