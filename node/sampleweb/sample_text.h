// Words, sentences and the legacy encodings of the sample web's pages.
// Thread rule: pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "node/sampleweb/sample_random.h"

namespace orbweaver::sample {

enum class Encoding : std::uint8_t { utf_8, windows_1251, shift_jis, iso_8859_1 };

std::string_view encoding_label(Encoding encoding);  // "windows-1251"

std::string_view word(std::uint64_t number);  // lower-case ASCII letters only
// Words that only pages of a topic have: topic_words_each of them, made of syllables.
inline constexpr unsigned topic_words_each = 12;
std::string topic_word(unsigned topic, std::uint64_t number);

// The words of a page: with topics, one in five belongs to the page's own topic.
struct Vocabulary {
  bool has_topic = false;
  unsigned topic = 0;
  std::string draw(Random& random) const {
    if (has_topic && random.chance(0.2)) return topic_word(topic, random.next());
    return std::string(word(random.next()));
  }
};
// Generated sentences, at least `bytes` long in total (longer by one sentence at most).
void append_sentences(std::string& out, Random& random, std::size_t bytes, const Vocabulary& vocabulary = {});
// A sentence in the encoding's script, in that encoding's bytes (German letters for UTF-8 too).
std::string foreign_words(Encoding encoding, Random& random);
// Appends text for an HTML attribute: '&' and '"' escaped.
void append_attribute(std::string& out, std::string_view text);

}  // namespace orbweaver::sample
