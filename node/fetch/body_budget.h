// How much memory bodies may use together, from the socket until their pages are committed, and which transfer may take
// more. Owned by the fetcher's thread; other threads give back what was handed on, through the share.
//
// The oldest transfer may grow while there is room. Without room it waits for bodies that were handed on; if there are
// none, it may grow anyway. So some transfer always ends and returns memory: no deadlock. To keep this within the
// bound, the other transfers leave room for one longest body: they may grow only up to bound - longest body.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>

#include "node/memory/memory_share.h"

namespace orbweaver {

class BodyBudget {
 public:
  explicit BodyBudget(std::shared_ptr<MemoryShare> share) : share_(std::move(share)) {}

  // A body of up to `bytes` may come. If it is longer than the bound, that one body is the bound.
  void expect_body(std::size_t bytes) { longest_body_ = std::max(longest_body_, bytes); }
  bool may_take(std::size_t bytes, bool oldest) const {
    const std::uint64_t all = share_->used();
    if (oldest) return all + bytes <= share_->bound() || all <= own_;
    return share_->bound() >= longest_body_ && all + bytes <= share_->bound() - longest_body_;
  }
  void take(std::size_t bytes) {
    share_->take(bytes);
    own_ += bytes;
  }
  void give_back(std::size_t bytes) {
    own_ -= bytes;
    share_->give_back(bytes);
  }
  // The charge moves on with the body.
  MemoryCharge hand_on(std::size_t bytes) {
    own_ -= bytes;
    return {share_, bytes};
  }
  MemoryShare& share() { return *share_; }
  const MemoryShare& share() const { return *share_; }

 private:
  std::shared_ptr<MemoryShare> share_;
  std::size_t longest_body_ = 0;
  std::uint64_t own_ = 0;  // bytes of transfers in flight
};

}  // namespace orbweaver
