#include "node/charset/text_encoders.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

#include "node/charset/encoding_index.h"

namespace orbweaver::html {
namespace {

void put(std::string& out, std::uint32_t byte) { out += static_cast<char>(byte); }

void put_pair(std::string& out, std::uint32_t lead, std::uint32_t trail) {
  put(out, lead);
  put(out, trail);
}

// An encoder's answer for one code point: it was written, or the encoding lacks it.
using Encode = bool (*)(char32_t, std::string&);

bool put_index(PointerIndex index, char32_t code_point, std::uint32_t lead_base, std::uint32_t trail_base,
               std::uint32_t row, std::string& out) {
  const auto pointer = pointer_of(index, code_point);
  if (pointer) put_pair(out, *pointer / row + lead_base, *pointer % row + trail_base);
  return pointer.has_value();
}

// For the yen sign and the overline, Shift_JIS and EUC-JP write the ASCII characters that these replace.
bool put_in_place_of_ascii(char32_t code_point, std::string& out) {
  if (code_point != 0xA5 && code_point != 0x203E) return false;
  put(out, code_point == 0xA5 ? 0x5C : 0x7E);
  return true;
}

constexpr bool is_half_width_katakana(char32_t c) { return c >= 0xFF61 && c <= 0xFF9F; }
constexpr char32_t with_full_width_minus(char32_t c) { return c == 0x2212 ? 0xFF0D : c; }

// 10.2.2. GB 18030-2022 assigned characters to former private ones; these keep their old bytes.
bool put_gb18030_private(char32_t code_point, std::string& out) {
  if (code_point >= 0xE78D && code_point <= 0xE796) {
    const std::uint32_t at = code_point - 0xE78D;
    put_pair(out, 0xA6, at < 7 ? 0xD9 + at : at == 9 ? 0xF3 : 0xEC + at - 7);
    return true;
  }
  constexpr std::u32string_view private_points = U"\uE81E\uE826\uE82B\uE82C\uE832\uE843\uE854\uE864";
  constexpr std::array<std::uint32_t, 8> trails = {0x59, 0x61, 0x66, 0x67, 0x6D, 0x7E, 0x90, 0xA0};
  const std::size_t at = private_points.find(code_point);
  if (at == std::u32string_view::npos) return false;
  put_pair(out, 0xFE, trails[at]);
  return true;
}

bool put_gb18030_pair(char32_t code_point, std::string& out) {
  if (put_gb18030_private(code_point, out)) return true;
  const auto pointer = pointer_of(PointerIndex::gb18030, code_point);
  if (!pointer) return false;
  const std::uint32_t trail = *pointer % 190;
  put_pair(out, *pointer / 190 + 0x81, trail + (trail < 0x3F ? 0x40 : 0x41));
  return true;
}

bool put_gbk(char32_t code_point, std::string& out) {
  if (code_point == 0xE5E5) return false;
  if (code_point != 0x20AC) return put_gb18030_pair(code_point, out);
  put(out, 0x80);
  return true;
}

bool put_gb18030(char32_t code_point, std::string& out) {
  if (code_point == 0xE5E5) return false;
  if (put_gb18030_pair(code_point, out)) return true;
  const std::uint32_t pointer = gb18030_range_pointer(code_point);
  put_pair(out, pointer / 12'600 + 0x81, pointer % 12'600 / 1260 + 0x30);
  put_pair(out, pointer % 1260 / 10 + 0x81, pointer % 10 + 0x30);
  return true;
}

// 11.1.2
bool put_big5(char32_t code_point, std::string& out) {
  const auto pointer = pointer_of(PointerIndex::big5, code_point);
  if (!pointer) return false;
  const std::uint32_t trail = *pointer % 157;
  put_pair(out, *pointer / 157 + 0x81, trail + (trail < 0x3F ? 0x40 : 0x62));
  return true;
}

// 12.1.2
bool put_euc_jp(char32_t code_point, std::string& out) {
  if (put_in_place_of_ascii(code_point, out)) return true;
  if (is_half_width_katakana(code_point)) {
    put_pair(out, 0x8E, code_point - 0xFF61 + 0xA1);
    return true;
  }
  return put_index(PointerIndex::jis0208, with_full_width_minus(code_point), 0xA1, 0xA1, 94, out);
}

// 12.3.2
bool put_shift_jis(char32_t code_point, std::string& out) {
  if (put_in_place_of_ascii(code_point, out)) return true;
  if (code_point == 0x80 || is_half_width_katakana(code_point)) {
    put(out, code_point == 0x80 ? 0x80 : code_point - 0xFF61 + 0xA1);
    return true;
  }
  const auto pointer = pointer_of(PointerIndex::shift_jis, with_full_width_minus(code_point));
  if (!pointer) return false;
  const std::uint32_t lead = *pointer / 188;
  const std::uint32_t trail = *pointer % 188;
  put_pair(out, lead + (lead < 0x1F ? 0x81 : 0xC1), trail + (trail < 0x3F ? 0x40 : 0x41));
  return true;
}

// 13.1.2
bool put_euc_kr(char32_t code_point, std::string& out) {
  return put_index(PointerIndex::euc_kr, code_point, 0x81, 0x41, 190, out);
}

// 14.5.2
bool put_user_defined(char32_t code_point, std::string& out) {
  if (code_point < 0xF780 || code_point > 0xF7FF) return false;
  put(out, code_point - 0xF780 + 0x80);
  return true;
}

struct MultiByte {
  std::string_view charset;
  Encode encode;
};
constexpr MultiByte multi_byte_encoders[] = {{"gbk", put_gbk},
                                             {"gb18030", put_gb18030},
                                             {"big5", put_big5},
                                             {"euc-jp", put_euc_jp},
                                             {"shift_jis", put_shift_jis},
                                             {"euc-kr", put_euc_kr},
                                             {"x-user-defined", put_user_defined}};

Encode multi_byte_encoder(std::string_view charset) {
  for (const MultiByte& row : multi_byte_encoders)
    if (row.charset == charset) return row.encode;
  return nullptr;
}

void put_missing(char32_t code_point, std::string& out) {
  out += "%26%23" + std::to_string(static_cast<std::uint32_t>(code_point)) + "%3B";
}

// 12.2.2. An encoder with a state; characters that it lacks do not change the state.
class Iso2022JpEncoder {
 public:
  explicit Iso2022JpEncoder(std::string& out) : out_(out) {}

  void write(char32_t c) {
    if (c < 0x80) return write_ascii(c);
    if (c == 0xA5 || c == 0x203E) {
      enter(Set::roman);
      return put(out_, c == 0xA5 ? 0x5C : 0x7E);
    }
    c = with_full_width_minus(c);
    const char32_t known = is_half_width_katakana(c) ? full_width_katakana(c) : c;
    if (const auto pointer = pointer_of(PointerIndex::jis0208, known)) {
      enter(Set::jis0208);
      return put_pair(out_, *pointer / 94 + 0x21, *pointer % 94 + 0x21);
    }
    if (set_ == Set::jis0208) enter(Set::ascii);
    put_missing(known, out_);
  }
  void finish() { enter(Set::ascii); }

 private:
  enum class Set { ascii, roman, jis0208 };

  void write_ascii(char32_t c) {
    if (set_ != Set::ascii && (set_ == Set::jis0208 || c == 0x5C || c == 0x7E)) enter(Set::ascii);
    if (c == 0x0E || c == 0x0F || c == 0x1B) return put_missing(0xFFFD, out_);  // they would change a reader's state
    put(out_, c);
  }
  void enter(Set set) {
    if (set_ == set) return;
    out_ += set == Set::ascii ? "\x1B(B" : set == Set::roman ? "\x1B(J" : "\x1B$B";
    set_ = set;
  }

  std::string& out_;
  Set set_ = Set::ascii;
};

// The code point that begins at `at`, which moves past it; U+FFFD for each byte that begins none.
char32_t next_code_point(std::string_view utf8, std::size_t& at) {
  const auto byte = [&](std::size_t i) { return i < utf8.size() ? static_cast<unsigned char>(utf8[i]) : 0U; };
  const std::uint32_t lead = byte(at++);
  if (lead < 0x80) return lead;
  const std::size_t more = lead >= 0xF0 && lead <= 0xF4 ? 3 : lead >= 0xE0 ? 2 : lead >= 0xC2 ? 1 : 0;
  if (more == 0 || lead > 0xF4) return 0xFFFD;
  char32_t c = lead & (0x3FU >> more);
  for (std::size_t i = 0; i < more; ++i) {
    if ((byte(at + i) & 0xC0) != 0x80) return 0xFFFD;
    c = c << 6 | (byte(at + i) & 0x3F);
  }
  constexpr std::array<char32_t, 4> least = {0, 0x80, 0x800, 0x10000};
  if (c < least[more] || c > 0x10FFFF || (c >= 0xD800 && c <= 0xDFFF)) return 0xFFFD;
  at += more;
  return c;
}

bool is_iso_2022_jp(std::string_view charset) { return charset == "iso-2022-jp"; }

}  // namespace

bool is_written_as_utf8(std::string_view charset) {
  return single_byte_index(charset) == nullptr && multi_byte_encoder(charset) == nullptr && !is_iso_2022_jp(charset);
}

std::string encode_from_utf8(std::string_view charset, std::string_view utf8) {
  std::string out;
  out.reserve(utf8.size());
  if (is_iso_2022_jp(charset)) {
    Iso2022JpEncoder encoder(out);
    for (std::size_t at = 0; at < utf8.size();) encoder.write(next_code_point(utf8, at));
    encoder.finish();
    return out;
  }
  const SingleByteIndex* const single = single_byte_index(charset);
  const Encode encode = multi_byte_encoder(charset);
  for (std::size_t at = 0; at < utf8.size();) {
    const char32_t c = next_code_point(utf8, at);
    bool written = c < 0x80;
    if (written) {
      put(out, c);
    } else if (single != nullptr) {
      const auto found = c == 0xFFFD ? single->high.end() : std::find(single->high.begin(), single->high.end(), c);
      written = found != single->high.end();
      if (written) put(out, static_cast<std::uint32_t>(found - single->high.begin()) + 0x80);
    } else {
      written = encode(c, out);
    }
    if (!written) put_missing(c, out);
  }
  return out;
}

}  // namespace orbweaver::html
