// A scatter table with circular chains, as Broder, Najork and Wiener recommend for caches whose policy picks a place
// and not a URL (RANDOM, CLOCK). Entries are in one array; those with the same hash form a ring of `next` numbers. So
// the entry at any place can be removed by walking its own ring. One slot per entry: 28 bytes per entry in total. A
// used place stays in use: a new entry takes the place of a removed one. Thread rule: one owner.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "ring/md5.h"

namespace orbweaver {

class ScatterTable {
 public:
  static constexpr std::uint32_t none = 0xffffffff;
  struct Entry {
    ring::Md5 url{};
    std::uint32_t next = none;  // in the ring of its slot
    std::uint16_t depth = 0;
    bool marked = false;
  };

  explicit ScatterTable(std::uint32_t capacity) : entries_(capacity) {
    slots_.assign(std::bit_ceil(std::max<std::uint32_t>(capacity, 1)), none);
  }

  std::uint32_t size() const { return size_; }
  std::uint32_t capacity() const { return static_cast<std::uint32_t>(entries_.size()); }
  Entry& at(std::uint32_t place) { return entries_[place]; }

  // The place of a URL, or none.
  std::uint32_t find(const ring::Md5& url) const {
    const std::uint32_t last = slots_[slot_of(url)];
    if (last == none) return none;
    std::uint32_t place = last;
    do {
      if (entries_[place].url == url) return place;
      place = entries_[place].next;
    } while (place != last);
    return none;
  }
  // Adds a URL that is not in it at the next free place; the table must not be full.
  std::uint32_t add(const ring::Md5& url, std::uint16_t depth) {
    const std::uint32_t place = size_++;
    link(place, url, depth);
    return place;
  }
  // Replaces an entry by a URL that is not in it.
  void replace(std::uint32_t place, const ring::Md5& url, std::uint16_t depth) {
    unlink(place);
    link(place, url, depth);
  }
  void clear() {
    std::fill(slots_.begin(), slots_.end(), none);
    size_ = 0;
  }

 private:
  std::size_t slot_of(const ring::Md5& url) const {
    // Any four bytes of an MD5 are an equally good hash.
    const std::uint32_t hash = std::uint32_t{url[8]} | std::uint32_t{url[9]} << 8 | std::uint32_t{url[10]} << 16 |
                               std::uint32_t{url[11]} << 24;
    return hash & (slots_.size() - 1);
  }
  void link(std::uint32_t place, const ring::Md5& url, std::uint16_t depth) {
    std::uint32_t& last = slots_[slot_of(url)];
    entries_[place] = {url, last == none ? place : entries_[last].next, depth, false};
    if (last != none) entries_[last].next = place;
    last = place;
  }
  void unlink(std::uint32_t place) {
    std::uint32_t before = place;
    while (entries_[before].next != place) before = entries_[before].next;
    std::uint32_t& last = slots_[slot_of(entries_[place].url)];
    if (before == place) {
      last = none;
      return;
    }
    entries_[before].next = entries_[place].next;
    if (last == place) last = before;
  }

  std::vector<Entry> entries_;
  std::vector<std::uint32_t> slots_;  // the last entry of each ring
  std::uint32_t size_ = 0;
};

}  // namespace orbweaver
