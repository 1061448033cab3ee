#include "node/frontier/link_cache.h"

#include <algorithm>
#include <bit>

namespace orbweaver {

namespace {

std::uint32_t home_of(const ring::Md5& url, std::uint32_t mask) {
  // Any four bytes of an MD5 are as good a hash as any others.
  return (std::uint32_t{url[8]} | std::uint32_t{url[9]} << 8 | std::uint32_t{url[10]} << 16 |
          std::uint32_t{url[11]} << 24) &
         mask;
}

}  // namespace

LinkCache::LinkCache(std::uint32_t capacity) : entries_(capacity) {
  // At most half full, so that probe runs stay short.
  slots_.assign(std::bit_ceil(std::max<std::uint64_t>(std::uint64_t{capacity} * 2, 2)), none);
  mask_ = static_cast<std::uint32_t>(slots_.size() - 1);
}

std::uint32_t LinkCache::slot_of(const ring::Md5& url) const {
  std::uint32_t slot = home_of(url, mask_);
  while (slots_[slot] != none && entries_[slots_[slot]].url != url) slot = (slot + 1) & mask_;
  return slot;
}

bool LinkCache::touch(const ring::Md5& url, std::uint16_t depth) {
  const std::uint32_t entry = slots_[slot_of(url)];
  if (entry == none || entries_[entry].depth > depth) return false;
  unlink(entry);
  make_newest(entry);
  return true;
}

void LinkCache::insert(const ring::Md5& url, std::uint16_t depth, std::uint32_t mark) {
  if (entries_.empty()) return;
  std::uint32_t slot = slot_of(url);
  std::uint32_t entry = slots_[slot];
  if (entry != none) {
    entries_[entry].depth = std::min(entries_[entry].depth, depth);
    entries_[entry].mark = mark;
    unlink(entry);
    make_newest(entry);
    return;
  }
  if (size_ < entries_.size()) {
    entry = size_++;
  } else {
    entry = oldest_;
    erase_slot(slot_of(entries_[entry].url));
    unlink(entry);
    slot = slot_of(url);  // erasing may have moved the empty slot
  }
  entries_[entry].url = url;
  entries_[entry].depth = depth;
  entries_[entry].mark = mark;
  slots_[slot] = entry;
  make_newest(entry);
}

void LinkCache::clear() {
  std::fill(slots_.begin(), slots_.end(), none);
  size_ = 0;
  newest_ = oldest_ = none;
}

void LinkCache::unlink(std::uint32_t entry) {
  Entry& e = entries_[entry];
  (e.newer == none ? newest_ : entries_[e.newer].older) = e.older;
  (e.older == none ? oldest_ : entries_[e.older].newer) = e.newer;
  e.newer = e.older = none;
}

void LinkCache::make_newest(std::uint32_t entry) {
  Entry& e = entries_[entry];
  e.newer = none;
  e.older = newest_;
  if (newest_ != none) entries_[newest_].newer = entry;
  newest_ = entry;
  if (oldest_ == none) oldest_ = entry;
}

// Backward-shift deletion (Knuth, TAOCP 3, 6.4, algorithm R): no tombstones, so the table never degrades.
void LinkCache::erase_slot(std::uint32_t slot) {
  std::uint32_t hole = slot;
  for (std::uint32_t next = (hole + 1) & mask_; slots_[next] != none; next = (next + 1) & mask_) {
    const std::uint32_t home = home_of(entries_[slots_[next]].url, mask_);
    if (((next - home) & mask_) >= ((next - hole) & mask_)) {
      slots_[hole] = slots_[next];
      hole = next;
    }
  }
  slots_[hole] = none;
}

}  // namespace orbweaver
