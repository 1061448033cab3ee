// The in-memory LRU of URLs lately forwarded or admitted (Broder, Najork, Wiener 2003): a hit costs no message and no
// disk read. Bounded: fixed arrays of `capacity` entries, 28 bytes each, made at construction. Thread rule: one owner
// (the peer's loop).
#pragma once

#include <cstdint>
#include <vector>

#include "ring/md5.h"

namespace orbweaver {

class LinkCache {
 public:
  explicit LinkCache(std::uint32_t capacity);  // 0: every look-up misses

  // True when the URL was put in at this depth or a lesser one; makes it the most recent. A greater depth than now is a
  // miss: the owner must hear of the shorter way.
  bool hit(const ring::Md5& url, std::uint16_t depth);
  // Puts it in (or lessens its depth), as the most recent; the least recent leaves when full. Call only once the URL is
  // durable.
  void insert(const ring::Md5& url, std::uint16_t depth);
  // Forgets all: after a change of the ring, what was admitted here may have another owner.
  void clear();

  std::uint32_t size() const { return size_; }
  std::uint64_t memory_bytes() const { return entries_.size() * sizeof(Entry) + slots_.size() * sizeof(std::uint32_t); }
  std::uint64_t hits() const { return hits_; }
  std::uint64_t misses() const { return misses_; }

 private:
  static constexpr std::uint32_t none = 0xffffffff;
  struct Entry {
    ring::Md5 url{};
    std::uint32_t newer = none;
    std::uint32_t older = none;
    std::uint16_t depth = 0;
  };
  std::uint32_t slot_of(const ring::Md5& url) const;  // the slot that holds it, or the empty one where it would go
  void unlink(std::uint32_t entry);
  void make_newest(std::uint32_t entry);
  void erase_slot(std::uint32_t slot);

  std::vector<Entry> entries_;
  std::vector<std::uint32_t> slots_;  // open addressing, linear probing; index into entries_ or none
  std::uint32_t mask_ = 0;
  std::uint32_t size_ = 0;
  std::uint32_t newest_ = none;
  std::uint32_t oldest_ = none;
  std::uint64_t hits_ = 0;
  std::uint64_t misses_ = 0;
};

}  // namespace orbweaver
