#include "node/charset/encoding_index.h"

#include <algorithm>
#include <iterator>
#include <span>
#include <vector>

namespace orbweaver::html {
namespace {

// A part of an index, from its first pointer on; U+FFFD fills holes.
struct Segment {
  std::uint32_t first;
  std::u32string_view code_points;
};
struct Range {
  std::uint32_t pointer;
  char32_t code_point;
};

#include "node/charset/encoding_indexes.inc"

template <std::size_t size>
constexpr std::array<char16_t, size> expanded(std::span<const Segment> segments) {
  std::array<char16_t, size> out{};
  for (const Segment& segment : segments) {
    std::uint32_t pointer = segment.first;
    for (const char32_t code_point : segment.code_points) {
      if (code_point != 0xFFFD) out[pointer] = static_cast<char16_t>(code_point & 0xFFFF);
      ++pointer;
    }
  }
  return out;
}

constexpr Big5Index expanded_big5() {
  Big5Index out{.low = expanded<19'782>(big5_segments), .in_plane_2 = {}};
  for (const Segment& segment : big5_segments) {
    std::uint32_t pointer = segment.first;
    for (const char32_t code_point : segment.code_points) {
      if (code_point > 0xFFFF) out.in_plane_2[pointer / 8] |= static_cast<std::uint8_t>(1U << (pointer % 8));
      ++pointer;
    }
  }
  return out;
}

struct Row {
  char32_t code_point;
  std::uint32_t pointer;
  friend auto operator<=>(const Row&, const Row&) = default;
};

template <class CodePointAt>
std::vector<Row> sorted_rows(std::uint32_t size, CodePointAt at) {
  std::vector<Row> rows;
  rows.reserve(size);
  for (std::uint32_t pointer = 0; pointer < size; ++pointer)
    if (const char32_t code_point = at(pointer); code_point != 0) rows.push_back({code_point, pointer});
  std::sort(rows.begin(), rows.end());
  rows.shrink_to_fit();
  return rows;
}

constexpr std::uint32_t size_of(const auto& table) { return static_cast<std::uint32_t>(table.size()); }

// Each is made at its first use, and never changed.
const std::vector<Row>& rows_of(PointerIndex index) {
  switch (index) {
    case PointerIndex::jis0208: {
      static const std::vector<Row> rows =
          sorted_rows(size_of(jis0208_index), [](std::uint32_t p) -> char32_t { return jis0208_index[p]; });
      return rows;
    }
    case PointerIndex::shift_jis: {
      static const std::vector<Row> rows = sorted_rows(size_of(jis0208_index), [](std::uint32_t p) -> char32_t {
        return p >= 8272 && p <= 8835 ? char16_t{0} : jis0208_index[p];
      });
      return rows;
    }
    case PointerIndex::euc_kr: {
      static const std::vector<Row> rows =
          sorted_rows(size_of(euc_kr_index), [](std::uint32_t p) -> char32_t { return euc_kr_index[p]; });
      return rows;
    }
    case PointerIndex::gb18030: {
      static const std::vector<Row> rows =
          sorted_rows(size_of(gb18030_index), [](std::uint32_t p) -> char32_t { return gb18030_index[p]; });
      return rows;
    }
    case PointerIndex::big5:
      break;
  }
  static const std::vector<Row> rows = sorted_rows(
      size_of(big5_index.low), [](std::uint32_t p) { return p < (0xA1 - 0x81) * 157 ? U'\0' : big5_index.at(p); });
  return rows;
}

bool takes_last_pointer(char32_t code_point) {
  constexpr std::u32string_view last = U"\u2550\u255E\u2561\u256A\u5341\u5345";
  return last.find(code_point) != std::u32string_view::npos;
}

}  // namespace

constexpr std::array<char16_t, 11'104> jis0208_index = expanded<11'104>(jis0208_segments);
constexpr std::array<char16_t, 7'211> jis0212_index = expanded<7'211>(jis0212_segments);
constexpr std::array<char16_t, 23'750> euc_kr_index = expanded<23'750>(euc_kr_segments);
constexpr std::array<char16_t, 23'940> gb18030_index = expanded<23'940>(gb18030_segments);
constexpr Big5Index big5_index = expanded_big5();

const SingleByteIndex* single_byte_index(std::string_view charset) {
  if (charset == "iso-8859-8-i") charset = "iso-8859-8";  // in logical order, which does not matter here
  const auto* found = std::find_if(std::begin(single_byte_indexes), std::end(single_byte_indexes),
                                   [&](const SingleByteIndex& i) { return i.charset == charset; });
  return found == std::end(single_byte_indexes) ? nullptr : found;
}

std::optional<char32_t> gb18030_range_code_point(std::uint32_t pointer) {
  if ((pointer > 39'419 && pointer < 189'000) || pointer > 1'237'575) return std::nullopt;
  if (pointer == 7457) return 0xE7C7;
  const auto* after = std::upper_bound(std::begin(gb18030_range_rows), std::end(gb18030_range_rows), pointer,
                                       [](std::uint32_t p, const Range& range) { return p < range.pointer; });
  const Range& range = *std::prev(after);  // the first begins at 0
  return range.code_point + (pointer - range.pointer);
}

std::uint32_t gb18030_range_pointer(char32_t code_point) {
  if (code_point == 0xE7C7) return 7457;
  const auto* after = std::upper_bound(std::begin(gb18030_range_rows), std::end(gb18030_range_rows), code_point,
                                       [](char32_t c, const Range& range) { return c < range.code_point; });
  const Range& range = *std::prev(after);  // the first begins at U+0080, and ASCII is never looked up
  return range.pointer + (code_point - range.code_point);
}

char32_t full_width_katakana(char32_t half_width) { return katakana_points[half_width - 0xFF61]; }

std::optional<std::uint32_t> pointer_of(PointerIndex index, char32_t code_point) {
  const std::vector<Row>& rows = rows_of(index);
  const auto first = std::lower_bound(rows.begin(), rows.end(), Row{code_point, 0});
  if (first == rows.end() || first->code_point != code_point) return std::nullopt;
  if (index != PointerIndex::big5 || !takes_last_pointer(code_point)) return first->pointer;
  auto last = first;
  while (std::next(last) != rows.end() && std::next(last)->code_point == code_point) ++last;
  return last->pointer;
}

}  // namespace orbweaver::html
