// The crawler's own seen-set: storage::Store on RocksDB under keys of MD5, the link cache (LRU) in front. A check costs
// the same as admitting one link, including the frontier's row and the write-ahead log; a crawl admits a page's links
// together, which is cheaper. Exact, survives a restart and the death of the process. Thread rule: one thread.
#pragma once

#include <memory>
#include <string>

#include "node/lab/dedup/url_set.h"

namespace orbweaver {

// In DIRECTORY/store. 0 cache entries: no cache.
Result<std::unique_ptr<UrlSet>> open_crawler_set(const std::string& directory, std::uint32_t cache_entries);

// The same behind a Bloom filter, as with seen = bloom (docs/inside/seen-set.md): planned for `urls` at a
// false-positive rate of `rate`, and rebuilt from the store when it is opened. Approximate.
Result<std::unique_ptr<UrlSet>> open_filtered_crawler_set(const std::string& directory, std::uint32_t cache_entries,
                                                          std::uint64_t urls, double rate);

}  // namespace orbweaver
