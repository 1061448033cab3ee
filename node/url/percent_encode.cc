#include "node/url/percent_encode.h"

namespace orbweaver::url_text {

namespace {

struct Utf8Step {
  std::size_t bytes;  // consumed, at least 1
  bool valid;
};

// One character, or one maximal ill-formed subpart, at the start of `text` (Unicode, table 3-7; Encoding
// standard, 8.1.1).
Utf8Step utf8_step(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return {1, true};
  if (lead < 0xc2 || lead > 0xf4) return {1, false};
  const std::size_t length = lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  unsigned char lower = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
  unsigned char upper = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
  for (std::size_t i = 1; i < length; ++i) {
    if (i == text.size() || byte(i) < lower || byte(i) > upper) return {i, false};
    lower = 0x80;
    upper = 0xbf;
  }
  return {length, true};
}

}  // namespace

void append_escape(std::string& out, unsigned char byte) {
  static constexpr char digits[] = "0123456789ABCDEF";
  const char escape[] = {'%', digits[byte >> 4], digits[byte & 15]};
  out.append(escape, sizeof escape);
}

void append_percent_encoded(std::string& out, std::string_view bytes, CharClass set) {
  std::size_t run = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (!is(bytes[i], set)) continue;
    out.append(bytes, run, i - run);
    append_escape(out, static_cast<unsigned char>(bytes[i]));
    run = i + 1;
  }
  out.append(bytes, run);
}

std::string percent_decode(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (is_escape(text, i)) {
      out.push_back(static_cast<char>(hex_value(text[i + 1]) << 4 | hex_value(text[i + 2])));
      i += 2;
    } else {
      out.push_back(text[i]);
    }
  }
  return out;
}

std::optional<std::size_t> first_invalid_utf8(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const Utf8Step step = utf8_step(text.substr(i));
    if (!step.valid) return i;
    i += step.bytes;
  }
  return std::nullopt;
}

std::string replace_invalid_utf8(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size();) {
    const Utf8Step step = utf8_step(text.substr(i));
    out.append(step.valid ? text.substr(i, step.bytes) : std::string_view("\xef\xbf\xbd"));
    i += step.bytes;
  }
  return out;
}

}  // namespace orbweaver::url_text
