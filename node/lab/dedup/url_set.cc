#include "node/lab/dedup/url_set.h"

#include <algorithm>

#include "node/lab/dedup/bitmap_sets.h"
#include "node/lab/dedup/crawler_set.h"
#include "node/lab/dedup/digest_set.h"
#include "node/lab/dedup/directory_set.h"
#include "node/lab/dedup/generalized_list_set.h"
#include "node/lab/dedup/hash_set.h"
#include "node/lab/dedup/linked_list_set.h"
#include "node/lab/dedup/segmented_bitmap.h"
#include "node/lab/dedup/sqlite_set.h"
#include "storage/seen_filter.h"

namespace orbweaver {

namespace {

using Opened = Result<std::unique_ptr<UrlSet>>;

template <class Set>
Opened fresh(const UrlSetPlan&) {
  return std::make_unique<Set>();
}

// The default of seen_false_positives.
constexpr double crawler_rate = 1e-6;

// The overhead of one heap block: its own words and rounding.
constexpr std::uint64_t block_extra = 24;

std::uint64_t little(const UrlSetPlan&) { return 16u << 20; }

// A node with one or two pointers, its text, and, where there is a table, two buckets per URL while it grows.
std::uint64_t texts(const UrlSetPlan& plan) { return plan.urls * (64 + 2 * block_extra + 24) + plan.url_bytes; }
std::uint64_t digests(const UrlSetPlan& plan) { return plan.urls * (40 + block_extra + 24); }

storage::BloomFilter::Plan bloom_plan(const UrlSetPlan& plan) {
  if (plan.bloom_rate > 0) return storage::BloomFilter::plan(plan.urls, plan.bloom_rate);
  return {std::max<std::uint64_t>(plan.urls * plan.bits_per_url, 1), plan.hashes};
}

}  // namespace

const std::vector<UrlSetKind>& url_set_kinds() {
  static const std::vector<UrlSetKind> kinds = {
      {"sqlite", "database with an index (SQLite)", little,
       [](const UrlSetPlan& plan) { return open_sqlite_set(plan.directory); }},
      {"list", "linked list", texts, fresh<LinkedListSet>},
      // 12 bytes per letter, if no letter is shared.
      {"generalized", "improved generalized list", [](const UrlSetPlan& plan) { return plan.url_bytes * 12; },
       fresh<GeneralizedListSet>},
      {"hash", "hash set of URLs", texts, fresh<HashSet>},
      {"md5", "set of MD5 digests", digests, fresh<Md5Set>},
      {"sha1", "set of SHA-1 digests", digests, fresh<Sha1Set>},
      {"path", "nested directories of the MD5", little,
       [](const UrlSetPlan& plan) -> Opened {
         return std::make_unique<DirectorySet>(plan.directory, plan.max_directories);
       }},
      {"bitmap", "bitmap over one hash", [](const UrlSetPlan& plan) { return plan.urls * plan.bits_per_url / 8 + 8; },
       [](const UrlSetPlan& plan) -> Opened { return std::make_unique<OneHashBitmap>(plan.urls * plan.bits_per_url); }},
      {"segmented", "segmented MD5 bitmap", [](const UrlSetPlan&) { return SegmentedBitmap::file_bytes; },
       [](const UrlSetPlan& plan) { return SegmentedBitmap::open(plan.directory + "/segments"); }},
      {"bloom", "Bloom filter", [](const UrlSetPlan& plan) { return bloom_plan(plan).bytes(); },
       [](const UrlSetPlan& plan) -> Opened { return std::make_unique<BloomSet>(bloom_plan(plan)); }},
      // RocksDB's block cache and write buffers, and the link cache.
      {"crawler", "the crawler's: RocksDB, MD5 keys, LRU in front",
       [](const UrlSetPlan& plan) { return (std::uint64_t{320} << 20) + plan.cache_entries * std::uint64_t{64}; },
       [](const UrlSetPlan& plan) { return open_crawler_set(plan.directory, plan.cache_entries); }},
      {"crawler-bloom", "the crawler's with seen = bloom, one in a million",
       [](const UrlSetPlan& plan) {
         return (std::uint64_t{320} << 20) + plan.cache_entries * std::uint64_t{64} +
                storage::SeenFilter::plan({plan.urls, crawler_rate, false}).bytes();
       },
       [](const UrlSetPlan& plan) {
         return open_filtered_crawler_set(plan.directory, plan.cache_entries, plan.urls, crawler_rate);
       }},
  };
  return kinds;
}

}  // namespace orbweaver
