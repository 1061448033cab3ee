// The seen-set's Bloom filter (setting seen = bloom): what a link to admit is asked before the disk is. In memory only;
// made again from the table of URLs whenever a store is opened, so that it holds what the store holds, whatever
// happened before, and no more.
//
// Two facts of a URL stand in it, each a digest of its own:
//   known    there is a record of it
//   settled  there is one that no link can change: fetched, failed, excluded for good; and queued too, when no rule of
//            the crawl depends on the way by which a page was found (max_depth, max_hops_off_site)
// A settled fact says known as well, so that most URLs take one place. A link is taken as seen by `settled` alone: a
// wrong one loses a page. A wrong `known` costs a read of the disk, no more. What is neither is new. So a shorter way
// to a page still counts, and what is excluded for now can be queued, as with an exact seen-set.
//
// Of a partition that was handed over its facts stay until the next start: they hold, the URLs were seen by the ring.
// Memory: BloomFilter::Plan::bytes(), at once. Pure. Thread rule: one owner (the peer's loop).
#pragma once

#include <cstdint>

#include "storage/bloom_filter.h"
#include "storage/record.h"

namespace orbweaver::storage {

class SeenFilter {
 public:
  struct Config {
    std::uint64_t urls = 0;    // records that this store is expected to have, copies for other peers among them
    double rate = 0;           // of false positives when so many are in, between 0 and 1
    bool way_matters = false;  // the crawl has a max_depth or max_hops_off_site
  };
  // A URL takes two places when it is queued before it is settled.
  static BloomFilter::Plan plan(const Config& config);

  explicit SeenFilter(const Config& config);

  enum class Verdict : std::uint8_t { seen, fresh, ask };  // taken as seen; new for certain; the disk knows
  Verdict judge(const BloomFilter::Digest& url) const;
  bool settled(const BloomFilter::Digest& url) const { return filter_.holds(url); }
  void note(const BloomFilter::Digest& url, UrlState state, Reason reason);

  const Config& config() const { return config_; }
  std::uint64_t memory_bytes() const { return filter_.plan().bytes(); }
  std::uint32_t hashes() const { return filter_.plan().hashes; }
  double fill() const { return filter_.fill(); }
  double rate() const { return filter_.rate(); }  // now, of false positives
  // Facts in it, as far as it can tell, and how many keep the planned rate.
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
