#include "node/notify/notice_sender.h"

#include <algorithm>

#include "node/system/thread_start.h"

namespace orbweaver {

namespace {

constexpr std::chrono::milliseconds longest_try{60'000};

}  // namespace

Result<void> NoticeSender::start() {
  return start_thread(thread_, [this] { run(); });
}

void NoticeSender::push(std::string notice) {
  const std::lock_guard lock(mutex_);
  if (queue_.size() >= config_.max_waiting) {
    // Not the one that is being told now.
    queue_.erase(queue_.begin() + (telling_ && queue_.size() > 1 ? 1 : 0));
    ++lost_;
  }
  queue_.push_back(std::move(notice));
  change_.notify_all();
}

void NoticeSender::end(std::chrono::milliseconds patience) {
  const std::lock_guard lock(mutex_);
  if (stops_) return;
  stops_ = true;
  until_ = std::chrono::steady_clock::now() + patience;
  change_.notify_all();
}

std::vector<std::string> NoticeSender::left() const {
  const std::lock_guard lock(mutex_);
  return {queue_.begin(), queue_.end()};
}

std::vector<std::string> NoticeSender::stop() {
  if (thread_.joinable()) thread_.join();
  const std::lock_guard lock(mutex_);
  std::vector<std::string> left(queue_.begin(), queue_.end());
  queue_.clear();
  return left;
}

std::uint64_t NoticeSender::taken() const {
  const std::lock_guard lock(mutex_);
  return taken_;
}
std::uint64_t NoticeSender::lost() const {
  const std::lock_guard lock(mutex_);
  return lost_;
}
std::size_t NoticeSender::waiting() const {
  const std::lock_guard lock(mutex_);
  return queue_.size();
}

void NoticeSender::run() {
  std::unique_lock lock(mutex_);
  std::chrono::milliseconds wait = config_.first_wait;
  for (;;) {
    change_.wait(lock, [this] { return stops_ || !queue_.empty(); });
    if (queue_.empty() || (stops_ && std::chrono::steady_clock::now() >= until_)) return;
    const std::string notice = queue_.front();
    telling_ = true;
    std::chrono::milliseconds time = longest_try;
    if (stops_) time = std::chrono::ceil<std::chrono::milliseconds>(until_ - std::chrono::steady_clock::now());
    lock.unlock();
    const Delivery delivery = deliver_(notice, time);
    if (delivery.outcome != Delivery::Outcome::taken)
      report_(delivery.fault, delivery.outcome == Delivery::Outcome::refused);
    lock.lock();
    telling_ = false;
    if (delivery.outcome != Delivery::Outcome::again) {
      queue_.pop_front();
      ++(delivery.outcome == Delivery::Outcome::taken ? taken_ : lost_);
      wait = config_.first_wait;
      continue;
    }
    if (stops_) return;
    change_.wait_for(lock, wait, [this] { return stops_; });
    wait = std::min(2 * wait, config_.max_wait);
  }
}

}  // namespace orbweaver
