#include "storage/open_waiter.h"

#include <algorithm>
#include <cerrno>
#include <thread>

namespace orbweaver::storage {
namespace {

constexpr std::chrono::milliseconds first_pause{10};
constexpr std::chrono::milliseconds longest_pause{1000};
constexpr std::chrono::milliseconds told_every{10'000};

}  // namespace

bool lacks_descriptors(int error_number) { return error_number == EMFILE || error_number == ENFILE; }

int OpenWaiter::open(const std::string& path, const std::function<int()>& attempt) {
  int error = attempt();
  if (!lacks_descriptors(error)) return error;
  ++waits_;
  std::chrono::milliseconds waited{0};
  std::chrono::milliseconds tell_at{0};
  std::chrono::milliseconds pause = first_pause;
  while (lacks_descriptors(error) && waited < patience_) {
    if (waited >= tell_at) {
      if (on_wait_) on_wait_(path);
      tell_at = waited + told_every;
    }
    std::this_thread::sleep_for(pause);
    waited += pause;
    pause = std::min(2 * pause, longest_pause);
    error = attempt();
  }
  return error;
}

int open_with(OpenWaiter* waiter, const std::string& path, const std::function<int()>& attempt) {
  return waiter != nullptr ? waiter->open(path, attempt) : attempt();
}

}  // namespace orbweaver::storage
