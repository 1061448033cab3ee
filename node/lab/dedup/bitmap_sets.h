// Sets of bits in memory: the one-hash bitmap and the Bloom filter. Neither survives a restart, because neither writes
// a file. Thread rule: one thread.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "node/lab/dedup/url_set.h"
#include "ring/md5.h"
#include "storage/bloom_filter.h"

namespace orbweaver {

// One bit per URL, at the first 64 bits of its MD5 modulo the number of bits. Two URLs with the same bit count as one.
class OneHashBitmap final : public ApproximateUrlSet {
 public:
  explicit OneHashBitmap(std::uint64_t bits) : bits_(std::max<std::uint64_t>(bits, 1)), words_((bits_ + 63) / 64) {}
  Result<bool> seen(std::string_view url) override {
    const std::uint64_t at = place(url);
    const bool before = (words_[at >> 6] >> (at & 63) & 1) != 0;
    words_[at >> 6] |= std::uint64_t{1} << (at & 63);
    return before;
  }
  bool would_be_seen(std::string_view url) const override {
    const std::uint64_t at = place(url);
    return (words_[at >> 6] >> (at & 63) & 1) != 0;
  }
  double predicted_rate(std::uint64_t urls) const override {
    return -std::expm1(-static_cast<double>(urls) / static_cast<double>(bits_));
  }
  std::uint64_t memory_bytes() const override { return words_.size() * sizeof(std::uint64_t); }

 private:
  std::uint64_t place(std::string_view url) const { return ring::leading_bits(ring::md5(url)) % bits_; }
  std::uint64_t bits_;
  std::vector<std::uint64_t> words_;
};

// storage/bloom_filter.h, which the crawler uses too, over MD5(URL).
class BloomSet final : public ApproximateUrlSet {
 public:
  explicit BloomSet(const storage::BloomFilter::Plan& plan) : filter_(plan) {}
  Result<bool> seen(std::string_view url) override { return !filter_.add(ring::md5(url)); }
  bool would_be_seen(std::string_view url) const override { return filter_.holds(ring::md5(url)); }
  double predicted_rate(std::uint64_t urls) const override {
    return storage::BloomFilter::rate_of(filter_.plan(), urls);
  }
  std::uint64_t memory_bytes() const override { return filter_.plan().bytes(); }

 private:
  storage::BloomFilter filter_;
};

}  // namespace orbweaver
