// How often caches of URLs miss on a stream of links, by the methods of Broder, Najork and Wiener (2003). LRU
// is the crawl's own cache (node/frontier/link_cache.h), CLOCK and RANDOM are in eviction.h; here are the policies that
// need to know the whole stream. Pure. Thread rule: free functions.
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

// For each place of the stream where the same URL comes next; beyond the end: no_next. The first of MIN's two passes.
inline constexpr std::uint32_t no_next = 0xffffffff;
std::vector<std::uint32_t> next_places(const UrlStream& stream, std::size_t urls);
// MIN, the clairvoyant (Belady 1966): what makes room is the URL whose next place is the farthest. Every URL that
// misses is put in, as the other policies do. `next` of next_places(). O(n log size).
std::uint64_t misses_of_min(const UrlStream& stream, const std::vector<std::uint32_t>& next, std::size_t urls,
                            std::uint32_t size);

// STATIC: the cache holds from the start the URLs that are the most frequent in the first `known` links of the stream
// (equal ones: the one seen first), and never changes. One result for each of the sizes.
std::vector<std::uint64_t> misses_of_static(const UrlStream& stream, std::size_t urls, std::size_t known,
                                            const std::vector<std::uint32_t>& sizes);

// Of a LinkCache or an EvictingCache; what misses is put in.
template <class Cache>
std::uint64_t misses_of(Cache& cache, const UrlStream& stream, const std::vector<ring::Md5>& digests) {
  const std::uint64_t before = cache.misses();
  for (const std::uint32_t url : stream)
    if (!cache.hit(digests[url], 0)) cache.insert(digests[url], 0);
  return cache.misses() - before;
}

// The knee of a curve: of its points that which lies the farthest above the line from the first to the last, both
// axes scaled to 0..1 ("Kneedle", Satopaa and others, 2011). For hit rates over the logarithm of the size. Fewer than
// three points: the last.
std::size_t knee_of(const std::vector<std::pair<double, double>>& points);

}  // namespace orbweaver
