// The Encoding Standard's indexes (section 5): from a pointer, which an encoding's bytes form, to a code point, and
// back. Tables of 170 KB in the program's read-only data; a reverse table is sorted at its first use (at most 150 KB)
// and then immutable. Thread rule: free functions. Pure.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace orbweaver::html {

// By pointer; 0 where the index has no entry. euc-kr and big5 end at their last pointer.
extern const std::array<char16_t, 11'104> jis0208_index;
extern const std::array<char16_t, 7'211> jis0212_index;
extern const std::array<char16_t, 23'750> euc_kr_index;
extern const std::array<char16_t, 23'940> gb18030_index;

// Some of Big5's code points are above U+FFFF, all of them in plane 2.
struct Big5Index {
  std::array<char16_t, 19'782> low;            // the lower 16 bits; 0: no entry
  std::array<std::uint8_t, 2'473> in_plane_2;  // one bit per pointer
  constexpr char32_t at(std::size_t pointer) const {
    const bool plane_2 = (in_plane_2[pointer / 8] >> (pointer % 8) & 1) != 0;
    return low[pointer] + (plane_2 ? U'\x20000' : U'\0');
  }
};
extern const Big5Index big5_index;

// The meaning of the bytes 0x80 to 0xFF; 0xFFFD where the encoding has no character.
struct SingleByteIndex {
  std::string_view charset;
  std::array<char16_t, 128> high;
};
// By the standard's name in lower case; null when it is not a single-byte encoding.
const SingleByteIndex* single_byte_index(std::string_view charset);

// "Index gb18030 ranges": for four bytes.
std::optional<char32_t> gb18030_range_code_point(std::uint32_t pointer);
std::uint32_t gb18030_range_pointer(char32_t code_point);

// U+FF61 to U+FF9F, half-width katakana, as the full-width characters that ISO-2022-JP uses for them.
char32_t full_width_katakana(char32_t half_width);

// "Index pointer": the first pointer of a code point. shift_jis omits NEC's duplicates of IBM's extensions. big5 omits
// Hong Kong's additions, and uses the last pointer of six characters.
enum class PointerIndex : std::uint8_t { jis0208, shift_jis, euc_kr, gb18030, big5 };
std::optional<std::uint32_t> pointer_of(PointerIndex index, char32_t code_point);

}  // namespace orbweaver::html
