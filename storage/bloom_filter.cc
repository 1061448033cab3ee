#include "storage/bloom_filter.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string_view>

#include "storage/bytes.h"

namespace orbweaver::storage {

// The positions of one digest, one after the other.
struct BloomFilter::Walk {
  Walk(const Digest& digest, std::uint64_t m) : bits(m) {
    const std::string_view bytes(reinterpret_cast<const char*>(digest.data()), digest.size());
    at = get_be<std::uint64_t>(bytes, 0) % bits;
    step = get_be<std::uint64_t>(bytes, 8) % bits;
  }
  void next() {
    at += step;
    if (at >= bits) at -= bits;
    step += ++taken;
    while (step >= bits) step -= bits;  // runs once at most, except in a filter with fewer bits than hashes
  }
  std::uint64_t bits;
  std::uint64_t at;
  std::uint64_t step;
  std::uint64_t taken = 0;
};

BloomFilter::Plan BloomFilter::plan(std::uint64_t entries, double rate) {
  const double n = static_cast<double>(std::max<std::uint64_t>(entries, 1));
  const double bits_each = -std::log(rate) / (std::numbers::ln2 * std::numbers::ln2);
  const double hashes = std::max(1.0, std::round(bits_each * std::numbers::ln2));
  return {static_cast<std::uint64_t>(std::ceil(n * bits_each)), static_cast<std::uint32_t>(hashes)};
}

double BloomFilter::rate_of(const Plan& plan, std::uint64_t entries) {
  const double k = plan.hashes;
  return std::pow(-std::expm1(-k * static_cast<double>(entries) / static_cast<double>(plan.bits)), k);
}

BloomFilter::BloomFilter(const Plan& plan) : plan_(plan), words_((plan.bits + 63) / 64) {}

bool BloomFilter::holds(const Digest& digest) const {
  Walk walk(digest, plan_.bits);
  for (std::uint32_t i = 0; i < plan_.hashes; ++i, walk.next())
    if ((words_[walk.at >> 6] >> (walk.at & 63) & 1) == 0) return false;
  return true;
}

bool BloomFilter::add(const Digest& digest) {
  Walk walk(digest, plan_.bits);
  const std::uint64_t before = set_;
  for (std::uint32_t i = 0; i < plan_.hashes; ++i, walk.next()) {
    std::uint64_t& word = words_[walk.at >> 6];
    const std::uint64_t bit = std::uint64_t{1} << (walk.at & 63);
    if ((word & bit) != 0) continue;
    word |= bit;
    ++set_;
  }
  return set_ != before;
}

double BloomFilter::rate() const { return std::pow(fill(), plan_.hashes); }

}  // namespace orbweaver::storage
