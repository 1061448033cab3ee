#include "node/text/simhash.h"

#include <array>

#include "node/text/words.h"

namespace orbweaver {

namespace {

constexpr std::size_t run_words = 3;

// FNV-1a (Fowler, Noll, Vo), 64 bits; then SplitMix64's finaliser, so that every bit depends on every byte.
std::uint64_t hash_of(std::string_view word) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : word) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

std::uint64_t mixed(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

class Sums {
 public:
  void add(std::uint64_t feature) {
    for (std::size_t bit = 0; bit < sums_.size(); ++bit) sums_[bit] += (feature >> bit & 1) != 0 ? 1 : -1;
  }
  std::uint64_t signs() const {
    std::uint64_t out = 0;
    for (std::size_t bit = 0; bit < sums_.size(); ++bit) out |= std::uint64_t{sums_[bit] > 0 ? 1U : 0U} << bit;
    return out;
  }

 private:
  std::array<std::int32_t, 64> sums_{};
};

}  // namespace

TextPrint text_print(std::string_view text) {
  TextPrint print;
  Sums runs;
  Sums words;
  std::array<std::uint64_t, run_words> last{};
  for_each_word(text, [&](std::string_view word) {
    const std::uint64_t hash = hash_of(word);
    last[print.words % run_words] = hash;
    ++print.words;
    if (print.words < run_words) words.add(mixed(hash));
    if (print.words < run_words) return;
    std::uint64_t run = 0;
    for (std::size_t back = run_words; back > 0; --back) run = mixed(run ^ last[(print.words - back) % run_words]);
    runs.add(run);
  });
  if (print.words > 0) print.simhash = print.words < run_words ? words.signs() : runs.signs();
  return print;
}

}  // namespace orbweaver
