// Fingerprints of texts that are near when the texts are: simhash (Charikar 2002, "Similarity Estimation Techniques
// from Rounding Algorithms") of 64 bits, as Manku, Jain and Das Sarma use it for web pages (2007, "Detecting
// Near-Duplicates for Web Crawling"): texts whose fingerprints differ in at most 3 bits are treated as near duplicates.
//
// The features are runs of three words (words.h), each as often as it occurs; a shorter text has its words. Equal texts
// have equal fingerprints on every machine and in every release: they are stored. Pure; cost: about 30 ns per word.
#pragma once

#include <bit>
#include <cstdint>
#include <string_view>

namespace orbweaver {

inline constexpr int max_near_distance = 3;
// For texts with fewer words the fingerprint says little: only the whole texts are compared.
inline constexpr std::size_t near_words_min = 24;

struct TextPrint {
  std::uint64_t simhash = 0;
  std::size_t words = 0;
};
TextPrint text_print(std::string_view text);

inline int hamming(std::uint64_t a, std::uint64_t b) { return std::popcount(a ^ b); }

}  // namespace orbweaver
