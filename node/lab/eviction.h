// Caches of URLs whose policy is not the crawl's (node/frontier/link_cache.h is LRU), for comparison (Broder, Najork,
// Wiener 2003):
//
//   clock   the hand takes the first entry without a mark; a hit marks, the hand removes marks
//   random  any entry makes room, by a generator with a seed
//
// Both are in the scatter table with circular chains that the paper recommends (scatter_table.h), 28 bytes per entry.
// They answer as a LinkCache does. Bounded:
// arrays of `capacity` entries, made at construction. Deterministic. Thread rule: one owner.
#pragma once

#include <cstdint>
#include <memory>

#include "ring/md5.h"

namespace orbweaver {

class EvictingCache {
 public:
  virtual ~EvictingCache() = default;

  // See LinkCache.
  bool hit(const ring::Md5& url, std::uint16_t depth) {
    const bool known = touch(url, depth);
    ++(known ? hits_ : misses_);
    return known;
  }
  virtual void insert(const ring::Md5& url, std::uint16_t depth) = 0;
  virtual void clear() = 0;
  virtual std::uint32_t size() const = 0;

  std::uint64_t hits() const { return hits_; }
  std::uint64_t misses() const { return misses_; }

 private:
  virtual bool touch(const ring::Md5& url, std::uint16_t depth) = 0;

  std::uint64_t hits_ = 0;
  std::uint64_t misses_ = 0;
};

// `capacity` 0: every look-up misses.
std::unique_ptr<EvictingCache> make_clock_cache(std::uint32_t capacity);
std::unique_ptr<EvictingCache> make_random_cache(std::uint32_t capacity, std::uint64_t seed);

}  // namespace orbweaver
