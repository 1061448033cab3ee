// Random numbers that are a pure function of their seed:
// the sample web draws every page again from (seed, host, page). Thread rule: values.
#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>
#include <string_view>

namespace orbweaver::sample {

// SplitMix64's finaliser (Steele, Lea, Flood: "Fast Splittable Pseudorandom Number Generators", 2014).
constexpr std::uint64_t mix(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

constexpr std::uint64_t mix(std::uint64_t a, std::uint64_t b) { return mix(a ^ mix(b + 0x9e3779b97f4a7c15ULL)); }

constexpr std::uint64_t mix(std::uint64_t a, std::string_view text) {
  for (const char c : text) a = mix(a, static_cast<unsigned char>(c));
  return a;
}

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    state_ += 0x9e3779b97f4a7c15ULL;
    return mix(state_);
  }
  // 0 to bound - 1. The modulo's bias is below bound / 2^64.
  std::uint64_t below(std::uint64_t bound) { return bound == 0 ? 0 : next() % bound; }
  // 0 <= x < 1.
  double unit() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }
  bool chance(double probability) { return unit() < probability; }
  double normal() {  // Box and Muller, 1958
    const double radius = std::sqrt(-2.0 * std::log(1.0 - unit()));
    return radius * std::cos(2.0 * std::numbers::pi * unit());
  }
  double log_normal(double median, double sigma) { return median * std::exp(sigma * normal()); }

 private:
  std::uint64_t state_;
};

}  // namespace orbweaver::sample
