#include "node/robots/robots_encoding.h"

#include <cstdint>

namespace orbweaver::robots {
namespace {

void append_utf8(std::string& out, std::uint32_t point) {
  const auto add = [&out](std::uint32_t byte) { out += static_cast<char>(byte); };
  if (point < 0x80) return add(point);
  if (point < 0x800) {
    add(0xC0 | (point >> 6));
  } else if (point < 0x10000) {
    add(0xE0 | (point >> 12));
    add(0x80 | ((point >> 6) & 0x3F));
  } else {
    add(0xF0 | (point >> 18));
    add(0x80 | ((point >> 12) & 0x3F));
    add(0x80 | ((point >> 6) & 0x3F));
  }
  add(0x80 | (point & 0x3F));
}

bool high_surrogate(std::uint32_t unit) { return unit >= 0xD800 && unit < 0xDC00; }
bool low_surrogate(std::uint32_t unit) { return unit >= 0xDC00 && unit < 0xE000; }

std::string from_utf16(std::string_view bytes, bool big_endian) {
  const auto unit_at = [bytes, big_endian](std::size_t i) -> std::uint32_t {
    const auto first = static_cast<unsigned char>(bytes[i]);
    const auto second = static_cast<unsigned char>(bytes[i + 1]);
    return big_endian ? first * 256u + second : second * 256u + first;
  };
  std::string out;
  out.reserve(bytes.size() / 2);
  for (std::size_t i = 0; i + 1 < bytes.size(); i += 2) {
    const std::uint32_t unit = unit_at(i);
    if (high_surrogate(unit) && i + 3 < bytes.size() && low_surrogate(unit_at(i + 2))) {
      append_utf8(out, 0x10000 + ((unit - 0xD800) << 10) + (unit_at(i + 2) - 0xDC00));
      i += 2;
    } else {
      append_utf8(out, high_surrogate(unit) || low_surrogate(unit) ? 0xFFFD : unit);
    }
  }
  return out;
}

}  // namespace

std::string_view as_utf8(std::string_view body, std::string& scratch) {
  if (body.starts_with("\xFE\xFF") || body.starts_with("\xFF\xFE")) {
    scratch = from_utf16(body.substr(2), body.front() == '\xFE');
    return scratch;
  }
  constexpr std::string_view mark = "\xEF\xBB\xBF";
  std::size_t same = 0;  // a truncated mark is skipped too, as in Google's parser
  while (same < mark.size() && same < body.size() && body[same] == mark[same]) ++same;
  return body.substr(same);
}

}  // namespace orbweaver::robots
