// Which texts repeat an earlier one: exactly, or nearly (simhash.h). A bounded memory of the texts seen last; the
// oldest make room.
//
// Near ones are found by Manku's tables: of four blocks of 16 bits, two fingerprints that differ in at most three bits
// have one block in common, so each text stands in four chains of texts that share a block, and only those are
// compared. Of n texts that is 4 n / 65,536 comparisons on the mean. Pure. Thread rule: one owner. Memory: some 50
// bytes a text, and its name.
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
  std::string name;  // of the text that it repeats: the first that it was, as far as is remembered
};

class TextRepeats {
 public:
  // `texts_max` up to 2^31; 0: nothing is remembered, and nothing repeats.
  explicit TextRepeats(std::size_t texts_max);

  // What the text repeats; when nothing, it is remembered. So of many copies the first stays the one that the others
  // repeat. A text without words repeats nothing and is not remembered.
  std::optional<Repeat> add(std::string_view name, std::string_view text, const TextPrint& print);
  // The same, by a digest of the text.
  std::optional<Repeat> add(std::string_view name, const ring::Md5& digest, const TextPrint& print);
  std::uint64_t forgotten() const { return next_ > texts_max_ ? next_ - texts_max_ : 0; }

 private:
  static constexpr std::size_t blocks = near_distance_max + 1;
  static constexpr std::size_t block_bits = 64 / blocks;
  // Templates make many texts that share a block and are not near: of a chain the newest are compared.
  static constexpr std::size_t chain_steps_max = 4096;
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
  bool remembered(std::uint64_t number) const { return number + texts_max_ >= next_; }

  std::size_t texts_max_;
  std::uint64_t next_ = 0;                                 // number of the next text
  std::vector<Entry> entries_;                             // by number modulo texts_max_
  std::array<std::vector<std::uint64_t>, blocks> newest_;  // by block: number + 1 of the newest; 0: none
};

}  // namespace orbweaver
