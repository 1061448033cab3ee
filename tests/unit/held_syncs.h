// Syncs that wait until a test lets them through. Thread rule: any thread.
#pragma once

#include <condition_variable>
#include <mutex>
#include <string>

#include "storage/types.h"

namespace orbweaver::test {

class HeldSyncs {
 public:
  explicit HeldSyncs(std::string failure) : failure_(std::move(failure)) {}
  storage::Result<void> sync() {
    std::unique_lock lock(mutex_);
    ++begun_;
    changed_.notify_all();
    changed_.wait(lock, [this] { return allowed_ > 0; });
    --allowed_;
    if (fails_) return storage::fail(storage::ErrorKind::disk_full, failure_);
    return {};
  }
  void allow(int syncs) {
    const std::lock_guard lock(mutex_);
    allowed_ += syncs;
    changed_.notify_all();
  }
  void wait_for(int begun) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this, begun] { return begun_ >= begun; });
  }
  void fail_from_now() {
    const std::lock_guard lock(mutex_);
    fails_ = true;
  }
  int begun() const {
    const std::lock_guard lock(mutex_);
    return begun_;
  }

 private:
  const std::string failure_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  int begun_ = 0;
  int allowed_ = 0;
  bool fails_ = false;
};

}  // namespace orbweaver::test
