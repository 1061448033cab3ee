// A Bloom filter over 16-byte digests (Bloom 1970): a set in a fixed array of bits. It never denies what was added and
// occasionally claims what was not. Digests are uniform already (MD5 of a URL), so nothing is hashed again: the k
// positions follow from the digest's two halves by enhanced double hashing, h1 + i h2 + (i^3 - i)/6 mod m (Dillinger
// and Manolios 2004). Plain double hashing has the rate of k independent hashes only asymptotically (Kirsch and
// Mitzenmacher 2006): two progressions may run into each other, which a small filter with many hashes shows. With m
// bits, k hashes and n digests the rate is (1 - e^(-kn/m))^k; m = 20 n and k = 10 give 8.89e-5. Cost: at most k cache
// misses, about two when it is not in. Pure: the same digests in any order give the same bits. Thread rule: one owner.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace orbweaver::storage {

class BloomFilter {
 public:
  using Digest = std::array<std::uint8_t, 16>;
  struct Plan {
    std::uint64_t bits = 0;    // m
    std::uint32_t hashes = 0;  // k
    std::uint64_t bytes() const { return (bits + 63) / 64 * 8; }
  };
  // The smallest number of bits that keeps `rate` (between 0 and 1) with `entries` digests, and the matching k:
  // m = n ln(1/p) / (ln 2)^2, k = m/n ln 2.
  static Plan plan(std::uint64_t entries, double rate);
  // The rate of such a filter with `entries` digests in it.
  static double rate_of(const Plan& plan, std::uint64_t entries);

  // Allocates all of its memory. `plan.bits` and `plan.hashes` are at least 1.
  explicit BloomFilter(const Plan& plan);

  bool holds(const Digest& digest) const;
  // False: all of its bits were set before, so it was in, or seemed to be.
  bool add(const Digest& digest);

  const Plan& plan() const { return plan_; }
  std::uint64_t bits_set() const { return set_; }
  double fill() const { return static_cast<double>(set_) / static_cast<double>(plan_.bits); }
  // The probability that an absent digest seems to be in, by the bits that are really set: fill^k.
  double rate() const;

 private:
  struct Walk;
  Plan plan_;
  std::uint64_t set_ = 0;
  std::vector<std::uint64_t> words_;
};

}  // namespace orbweaver::storage
