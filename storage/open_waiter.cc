#include "storage/open_waiter.h"

#include <algorithm>
#include <cerrno>

namespace orbweaver::storage {
namespace {

constexpr std::chrono::milliseconds first_pause{10};
constexpr std::chrono::milliseconds longest_pause{1000};
constexpr std::chrono::milliseconds report_every{10'000};

}  // namespace

bool lacks_descriptors(int error_number) { return error_number == EMFILE || error_number == ENFILE; }

int OpenWaiter::open(const std::string& path, const std::function<int()>& attempt) {
  int error = attempt();
  if (!lacks_descriptors(error) || stopped()) return error;
  ++waits_;
  const std::shared_ptr<void> around = around_ ? around_() : nullptr;
  std::chrono::milliseconds waited{0};
  std::chrono::milliseconds tell_at{0};
  std::chrono::milliseconds pause = first_pause;
  while (lacks_descriptors(error) && waited < patience_ && !stopped()) {
    if (waited >= tell_at) {
      if (on_wait_) on_wait_(path);
      tell_at = waited + report_every;
    }
    {
      std::unique_lock lock(mutex_);
      const auto until = Clock::now() + pause;
      changed_.wait_until(lock, stop_at_ ? std::min(until, *stop_at_) : until);
    }
    waited += pause;
    pause = std::min(2 * pause, longest_pause);
    error = attempt();
  }
  return error;
}

void OpenWaiter::stop_in(std::chrono::milliseconds time) {
  const std::lock_guard lock(mutex_);
  const auto at = Clock::now() + time;
  stop_at_ = stop_at_ ? std::min(*stop_at_, at) : at;
  changed_.notify_all();
}

bool OpenWaiter::stopped() const {
  const std::lock_guard lock(mutex_);
  return stop_at_ && Clock::now() >= *stop_at_;
}

int open_with(OpenWaiter* waiter, const std::string& path, const std::function<int()>& attempt) {
  return waiter != nullptr ? waiter->open(path, attempt) : attempt();
}

}  // namespace orbweaver::storage
