// Room for the links of pages that were read, until the core has committed them: the share `links`. Large pages
// (workers.h) have half of it at most, so that the links of others need not wait for the commit of theirs. Thread rule:
// any thread; one reads large pages.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>

#include "node/memory/memory_share.h"

namespace orbweaver {

class LinksRoom {
 public:
  explicit LinksRoom(std::shared_ptr<MemoryShare> share)
      : share_(std::move(share)), large_(std::make_shared<MemoryShare>(share_->bound() / 2)) {}

  // A page with so many bytes of links is large, however short it is.
  bool is_large(std::uint64_t bytes) const { return bytes > share_->bound() / 32; }
  bool has_room(std::uint64_t bytes, bool large) const {
    return share_->has_room(bytes) && (!large || large_->has_room(bytes));
  }
  // Waits as MemoryShare::wait_and_take(). The room is given back with the last copy of what it returns. What is more
  // than the half for large pages counts as that: it would wait until nothing else is there.
  std::shared_ptr<void> wait_and_take(std::uint64_t bytes, bool large) {
    struct Charges {
      MemoryCharge of_large;
      MemoryCharge of_all;
    };
    const auto charges = std::make_shared<Charges>();
    if (large) {
      bytes = std::min(bytes, large_->bound());
      large_->wait_and_take(bytes);
      charges->of_large = MemoryCharge(large_, bytes);
    }
    share_->wait_and_take(bytes);
    charges->of_all = MemoryCharge(share_, bytes);
    return charges;
  }
  // Ends all waits: no thread commits any more.
  void stop_waiting() {
    large_->stop_waiting();
    share_->stop_waiting();
  }

 private:
  const std::shared_ptr<MemoryShare> share_;
  const std::shared_ptr<MemoryShare> large_;
};

}  // namespace orbweaver
