#include "node/run/log_line.h"

#include <array>
#include <cstdint>
#include <cstdio>

namespace orbweaver {
namespace {

// Length of the well-formed UTF-8 sequence at the front (Unicode 15, table 3-7), 0 when there is none; its code point
// in `out`.
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

// Characters that could break the line or fool who reads it in a terminal: controls, line and paragraph separators, and
// the marks that change the direction of writing (Unicode TR 36).
bool unprintable(std::uint32_t point) {
  return point < 0x20 || (point >= 0x7f && point < 0xa0) || (point >= 0x2028 && point <= 0x202e) ||
         (point >= 0x2066 && point <= 0x2069) || point == 0x200e || point == 0x200f || point == 0xfeff;
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

// Appends `text` with everything unprintable escaped; true when something was.
bool append_printable(std::string& out, std::string_view text) {
  bool escaped = false;
  for (std::size_t at = 0; at < text.size();) {
    std::uint32_t point = 0;
    const std::size_t length = utf8_length(text.substr(at), point);
    if (length == 0 || unprintable(point)) {
      const std::size_t count = length == 0 ? 1 : length;
      for (std::size_t i = 0; i < count; ++i) escape_byte(out, text[at + i]);
      at += count;
      escaped = true;
    } else {
      if (text[at] == '"' || text[at] == '\\') {
        out += '\\';
        escaped = true;
      }
      out += text.substr(at, length);
      at += length;
    }
  }
  return escaped;
}

// At most log_value_bytes_max, not in the middle of a character.
std::string_view cut(std::string_view value) {
  if (value.size() <= log_value_bytes_max) return value;
  std::size_t end = log_value_bytes_max;
  for (int back = 0; back < 3 && (static_cast<unsigned char>(value[end]) & 0xc0) == 0x80; ++back) --end;
  return value.substr(0, end);
}

}  // namespace

std::string_view level_name(LogLevel level) {
  switch (level) {
    case LogLevel::debug:
      return "debug";
    case LogLevel::info:
      return "info";
    case LogLevel::warning:
      return "warning";
    case LogLevel::error:
      return "error";
  }
  return "error";
}

std::string time_text(Time time) {
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date{day};
  const std::chrono::hh_mm_ss clock{time - day};
  std::array<char, 64> buffer{};
  const int length = std::snprintf(buffer.data(), buffer.size(), "%04d-%02u-%02uT%02d:%02d:%02d.%06lldZ",
                                   static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
                                   static_cast<unsigned>(date.day()), static_cast<int>(clock.hours().count()),
                                   static_cast<int>(clock.minutes().count()), static_cast<int>(clock.seconds().count()),
                                   static_cast<long long>(clock.subseconds().count()));
  return {buffer.data(), static_cast<std::size_t>(length)};
}

std::string value_text(std::string_view value) {
  const std::string_view kept = cut(value);
  std::string body;
  bool quoted = append_printable(body, kept);
  quoted = quoted || kept.empty() || kept.find_first_of(" =") != std::string_view::npos;
  if (kept.size() < value.size()) body += "...";
  return quoted ? "\"" + body + "\"" : body;
}

std::string log_line(Time now, LogLevel level, std::string_view channel, std::string_view event,
                     std::span<const LogField> fields) {
  std::string line = time_text(now);
  line += ' ';
  line += level_name(level);
  line += ' ';
  append_printable(line, cut(channel));
  line += ' ';
  append_printable(line, cut(event));
  for (const LogField& field : fields) {
    line += ' ';
    append_printable(line, cut(field.key));
    line += '=';
    line += value_text(field.value);
  }
  return line;
}

}  // namespace orbweaver
