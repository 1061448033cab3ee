// The in-memory cache of URLs lately forwarded or admitted (Broder, Najork, Wiener: Efficient URL Caching for World
// Wide Web Crawling, 2003): a hit costs no message and no disk read. Which URL makes room is the policy's:
//
//   lru     the least recently used: a doubly linked list, 36 bytes an entry with its two slots (link_cache_lru.cc)
//   clock   the first without a mark that the hand meets; a hit marks, the hand takes marks away (link_cache_clock.cc)
//   random  any, by a generator with a seed (link_cache_random.cc)
//
// The last two lie in the scatter table with circular chains that the paper recommends (scatter_table.h), 28 bytes an
// entry. One implementation for the crawl and for `orbweaver lab cache`. Bounded: arrays of `capacity` entries, made at
// construction. Deterministic. Thread rule: one owner (the peer's loop).
#pragma once

#include <cstdint>
#include <memory>

#include "node/config/settings.h"
#include "ring/md5.h"

namespace orbweaver {

class LinkCache {
 public:
  virtual ~LinkCache() = default;

  // True when the URL was put in at this depth or a lesser one. A greater depth than now is a miss: the owner must hear
  // of the shorter way.
  bool hit(const ring::Md5& url, std::uint16_t depth) {
    const bool known = touch(url, depth);
    ++(known ? hits_ : misses_);
    return known;
  }
  // Puts it in (or lessens its depth); another leaves when full. Call only once the URL is durable.
  virtual void insert(const ring::Md5& url, std::uint16_t depth) = 0;
  // Forgets all: after a change of the ring, what was admitted here may have another owner.
  virtual void clear() = 0;
  virtual std::uint32_t size() const = 0;

  std::uint64_t hits() const { return hits_; }
  std::uint64_t misses() const { return misses_; }

 private:
  virtual bool touch(const ring::Md5& url, std::uint16_t depth) = 0;

  std::uint64_t hits_ = 0;
  std::uint64_t misses_ = 0;
};

// `capacity` 0: every look-up misses. `seed`: of the random policy.
std::unique_ptr<LinkCache> make_link_cache(LinkCachePolicy policy, std::uint32_t capacity, std::uint64_t seed);
// Bytes that one entry of a full cache takes, its share of the table included.
std::uint64_t link_cache_entry_bytes(LinkCachePolicy policy);

std::unique_ptr<LinkCache> make_lru_cache(std::uint32_t capacity);
std::unique_ptr<LinkCache> make_clock_cache(std::uint32_t capacity);
std::unique_ptr<LinkCache> make_random_cache(std::uint32_t capacity, std::uint64_t seed);

}  // namespace orbweaver
