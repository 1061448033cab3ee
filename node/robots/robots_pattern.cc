#include "node/robots/robots_pattern.h"

#include <algorithm>
#include <cstring>

namespace orbweaver::robots {
namespace {

constexpr char hex_digits[] = "0123456789ABCDEF";

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// The byte that the escape at `at` encodes, or -1 when there is no escape.
int escape_at(std::string_view text, std::size_t at) {
  if (text[at] != '%' || at + 2 >= text.size()) return -1;
  const int high = hex_value(text[at + 1]);
  const int low = hex_value(text[at + 2]);
  return high < 0 || low < 0 ? -1 : high * 16 + low;
}

bool alphanumeric(int c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'); }

// RFC 3986, 2.3.
bool unreserved(int c) { return alphanumeric(c) || c == '-' || c == '.' || c == '_' || c == '~'; }

// ASCII that a URI may not contain unescaped (RFC 3986, appendix A): both sides are compared with it escaped.
bool illegal_ascii(unsigned char c) {
  return c <= 0x20 || c == 0x7F || c == '"' || c == '<' || c == '>' || c == '\\' || c == '^' || c == '`' || c == '{' ||
         c == '|' || c == '}';
}

void append_escaped(std::string& out, unsigned char c) {
  out += '%';
  out += hex_digits[c >> 4];
  out += hex_digits[c & 15];
}

enum class Special { escape, keep };  // how '*' and '$' are treated

std::string normalise(std::string_view text, bool decode_unreserved, bool escape_high, Special special) {
  std::string out;
  out.reserve(text.size() + 8);
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    const int escaped = escape_at(text, i);
    if (escaped >= 0) {
      if (decode_unreserved && unreserved(escaped)) {
        out += static_cast<char>(escaped);
      } else {
        append_escaped(out, static_cast<unsigned char>(escaped));
      }
      i += 2;
    } else if (c >= 0x80) {
      if (escape_high) {
        append_escaped(out, c);
      } else {
        out += static_cast<char>(c);
      }
    } else if (c == '*' || c == '$') {
      const bool last = i + 1 == text.size();
      if (special == Special::keep && (c == '*' || last)) {
        out += static_cast<char>(c);
      } else {
        append_escaped(out, c);
      }
    } else if (illegal_ascii(c)) {
      append_escaped(out, c);
    } else {
      out += static_cast<char>(c);
    }
  }
  return out;
}

}  // namespace

bool stands_as_written(char c) {
  const auto octet = static_cast<unsigned char>(c);
  return octet < 0x80 && c != '%' && c != '*' && c != '$' && !illegal_ascii(octet);
}

PathForms::PathForms(std::string_view path_and_query)
    : decoded(path_and_query), ascii(path_and_query), literal(path_and_query) {
  if (std::all_of(path_and_query.begin(), path_and_query.end(), stands_as_written)) return;
  decoded = made_[0] = normalise(path_and_query, true, true, Special::escape);
  ascii = made_[1] = normalise(path_and_query, true, false, Special::escape);
  literal = made_[2] = normalise(path_and_query, false, false, Special::escape);
}

std::string normalise_pattern(std::string_view value, bool decode_unreserved) {
  return normalise(value, decode_unreserved, true, Special::keep);
}

bool escapes_alphanumeric(std::string_view value) {
  for (std::size_t i = value.find('%'); i != std::string_view::npos; i = value.find('%', i + 1)) {
    if (alphanumeric(escape_at(value, i))) return true;
  }
  return false;
}

std::size_t pattern_octets(std::string_view value) {
  std::size_t octets = value.size();
  for (const char c : value) octets += static_cast<unsigned char>(c) >= 0x80 ? 2 : 0;
  return octets;
}

bool matches(std::string_view pattern, std::string_view text) {
  const bool anchored = !pattern.empty() && pattern.back() == '$';
  if (anchored) pattern.remove_suffix(1);
  std::size_t star = pattern.find('*');
  const std::string_view head = pattern.substr(0, star);
  if (!text.starts_with(head)) return false;
  if (star == std::string_view::npos) return !anchored || text.size() == head.size();
  text.remove_prefix(head.size());
  for (;;) {
    pattern.remove_prefix(star + 1);
    star = pattern.find('*');
    const std::string_view part = pattern.substr(0, star);
    if (star == std::string_view::npos && anchored) return text.ends_with(part);
    if (!part.empty()) {
      // memmem, not find(): linear, however often the part almost matches.
      const void* found = text.empty() ? nullptr : ::memmem(text.data(), text.size(), part.data(), part.size());
      if (found == nullptr) return false;
      text.remove_prefix(static_cast<std::size_t>(static_cast<const char*>(found) - text.data()) + part.size());
    }
    if (star == std::string_view::npos) return true;
  }
}

}  // namespace orbweaver::robots
