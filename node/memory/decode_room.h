// How much workers may unpack: their parts of the share `decoded`. Each has a small part of its own, enough for nearly
// every page. A response that outgrows it is read again by one more thread, which has the large part (workers.h). So no
// worker waits for another's memory, or for the time that a large page takes. Thread rule: DecodeRoom any thread, a
// lease one owner.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>

#include "node/memory/memory_share.h"
#include "node/settings/memory_plan.h"

namespace orbweaver {

class DecodeRoom {
 public:
  DecodeRoom(std::shared_ptr<MemoryShare> share, std::size_t workers)
      : share_(std::move(share)),
        small_(decode_small_of(share_->bound(), workers)),
        large_(decode_large_of(share_->bound(), workers)) {}

 private:
  friend class DecodeLease;
  const std::shared_ptr<MemoryShare> share_;
  const std::uint64_t small_;
  const std::uint64_t large_;
};

// A part, while one response is read.
class DecodeLease {
 public:
  DecodeLease(DecodeRoom& room, bool large)
      : share_(room.share_), charge_(room.share_, 0), bytes_(large ? room.large_ : room.small_), large_(large) {}

  bool large() const { return large_; }
  std::uint64_t left() const { return bytes_ - std::min(bytes_, charge_.bytes()); }
  std::uint64_t taken() const { return charge_.bytes(); }
  void set_taken(std::uint64_t bytes) { charge_.set(bytes); }
  void take(std::uint64_t bytes) { charge_.set(charge_.bytes() + bytes); }
  // Taken beyond the lease, for what goes on to another thread.
  MemoryCharge hand_on(std::uint64_t bytes) const {
    share_->take(bytes);
    return MemoryCharge(share_, bytes);
  }
  // Of a small part: what was read so far does not count.
  bool outgrown() const { return outgrown_; }
  void outgrow() { outgrown_ = !large_; }
  void want(std::uint64_t bytes) {
    if (bytes > left()) outgrow();
  }

 private:
  const std::shared_ptr<MemoryShare> share_;
  MemoryCharge charge_;
  const std::uint64_t bytes_;
  const bool large_;
  bool outgrown_ = false;
};

}  // namespace orbweaver
