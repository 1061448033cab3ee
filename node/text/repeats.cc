#include "node/text/repeats.h"

namespace orbweaver {

TextRepeats::TextRepeats(std::size_t max_texts) : max_texts_(max_texts) {
  if (max_texts_ == 0) return;
  for (auto& heads : newest_) heads.assign(std::size_t{1} << block_bits, 0);
}

std::optional<Repeat> TextRepeats::add(std::string_view name, std::string_view text, const TextPrint& print) {
  return add(name, ring::md5(text), print);
}

std::optional<Repeat> TextRepeats::add(std::string_view name, const ring::Md5& digest, const TextPrint& print) {
  if (max_texts_ == 0 || print.words == 0) return std::nullopt;
  const bool few_words = print.words < near_words_min;
  const Entry* best = nullptr;
  int best_distance = max_near_distance + 1;
  for (std::size_t block = 0; block < blocks; ++block) {
    std::size_t steps = 0;
    for (std::uint64_t at = newest_[block][block_of(print.simhash, block)];
         at != 0 && remembered(at - 1) && steps < max_chain_steps; ++steps) {
      const Entry& entry = entries_[(at - 1) % max_texts_];
      at = entry.older[block];
      if (entry.digest == digest) return Repeat{true, 0, entry.name};
      const int distance = hamming(entry.simhash, print.simhash);
      // Chains go back in time: of two equally near texts the older one counts.
      if (!few_words && !entry.few_words && distance < max_near_distance + 1 && distance <= best_distance) {
        best = &entry;
        best_distance = distance;
      }
    }
  }
  if (best != nullptr) return Repeat{false, best_distance, best->name};
  Entry entry{print.simhash, digest, {}, std::string(name), few_words};
  const std::uint64_t number = next_++;
  for (std::size_t block = 0; block < blocks; ++block) {
    std::uint64_t& newest = newest_[block][block_of(print.simhash, block)];
    entry.older[block] = newest;
    newest = number + 1;
  }
  if (entries_.size() < max_texts_) {
    entries_.push_back(std::move(entry));
  } else {
    entries_[number % max_texts_] = std::move(entry);
  }
  return std::nullopt;
}

}  // namespace orbweaver
