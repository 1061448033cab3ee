// The simulator's only source of chance: splitmix64 (Steele, Lea, Flood 2014), the same on every machine, unlike the
// standard library's distributions. Thread rule: a value, one owner.
#pragma once

#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <string_view>

#include "node/base.h"

namespace orbweaver::sim {

inline std::uint64_t mix(std::uint64_t value) {
  value += 0x9e3779b97f4a7c15ull;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9ull;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebull;
  return value ^ (value >> 31);
}

// FNV-1a over the text, then mixed. A page's kind and its links depend only on
// its URL and on the web's seed.
inline std::uint64_t hash_of(std::uint64_t seed, std::string_view text) {
  std::uint64_t value = 0xcbf29ce484222325ull ^ mix(seed);
  for (const char c : text) value = (value ^ static_cast<std::uint8_t>(c)) * 0x100000001b3ull;
  return mix(value);
}

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(mix(seed)) {}

  std::uint64_t next() { return state_ = mix(state_); }
  std::uint64_t below(std::uint64_t bound) { return bound == 0 ? 0 : next() % bound; }
  std::uint64_t between(std::uint64_t low, std::uint64_t high) { return low + below(high - low + 1); }
  // `per_mille` of 1000 draws are true.
  bool chance(std::uint32_t per_mille) { return below(1000) < per_mille; }
  Duration between(Duration low, Duration high) {
    return low + Duration(static_cast<Duration::rep>(below(static_cast<std::uint64_t>((high - low).count()) + 1)));
  }
  template <class T>
  T pick(std::initializer_list<T> values) {
    return values.begin()[below(values.size())];
  }

 private:
  std::uint64_t state_;
};

}  // namespace orbweaver::sim
