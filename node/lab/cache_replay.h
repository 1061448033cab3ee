// How often caches of URLs miss on a stream of links, by the methods of Broder, Najork and Wiener (2003). LRU is the
// crawl's own cache (node/frontier/link_cache.h), CLOCK and RANDOM are in eviction.h; the policies here need to know
// the whole stream. Pure. Thread rule: free functions.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "ring/md5.h"

namespace orbweaver {

// A stream is URLs by number, in order; numbers are below `urls`.
using UrlStream = std::vector<std::uint32_t>;

// INFINITE: each URL misses once.
std::uint64_t misses_of_infinite(const UrlStream& stream, std::size_t urls);

// For each place of the stream, the next place of the same URL; no_next: none. The first of MIN's two passes.
inline constexpr std::uint32_t no_next = 0xffffffff;
std::vector<std::uint32_t> next_places(const UrlStream& stream, std::size_t urls);
// MIN, the clairvoyant (Belady 1966): the URL with the farthest next place makes room. Every URL that misses is added,
// as in the other policies. `next` comes from next_places(). O(n log size).
std::uint64_t misses_of_min(const UrlStream& stream, const std::vector<std::uint32_t>& next, std::size_t urls,
                            std::uint32_t size);

// STATIC: from the start the cache contains the URLs that are the most frequent in the first `known` links of the
// stream (equal ones: the one seen first), and never changes. One result for each of the sizes.
std::vector<std::uint64_t> misses_of_static(const UrlStream& stream, std::size_t urls, std::size_t known,
                                            const std::vector<std::uint32_t>& sizes);

// For a LinkCache or an EvictingCache; every URL that misses is added.
template <class Cache>
std::uint64_t misses_of(Cache& cache, const UrlStream& stream, const std::vector<ring::Md5>& digests) {
  const std::uint64_t before = cache.misses();
  for (const std::uint32_t url : stream)
    if (!cache.hit(digests[url], 0)) cache.insert(digests[url], 0);
  return cache.misses() - before;
}

// The knee of a curve: the point that is farthest above the line from the first to the last point, both axes scaled to
// 0..1 ("Kneedle", Satopaa and others, 2011).
// For hit rates over the logarithm of the size. Fewer than three points: the last.
std::size_t knee_of(const std::vector<std::pair<double, double>>& points);

}  // namespace orbweaver
