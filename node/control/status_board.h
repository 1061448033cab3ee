// What /status, /metrics and /healthz show of a peer: made by the peer's loop when somebody asks, at most once every
// `fresh`. Who asks waits for it, and gets what was shown last when the loop is busy for longer than `patience`.
// Thread rule: text() and healthy() from the HTTP server's threads, the rest from the loop.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <utility>

#include "node/base.h"

namespace orbweaver {

class StatusBoard {
 public:
  static constexpr Duration fresh = std::chrono::milliseconds{250};
  static constexpr std::chrono::milliseconds patience{500};
  // A loop that has not looked after itself for this long is not healthy.
  static constexpr Duration max_healthy = std::chrono::seconds{10};

  enum class Page : std::uint8_t { status, metrics };

  // `wake` makes the loop look whether somebody asks; from any thread.
  StatusBoard(std::function<Time()> now, std::function<void()> wake) : now_(std::move(now)), wake_(std::move(wake)) {}

  std::string text(Page page) {
    std::unique_lock lock(mutex_);
    const Time since = now_() - fresh;
    if (shown_ < since) {
      asked_ = true;
      wake_();
      news_.wait_for(lock, patience, [&] { return shown_ >= since; });
    }
    return page == Page::status ? status_ : metrics_;
  }
  bool healthy() {
    const std::lock_guard lock(mutex_);
    return now_() - looked_ < max_healthy;
  }

  // Since the last call somebody has asked.
  bool take_asked() { return asked_.exchange(false); }
  void show(std::string status, std::string metrics, Time now) {
    const std::lock_guard lock(mutex_);
    status_ = std::move(status);
    metrics_ = std::move(metrics);
    shown_ = now;
    news_.notify_all();
  }
  void note_look(Time now) {
    const std::lock_guard lock(mutex_);
    looked_ = now;
  }

 private:
  const std::function<Time()> now_;
  const std::function<void()> wake_;
  std::atomic<bool> asked_ = false;
  std::mutex mutex_;  // of what follows
  std::condition_variable news_;
  std::string status_ = "{}";
  std::string metrics_;
  Time shown_{};
  Time looked_{};
};

}  // namespace orbweaver
