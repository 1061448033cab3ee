#include "node/sampleweb/sample_text.h"

#include <array>

namespace orbweaver::sample {

namespace {

constexpr std::array<std::string_view, 160> words{
    "the",      "of",      "and",     "river",   "to",       "in",      "lantern", "that",    "for",     "stone",
    "with",     "on",      "harbour", "as",      "are",      "silver",  "this",    "by",      "from",    "garden",
    "at",       "or",      "copper",  "an",      "be",       "window",  "not",     "which",   "all",     "winter",
    "thread",   "when",    "more",    "meadow",  "their",    "has",     "paper",   "one",     "other",   "letter",
    "weather",  "some",    "into",    "orchard", "may",      "time",    "engine",  "only",    "new",     "bridge",
    "network",  "between", "after",   "candle",  "most",     "over",    "island",  "these",   "first",   "market",
    "signal",   "number",  "where",   "forest",  "each",     "because", "anchor",  "under",   "small",   "valley",
    "circuit",  "people",  "through", "carbon",  "would",    "about",   "cabinet", "before",  "great",   "saddle",
    "measure",  "state",   "below",   "feather", "part",     "while",   "granite", "used",    "during",  "pepper",
    "quarter",  "system",  "within",  "marble",  "such",     "every",   "journal", "again",   "long",    "thunder",
    "village",  "method",  "without", "needle",  "work",     "three",   "compass", "early",   "common",  "ribbon",
    "archive",  "result",  "along",   "spindle", "place",    "known",   "kettle",  "against", "several", "hammer",
    "balance",  "example", "toward",  "pebble",  "given",    "later",   "mirror",  "among",   "simple",  "barley",
    "passage",  "figure",  "since",   "timber",  "called",   "until",   "velvet",  "almost",  "second",  "cinder",
    "history",  "process", "though",  "walnut",  "general",  "never",   "pillar",  "around",  "double",  "shadow",
    "question", "reason",  "beyond",  "canvas",  "together", "quiet",   "furnace", "across",  "certain", "willow"};

}  // namespace

std::string_view encoding_label(Encoding encoding) {
  switch (encoding) {
    case Encoding::windows_1251:
      return "windows-1251";
    case Encoding::shift_jis:
      return "shift_jis";
    case Encoding::iso_8859_1:
      return "iso-8859-1";
    case Encoding::utf_8:
      break;
  }
  return "utf-8";
}

std::string_view word(std::uint64_t number) { return words[number % words.size()]; }

std::string topic_word(unsigned topic, std::uint64_t number) {
  constexpr std::string_view consonants = "bdfgklmnprstvz";
  constexpr std::string_view vowels = "aeiou";
  Random random(mix(mix(0x776f7264, topic), number % topic_words_each));
  std::string out;
  for (int i = 0; i < 4; ++i) {
    out.push_back(consonants[random.below(consonants.size())]);
    out.push_back(vowels[random.below(vowels.size())]);
  }
  return out;
}

void append_sentences(std::string& out, Random& random, std::size_t bytes, const Vocabulary& vocabulary) {
  const std::size_t end = out.size() + bytes;
  while (out.size() < end) {
    const auto length = 5 + random.below(14);
    for (std::uint64_t i = 0; i < length; ++i) {
      const std::string next = vocabulary.draw(random);
      if (i == 0) {
        out.push_back(static_cast<char>(next[0] - 'a' + 'A'));
        out.append(next, 1);
      } else {
        out.push_back(' ');
        out.append(next);
      }
    }
    out.append(". ");
  }
}

std::string foreign_words(Encoding encoding, Random& random) {
  std::string out;
  for (int i = 0; i < 8; ++i) {
    if (i != 0) out.push_back(' ');
    const auto letters = 3 + random.below(6);
    for (std::uint64_t k = 0; k < letters; ++k) {
      switch (encoding) {
        case Encoding::windows_1251:  // 0xE0 to 0xFF: Cyrillic small a to ya
          out.push_back(static_cast<char>(0xe0 + random.below(32)));
          break;
        case Encoding::shift_jis:  // 0x82 0x9F to 0x82 0xF1: hiragana
          out.push_back(static_cast<char>(0x82));
          out.push_back(static_cast<char>(0x9f + random.below(83)));
          break;
        case Encoding::iso_8859_1:  // 0xE0 to 0xF6: small letters with accents
          out.push_back(static_cast<char>(0xe0 + random.below(23)));
          break;
        case Encoding::utf_8:  // U+00E0 to U+00F6
          out.push_back(static_cast<char>(0xc3));
          out.push_back(static_cast<char>(0xa0 + random.below(23)));
          break;
      }
    }
  }
  return out;
}

void append_attribute(std::string& out, std::string_view text) {
  for (const char c : text) {
    if (c == '&') {
      out.append("&amp;");
    } else if (c == '"') {
      out.append("&quot;");
    } else {
      out.push_back(c);
    }
  }
}

}  // namespace orbweaver::sample
