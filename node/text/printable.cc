#include "node/text/printable.h"

#include <array>

namespace orbweaver {
namespace {

// Length of the well-formed UTF-8 sequence at the front (Unicode
// 15, table 3-7), 0 when there is none; `out` gets its code point.
std::size_t utf8_length(std::string_view text, std::uint32_t& out) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint32_t>(static_cast<unsigned char>(text[i])); };
  const std::uint32_t lead = byte(0);
  if (lead < 0x80) {
    out = lead;
    return 1;
  }
  const std::size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc2 ? 2 : 0;
  if (length == 0 || lead > 0xf4 || text.size() < length) return 0;
  out = lead & (0x7fU >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
    out = (out << 6) | (byte(i) & 0x3f);
  }
  constexpr std::array<std::uint32_t, 5> least{0, 0, 0x80, 0x800, 0x10000};  // below: an overlong form
  if (out < least[length] || out > 0x10ffff || (out >= 0xd800 && out <= 0xdfff)) return 0;
  return length;
}

// Characters that could break the line or deceive a reader at a terminal: controls, line and paragraph separators, and
// the marks that change the direction of writing (Unicode TR 36).
bool unprintable(std::uint32_t point) {
  return point < 0x20 || (point >= 0x7f && point < 0xa0) || (point >= 0x2028 && point <= 0x202e) ||
         (point >= 0x2066 && point <= 0x2069) || point == 0x200e || point == 0x200f || point == 0x061c ||
         point == 0xfeff;
}

void escape_byte(std::string& out, char c) {
  switch (c) {
    case '\n':
      out += "\\n";
      return;
    case '\r':
      out += "\\r";
      return;
    case '\t':
      out += "\\t";
      return;
    default:
      break;
  }
  constexpr std::string_view hex = "0123456789abcdef";
  const auto byte = static_cast<unsigned char>(c);
  out += "\\x";
  out += hex[byte >> 4];
  out += hex[byte & 15];
}

}  // namespace

bool append_printable(std::string& out, std::string_view text, Escape escape) {
  bool escaped = false;
  for (std::size_t at = 0; at < text.size();) {
    std::uint32_t point = 0;
    const std::size_t length = utf8_length(text.substr(at), point);
    const bool kept_break = escape == Escape::none && (text[at] == '\n' || text[at] == '\t');
    if (length == 0 || (unprintable(point) && !kept_break)) {
      const std::size_t count = length == 0 ? 1 : length;
      for (std::size_t i = 0; i < count; ++i) escape_byte(out, text[at + i]);
      at += count;
      escaped = true;
    } else {
      if (escape == Escape::quotes && (text[at] == '"' || text[at] == '\\')) {
        out += '\\';
        escaped = true;
      }
      out += text.substr(at, length);
      at += length;
    }
  }
  return escaped;
}

std::string printable(std::string_view text) {
  std::string out;
  append_printable(out, text, Escape::breaks);
  return out;
}

std::string printable_json(std::string_view json) {
  constexpr std::string_view hex = "0123456789abcdef";
  std::string out;
  out.reserve(json.size());
  for (std::size_t at = 0; at < json.size();) {
    std::uint32_t point = 0;
    const std::size_t length = utf8_length(json.substr(at), point);
    const bool structure = json[at] == '\n' || json[at] == '\t' || json[at] == '\r';  // already escaped within strings
    if (length == 0) point = 0xfffd;
    if (!structure && (length == 0 || unprintable(point))) {
      out += "\\u";
      for (int shift = 12; shift >= 0; shift -= 4) out += hex[(point >> static_cast<unsigned>(shift)) & 15U];
    } else {
      out += json.substr(at, length);
    }
    at += length == 0 ? 1 : length;
  }
  return out;
}

}  // namespace orbweaver
