// The in-memory cache of URLs recently forwarded or admitted (Broder, Najork, Wiener: Efficient URL Caching for World
// Wide Web Crawling, 2003): a hit costs no message and no disk read. The least recently used URL makes room; `orbweaver
// lab cache` measures what other policies would miss (docs/inside/lab-cache.md).
//
// Entries are in a doubly linked list by use and are found by open addressing: 40 bytes per entry with its two slots.
// Bounded: arrays of `capacity` entries, made at construction. Deterministic. Thread rule: one owner (the peer's loop).
#pragma once

#include <cstdint>
#include <vector>

#include "ring/md5.h"

namespace orbweaver {

class LinkCache {
 public:
  // Bytes that one entry of a full cache takes, its share of the table included.
  static constexpr std::uint64_t entry_bytes = 40;

  // `capacity` 0: every look-up misses.
  explicit LinkCache(std::uint32_t capacity);

  // True when the URL was put in at this depth or a lower one. If it was put in at a greater depth only, that is a
  // miss: its owner must learn the lower depth.
  bool hit(const ring::Md5& url, std::uint16_t depth) {
    const bool known = touch(url, depth);
    ++(known ? hits_ : misses_);
    return known;
  }
  // Puts it in (or lowers its depth); another leaves when full. Call only once the URL is durable. `mark`: kept for it.
  void insert(const ring::Md5& url, std::uint16_t depth, std::uint32_t mark = 0);
  // Of the URL that was hit last.
  std::uint32_t mark() const { return entries_[newest_].mark; }
  // Forgets all: after a change of the ring, what was admitted here may have another owner.
  void clear();
  std::uint32_t size() const { return size_; }

  std::uint64_t hits() const { return hits_; }
  std::uint64_t misses() const { return misses_; }

 private:
  static constexpr std::uint32_t none = 0xffffffff;
  struct Entry {
    ring::Md5 url{};
    std::uint32_t newer = none;
    std::uint32_t older = none;
    std::uint32_t mark = 0;
    std::uint16_t depth = 0;
  };
  bool touch(const ring::Md5& url, std::uint16_t depth);
  std::uint32_t slot_of(const ring::Md5& url) const;  // the slot that contains it, or the empty one where it would go
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
