// Which texts repeat an earlier one: exactly, or nearly (simhash.h). A bounded memory of the most recent texts; the
// oldest make room.
//
// Near texts are found by Manku's tables. Two fingerprints that differ in at most three bits have one of their four
// blocks of 16 bits in common. So each text is in four chains of texts that share a block, and only those are compared.
// For n texts that is 4 n / 65,536 comparisons on average. Pure.
// Thread rule: one owner. Memory: about 50 bytes per text, and its name.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "node/text/simhash.h"
#include "ring/md5.h"

namespace orbweaver {

struct Repeat {
  bool exact = false;
  int distance = 0;  // bits; 0 for exact ones, and for near ones whose fingerprints are equal
  std::string name;  // of the text that it repeats: the first one, as far as is remembered
};

class TextRepeats {
 public:
  // `max_texts` up to 2^31; 0: nothing is remembered, and nothing repeats.
  explicit TextRepeats(std::size_t max_texts);

  // The text that this one repeats; when there is none, this one is remembered. So of many copies the others repeat the
  // first. A text without words repeats nothing and is not remembered.
  std::optional<Repeat> add(std::string_view name, std::string_view text, const TextPrint& print);
  // The same, by a digest of the text.
  std::optional<Repeat> add(std::string_view name, const ring::Md5& digest, const TextPrint& print);
  std::uint64_t forgotten() const { return next_ > max_texts_ ? next_ - max_texts_ : 0; }

 private:
  static constexpr std::size_t blocks = max_near_distance + 1;
  static constexpr std::size_t block_bits = 64 / blocks;
  // Templates make many texts that share a block and are not near: only the newest of a chain are compared.
  static constexpr std::size_t max_chain_steps = 4096;
  struct Entry {
    std::uint64_t simhash = 0;
    ring::Md5 digest{};
    std::array<std::uint64_t, blocks> older{};  // number + 1 of the next in the chain; 0: none
    std::string name;
    bool few_words = false;
  };
  std::size_t block_of(std::uint64_t simhash, std::size_t block) const {
    return static_cast<std::size_t>(simhash >> (block * block_bits) & ((1U << block_bits) - 1));
  }
  bool remembered(std::uint64_t number) const { return number + max_texts_ >= next_; }

  std::size_t max_texts_;
  std::uint64_t next_ = 0;                                 // number of the next text
  std::vector<Entry> entries_;                             // by number modulo max_texts_
  std::array<std::vector<std::uint64_t>, blocks> newest_;  // by block: number + 1 of the newest; 0: none
};

}  // namespace orbweaver
