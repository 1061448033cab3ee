// Words of UTF-8 text in any script, for counting and comparing: runs of letters and digits. A character of a script
// without spaces between words (Han, kana) is a word by itself.
// ASCII letters become lower case. Pure; cost: one pass.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace orbweaver {

namespace text_detail {
// The length in bytes of the character that begins with this byte, by that byte alone.
constexpr std::size_t length_of(unsigned char first) {
  return first < 0xc0 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
}
// Of three bytes: U+3040 to U+30FF, U+31F0 to U+31FF, U+3400 to U+4DBF, U+4E00 to U+9FFF, U+F900 to U+FAFF; of four:
// U+20000 to U+3FFFF.
constexpr bool stands_alone(std::string_view character) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(character[i]); };
  if (character.size() == 4) return byte(0) == 0xf0 && byte(1) >= 0xa0 && byte(1) < 0xc0;
  if (character.size() != 3) return false;
  const unsigned point = (byte(0) & 0x0fU) << 12 | (byte(1) & 0x3fU) << 6 | (byte(2) & 0x3fU);
  return (point >= 0x3040 && point <= 0x30ff) || (point >= 0x31f0 && point <= 0x31ff) ||
         (point >= 0x3400 && point <= 0x4dbf) || (point >= 0x4e00 && point <= 0x9fff) ||
         (point >= 0xf900 && point <= 0xfaff);
}
// General punctuation, CJK punctuation, full-width forms of ASCII punctuation: they end words.
constexpr bool is_separator(std::string_view character) {
  if (character.size() == 2) return character[0] == '\xc2';  // U+0080 to U+00BF: signs, except two letters
  if (character.size() != 3) return false;
  const auto second = static_cast<unsigned char>(character[1]);
  return (character[0] == '\xe2' && second >= 0x80 && second <= 0xaf) || character.substr(0, 2) == "\xe3\x80" ||
         character.substr(0, 2) == "\xef\xbc";
}
}  // namespace text_detail

// Calls `take` with each word; the view is valid during the call.
template <class Take>
void for_each_word(std::string_view text, Take&& take) {
  std::string word;
  const auto end_word = [&] {
    if (!word.empty()) take(std::string_view(word));
    word.clear();
  };
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (static_cast<unsigned char>(c) < 0x80) {
      ++at;
      if (c >= 'A' && c <= 'Z') {
        word.push_back(static_cast<char>(c + ('a' - 'A')));
      } else if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) {
        word.push_back(c);
      } else {
        end_word();
      }
      continue;
    }
    const std::string_view character = text.substr(at, text_detail::length_of(static_cast<unsigned char>(c)));
    at += character.size();
    if (text_detail::stands_alone(character)) {
      end_word();
      take(character);
    } else if (text_detail::is_separator(character)) {
      end_word();
    } else {
      word += character;
    }
  }
  end_word();
}

}  // namespace orbweaver
