#include "node/crawl/link_cache.h"

namespace orbweaver {

std::unique_ptr<LinkCache> make_link_cache(LinkCachePolicy policy, std::uint32_t capacity, std::uint64_t seed) {
  if (policy == LinkCachePolicy::clock) return make_clock_cache(capacity);
  if (policy == LinkCachePolicy::random) return make_random_cache(capacity, seed);
  return make_lru_cache(capacity);
}

std::uint64_t link_cache_entry_bytes(LinkCachePolicy policy) { return policy == LinkCachePolicy::lru ? 36 : 28; }

}  // namespace orbweaver
