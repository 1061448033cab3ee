// The seen-set's Bloom filter (setting seen = bloom): it is asked about a link to admit before the disk is. In memory
// only. It is rebuilt from the table of URLs whenever a store is opened. So it then contains exactly what the store
// contains, whatever happened before.
//
// It stores two facts of a URL, each as a digest of its own:
//   known    there is a record of it
//   settled  there is one that no link can change: fetched, failed, excluded for good; and queued too, when no rule of
//            the crawl depends on the way by which a page was found (max_depth, max_hops_off_site)
// A settled fact implies known as well, so that most URLs take one place. Only `settled` makes a link seen: a false
// positive loses a page. A false `known` costs one disk read, no more. A URL with neither fact is new. So a shorter way
// to a page still counts, and a URL excluded for now can be queued, as with an exact seen-set.
//
// The facts of a handed-over partition stay until the next start. They are still true: the ring has seen the URLs.
// Memory: BloomFilter::Plan::bytes(), at once. Pure. Thread rule: one owner (the peer's loop).
#pragma once

#include <cstdint>

#include "storage/bloom_filter.h"
#include "storage/record.h"

namespace orbweaver::storage {

class SeenFilter {
 public:
  struct Config {
    std::uint64_t urls = 0;    // records that this store is expected to have, including copies for other peers
    double rate = 0;           // of false positives when it contains that many, between 0 and 1
    bool way_matters = false;  // the crawl has a max_depth or max_hops_off_site
  };
  // A URL takes two places when it is queued before it is settled.
  static BloomFilter::Plan plan(const Config& config);

  explicit SeenFilter(const Config& config);

  enum class Verdict : std::uint8_t { seen, fresh, ask };  // treated as seen; certainly new; the disk knows
  Verdict judge(const BloomFilter::Digest& url) const;
  bool settled(const BloomFilter::Digest& url) const { return filter_.holds(url); }
  void note(const BloomFilter::Digest& url, UrlState state, Reason reason);

  const Config& config() const { return config_; }
  std::uint64_t memory_bytes() const { return filter_.plan().bytes(); }
  std::uint32_t hashes() const { return filter_.plan().hashes; }
  double fill() const { return filter_.fill(); }
  double rate() const { return filter_.rate(); }  // the current rate of false positives
  // The estimated number of facts in it, and how many keep the planned rate.
  std::uint64_t entries() const { return entries_; }
  std::uint64_t entries_planned() const { return config_.urls * (config_.way_matters ? 2 : 1); }
  bool overfull() const { return entries_ > entries_planned(); }

 private:
  static BloomFilter::Digest known_key(BloomFilter::Digest url);

  Config config_;
  BloomFilter filter_;
  std::uint64_t entries_ = 0;
};

}  // namespace orbweaver::storage
