// Percent-encoding by the URL standard's percent-encode sets, and the check of UTF-8 before it.
// Thread rule: free functions. Cost: linear; runs that need no encoding are copied whole.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace orbweaver::url_text {

// One bit for each percent-encode set (URL standard, 1.3), and for the byte classes that the parser needs.
enum CharClass : std::uint16_t {
  c0_control_set = 1 << 0,
  fragment_set = 1 << 1,
  query_set = 1 << 2,
  special_query_set = 1 << 3,
  path_set = 1 << 4,
  userinfo_set = 1 << 5,
  forbidden_host = 1 << 6,    // forbidden host code point
  forbidden_domain = 1 << 7,  // forbidden domain code point
  unreserved = 1 << 8,        // RFC 3986, 2.3
  hex_digit = 1 << 9,
  scheme_char = 1 << 10,  // ASCII alphanumeric, '+', '-', '.'
  path_end = 1 << 11,     // '?', '#'
  slash = 1 << 12,        // '/'
  backslash = 1 << 13,    // '\\', a slash too in special URLs
};

namespace detail {
constexpr bool in(unsigned c, std::string_view set) {
  return set.find(static_cast<char>(c)) != std::string_view::npos && c < 0x80;
}

constexpr std::uint16_t classes_of(unsigned c) {
  const bool digit = c >= '0' && c <= '9';
  const bool alpha = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  const bool c0 = c <= 0x1f || c > 0x7e;
  const bool query = c0 || in(c, " \"#<>");
  const bool path = query || in(c, "?^`{}");
  const bool host = c == 0 || in(c, "\t\n\r #/:<>?@[\\]^|");
  unsigned bits = 0;
  if (c0) bits |= c0_control_set;
  if (c0 || in(c, " \"<>`")) bits |= fragment_set;
  if (query) bits |= query_set;
  if (query || c == '\'') bits |= special_query_set;
  if (path) bits |= path_set;
  if (path || in(c, "/:;=@[\\]|")) bits |= userinfo_set;
  if (host) bits |= forbidden_host;
  if (host || c <= 0x1f || c == '%' || c == 0x7f) bits |= forbidden_domain;
  if (digit || alpha || in(c, "-._~")) bits |= unreserved;
  if (digit || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F')) bits |= hex_digit;
  if (digit || alpha || in(c, "+-.")) bits |= scheme_char;
  if (in(c, "?#")) bits |= path_end;
  if (c == '/') bits |= slash;
  if (c == '\\') bits |= backslash;
  return static_cast<std::uint16_t>(bits);
}

constexpr std::array<std::uint16_t, 256> make_char_classes() {
  std::array<std::uint16_t, 256> table{};
  for (unsigned c = 0; c < 256; ++c) table[c] = classes_of(c);
  return table;
}

inline constexpr std::array<std::uint16_t, 256> char_classes = make_char_classes();
}  // namespace detail

// Is this byte in one of the classes? Bytes of 0x80 and above are in every percent-encode set.
inline bool is(char c, unsigned classes) {
  return (detail::char_classes[static_cast<unsigned char>(c)] & classes) != 0;
}
// The position of the first byte of these classes, or the text's size. (std's find_first_of is several times slower.)
inline std::size_t find_class(std::string_view text, unsigned classes) {
  std::size_t i = 0;
  while (i < text.size() && !is(text[i], classes)) ++i;
  return i;
}
inline bool is_ascii_digit(char c) { return c >= '0' && c <= '9'; }
inline bool is_ascii_alpha(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
inline char ascii_lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c; }
// The value of a hex digit; the caller has checked that it is one.
inline unsigned hex_value(char c) {
  return is_ascii_digit(c) ? static_cast<unsigned>(c - '0') : static_cast<unsigned>(ascii_lower(c) - 'a') + 10;
}

// Is text[at] a '%' followed by two hex digits?
inline bool is_escape(std::string_view text, std::size_t at) {
  return text[at] == '%' && at + 2 < text.size() && is(text[at + 1], hex_digit) && is(text[at + 2], hex_digit);
}

// Appends "%XX", upper-case digits.
void append_escape(std::string& out, unsigned char byte);

// Appends `bytes`, with those of the set as "%XX". '%' is in no set, so existing escapes stay unchanged.
void append_percent_encoded(std::string& out, std::string_view bytes, CharClass set);

// "%41" to "A"; a '%' that starts no escape stays.
std::string percent_decode(std::string_view text);

// The position of the first byte that is not part of well-formed UTF-8; nothing when all is well formed.
std::optional<std::size_t> first_invalid_utf8(std::string_view text);

// A scalar value string: every ill-formed part becomes U+FFFD (Encoding standard, UTF-8 decode: one for each maximal
// subpart).
std::string replace_invalid_utf8(std::string_view text);

}  // namespace orbweaver::url_text
