// How much workers may unpack: their parts of the share `decoded`. Each has a small part of its own, enough for nearly
// every page, and never waits for it. A response that does not fit is read again with the large part, which one worker
// has at a time. That worker waits only for the commit of links: no deadlock. Thread rule: any thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>

#include "node/memory/memory_share.h"
#include "node/settings/memory_plan.h"

namespace orbweaver {

class DecodeRoom {
 public:
  DecodeRoom(std::shared_ptr<MemoryShare> share, std::size_t workers)
      : share_(std::move(share)),
        small_(decode_small_of(share_->bound(), workers)),
        large_(share_->bound() - workers * small_) {}

 private:
  friend class DecodeLease;
  const std::shared_ptr<MemoryShare> share_;
  const std::uint64_t small_;
  const std::uint64_t large_;
  std::mutex one_;  // locked by the worker that has the large part
};

// One worker's lease, while it reads one response.
class DecodeLease {
 public:
  // The object that `around` makes exists while the lease waits.
  explicit DecodeLease(DecodeRoom& room, std::function<std::shared_ptr<void>()> around = {})
      : room_(room), around_(std::move(around)), charge_(room.share_, 0), bytes_(room.small_) {}

  std::uint64_t left() const { return bytes_ - std::min(bytes_, charge_.bytes()); }
  bool large() const { return lock_.owns_lock(); }
  std::uint64_t taken() const { return charge_.bytes(); }
  void set_taken(std::uint64_t bytes) { charge_.set(bytes); }
  void take(std::uint64_t bytes) { charge_.set(charge_.bytes() + bytes); }
  // Waits for the large part.
  void grow() {
    lock_ = std::unique_lock(room_.one_, std::try_to_lock);
    if (!lock_.owns_lock()) {
      const std::shared_ptr<void> around = around_ ? around_() : nullptr;
      lock_.lock();
    }
    bytes_ = room_.large_;
  }
  void want(std::uint64_t bytes) {
    if (!large() && bytes > left()) grow();
  }

 private:
  DecodeRoom& room_;
  const std::function<std::shared_ptr<void>()> around_;
  std::unique_lock<std::mutex> lock_;
  MemoryCharge charge_;
  std::uint64_t bytes_;
};

}  // namespace orbweaver
