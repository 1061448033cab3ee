#include "node/charset/text_decoders.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <iterator>

#include "node/charset/encoding_index.h"

namespace orbweaver::html {
namespace {

using Byte = unsigned char;
constexpr char32_t replacement = 0xFFFD;

constexpr bool between(Byte byte, Byte low, Byte high) { return byte >= low && byte <= high; }

// Writes into a string that is made long enough before.
class Writer {
 public:
  // One character is written as four bytes, of which fewer may count.
  Writer(std::string& out, std::size_t max_bytes) : out_(out) {
    out_.resize(max_bytes + 4);
    at_ = out_.data();
  }
  void finish() { out_.resize(static_cast<std::size_t>(at_ - out_.data())); }

  void put(char32_t c) {
    if (c < 0x80) {
      *at_++ = static_cast<char>(c);
    } else if (c < 0x800) {
      *at_++ = static_cast<char>(0xC0 | (c >> 6));
      continuation(c);
    } else if (c < 0x10000) {
      *at_++ = static_cast<char>(0xE0 | (c >> 12));
      continuation(c >> 6);
      continuation(c);
    } else {
      *at_++ = static_cast<char>(0xF0 | (c >> 18));
      continuation(c >> 12);
      continuation(c >> 6);
      continuation(c);
    }
  }
  // The UTF-8 of one character in the lower three bytes, first byte lowest; its length in the fourth.
  void put_packed(std::uint32_t packed) {
    const std::array<char, 4> bytes = {static_cast<char>(packed & 0xFF), static_cast<char>(packed >> 8 & 0xFF),
                                       static_cast<char>(packed >> 16 & 0xFF), 0};
    std::memcpy(at_, bytes.data(), 4);
    at_ += packed >> 24;
  }
  // Copies ASCII; returns the first other byte, or the end.
  const Byte* ascii(const Byte* from, const Byte* end) {
    std::uint64_t word = 0;
    while (end - from >= 8) {
      std::memcpy(&word, from, 8);
      if ((word & 0x8080808080808080) != 0) break;
      std::memcpy(at_, &word, 8);
      from += 8;
      at_ += 8;
    }
    while (from != end && *from < 0x80) *at_++ = static_cast<char>(*from++);
    return from;
  }

 private:
  void continuation(char32_t c) { *at_++ = static_cast<char>(0x80 | (c & 0x3F)); }

  std::string& out_;
  char* at_ = nullptr;
};

const Byte* begin_of(std::string_view bytes) { return reinterpret_cast<const Byte*>(bytes.data()); }

// For an encoding with ASCII: `step` reads a sequence that begins with a byte of 0x80 or more, and returns its length.
template <class Step>
void decode_with_ascii(std::string_view bytes, std::string& out, Step step) {
  const auto high = static_cast<std::size_t>(
      std::count_if(bytes.begin(), bytes.end(), [](char c) { return static_cast<Byte>(c) >= 0x80; }));
  Writer writer(out, bytes.size() + 2 * high);  // only sequences that begin with a high byte become longer
  const Byte* at = begin_of(bytes);
  const Byte* const end = at + bytes.size();
  while ((at = writer.ascii(at, end)) != end) at += step(at, static_cast<std::size_t>(end - at), writer);
  writer.finish();
}

// Writes the character of two bytes. If they have none, the second is read again when it is ASCII.
std::size_t put_pair(char32_t code_point, Byte trail, Writer& writer) {
  writer.put(code_point == 0 ? replacement : code_point);
  return code_point == 0 && trail < 0x80 ? 1 : 2;
}

// The entry of a table at a pointer that may be beyond its end.
template <std::size_t size>
char32_t at_or_none(const std::array<char16_t, size>& index, std::size_t pointer) {
  return pointer < size ? index[pointer] : char16_t{0};
}

std::size_t put_bad_byte(Writer& writer) {
  writer.put(replacement);
  return 1;
}

std::uint32_t packed_utf8(char16_t c) {
  if (c < 0x800) return 2U << 24 | (0x80U | (c & 0x3FU)) << 8 | 0xC0U | c >> 6U;
  return 3U << 24 | (0x80U | (c & 0x3FU)) << 16 | (0x80U | (c >> 6U & 0x3FU)) << 8 | 0xE0U | c >> 12U;
}

// 9.1
void decode_single_bytes(const std::array<char16_t, 128>& high, std::string_view bytes, std::string& out) {
  std::array<std::uint32_t, 128> packed{};
  std::transform(high.begin(), high.end(), packed.begin(), packed_utf8);
  decode_with_ascii(bytes, out, [&](const Byte* at, std::size_t left, Writer& writer) {
    std::size_t taken = 0;
    for (; taken < left && at[taken] >= 0x80; ++taken) writer.put_packed(packed[at[taken] - 0x80U]);
    return taken;
  });
}

// 10.2.1, for four bytes: returns how many of them were read.
std::size_t gb18030_four(const Byte* at, std::size_t left, Writer& writer) {
  if (left < 4 && (left < 3 || between(at[2], 0x81, 0xFE))) {  // the text ends within them
    writer.put(replacement);
    return left;
  }
  if (!between(at[2], 0x81, 0xFE) || !between(at[3], 0x30, 0x39)) return put_bad_byte(writer);
  const std::uint32_t pointer =
      (at[0] - 0x81U) * 12'600 + (at[1] - 0x30U) * 1260 + (at[2] - 0x81U) * 10 + at[3] - 0x30U;
  writer.put(gb18030_range_code_point(pointer).value_or(replacement));
  return 4;
}

std::size_t gb18030_step(const Byte* at, std::size_t left, Writer& writer) {
  const Byte lead = at[0];
  if (lead == 0x80) {
    writer.put(0x20AC);
    return 1;
  }
  if (lead == 0xFF || left < 2) return put_bad_byte(writer);
  const Byte trail = at[1];
  if (between(trail, 0x30, 0x39)) return gb18030_four(at, left, writer);
  char32_t code_point = 0;
  if (between(trail, 0x40, 0x7E) || between(trail, 0x80, 0xFE))
    code_point = gb18030_index[(lead - 0x81U) * 190 + trail - (trail < 0x7F ? 0x40U : 0x41U)];
  return put_pair(code_point, trail, writer);
}

// 11.1.1
std::size_t big5_step(const Byte* at, std::size_t left, Writer& writer) {
  if (!between(at[0], 0x81, 0xFE) || left < 2) return put_bad_byte(writer);
  const Byte trail = at[1];
  if (!between(trail, 0x40, 0x7E) && !between(trail, 0xA1, 0xFE)) return put_pair(0, trail, writer);
  const std::uint32_t pointer = (at[0] - 0x81U) * 157 + trail - (trail < 0x7F ? 0x40U : 0x62U);
  if (pointer == 1133 || pointer == 1135 || pointer == 1164 || pointer == 1166) {
    writer.put(pointer < 1150 ? 0xCA : 0xEA);
    writer.put(pointer == 1133 || pointer == 1164 ? 0x304 : 0x30C);
    return 2;
  }
  return put_pair(big5_index.at(pointer), trail, writer);
}

// 12.1.1
std::size_t euc_jp_step(const Byte* at, std::size_t left, Writer& writer) {
  const Byte lead = at[0];
  if ((lead != 0x8E && lead != 0x8F && !between(lead, 0xA1, 0xFE)) || left < 2) return put_bad_byte(writer);
  const Byte trail = at[1];
  if (lead == 0x8E && between(trail, 0xA1, 0xDF)) {
    writer.put(0xFF61U - 0xA1U + trail);
    return 2;
  }
  if (!between(trail, 0xA1, 0xFE)) return put_pair(0, trail, writer);
  if (lead != 0x8F)
    return put_pair(lead == 0x8E ? U'\0' : jis0208_index[(lead - 0xA1U) * 94 + trail - 0xA1U], trail, writer);
  if (left < 3) {
    writer.put(replacement);
    return 2;
  }
  const char32_t code_point =
      between(at[2], 0xA1, 0xFE) ? at_or_none(jis0212_index, (trail - 0xA1U) * 94 + at[2] - 0xA1U) : U'\0';
  return 1 + put_pair(code_point, at[2], writer);
}

// 12.3.1
std::size_t shift_jis_step(const Byte* at, std::size_t left, Writer& writer) {
  const Byte lead = at[0];
  if (lead == 0x80 || between(lead, 0xA1, 0xDF)) {
    writer.put(lead == 0x80 ? 0x80U : 0xFF61U - 0xA1U + lead);
    return 1;
  }
  if (lead == 0xA0 || lead > 0xFC || left < 2) return put_bad_byte(writer);
  const Byte trail = at[1];
  char32_t code_point = 0;
  if (between(trail, 0x40, 0x7E) || between(trail, 0x80, 0xFC)) {
    const std::uint32_t pointer = (lead - (lead < 0xA0 ? 0x81U : 0xC1U)) * 188 + trail - (trail < 0x7F ? 0x40U : 0x41U);
    code_point = pointer >= 8836 && pointer <= 10'715 ? 0xE000 - 8836 + pointer : at_or_none(jis0208_index, pointer);
  }
  return put_pair(code_point, trail, writer);
}

// 13.1.1
std::size_t euc_kr_step(const Byte* at, std::size_t left, Writer& writer) {
  if (!between(at[0], 0x81, 0xFE) || left < 2) return put_bad_byte(writer);
  const Byte trail = at[1];
  const std::uint32_t pointer = (at[0] - 0x81U) * 190 + trail - 0x41U;
  return put_pair(between(trail, 0x41, 0xFE) ? at_or_none(euc_kr_index, pointer) : U'\0', trail, writer);
}

// 12.2.1. An escape sequence selects the meaning of the bytes after it.
class Iso2022JpDecoder {
 public:
  Iso2022JpDecoder(std::string_view bytes, std::string& out)
      : at_(begin_of(bytes)), end_(at_ + bytes.size()), writer_(out, bytes.size() * 3) {}

  void run() {
    while (at_ != end_) {
      if (*at_ == 0x1B) {
        escape();
      } else {
        character(*at_++);
        wrote_ = true;
      }
    }
    writer_.finish();
  }

 private:
  enum class Set { ascii, roman, katakana, jis0208 };

  // Two escape sequences in a row are an error, because they may hide text; so is an invalid escape sequence.
  void escape() {
    ++at_;
    const std::string_view rest(reinterpret_cast<const char*>(at_),
                                std::min<std::size_t>(2, static_cast<std::size_t>(end_ - at_)));
    for (const auto& [text, set] : escapes) {
      if (rest != text) continue;
      at_ += 2;
      set_ = set;
      if (!wrote_) writer_.put(replacement);
      wrote_ = false;
      return;
    }
    writer_.put(replacement);
    wrote_ = true;
  }

  void character(Byte byte) {
    switch (set_) {
      case Set::ascii:
      case Set::roman:
        if (byte >= 0x80 || byte == 0x0E || byte == 0x0F) return writer_.put(replacement);
        if (set_ == Set::roman && byte == 0x5C) return writer_.put(0xA5);
        return writer_.put(set_ == Set::roman && byte == 0x7E ? 0x203EU : byte);
      case Set::katakana:
        return writer_.put(between(byte, 0x21, 0x5F) ? 0xFF61U - 0x21U + byte : replacement);
      case Set::jis0208:
        break;
    }
    if (!between(byte, 0x21, 0x7E) || at_ == end_ || *at_ == 0x1B) return writer_.put(replacement);
    const Byte trail = *at_++;
    const char32_t code_point =
        between(trail, 0x21, 0x7E) ? jis0208_index[(byte - 0x21U) * 94 + trail - 0x21U] : char16_t{0};
    writer_.put(code_point == 0 ? replacement : code_point);
  }

  struct Escape {
    std::string_view text;
    Set set;
  };
  static constexpr Escape escapes[] = {
      {"(B", Set::ascii}, {"(J", Set::roman}, {"(I", Set::katakana}, {"$@", Set::jis0208}, {"$B", Set::jis0208}};

  const Byte* at_;
  const Byte* end_;
  Writer writer_;
  Set set_ = Set::ascii;
  bool wrote_ = true;  // since the last escape sequence
};

// 14.2.1
void decode_utf16(std::string_view bytes, bool big_endian, std::string& out) {
  Writer writer(out, bytes.size() / 2 * 3 + 3);
  const Byte* const at = begin_of(bytes);
  const std::size_t units = bytes.size() / 2;
  const auto unit = [&](std::size_t i) {
    return static_cast<char32_t>(big_endian ? at[2 * i] << 8 | at[2 * i + 1] : at[2 * i + 1] << 8 | at[2 * i]);
  };
  for (std::size_t i = 0; i < units; ++i) {
    const char32_t c = unit(i);
    if (c < 0xD800 || c > 0xDFFF) {
      writer.put(c);
    } else if (c < 0xDC00 && i + 1 < units && unit(i + 1) >= 0xDC00 && unit(i + 1) <= 0xDFFF) {
      writer.put(0x10000 + ((c - 0xD800) << 10) + (unit(++i) - 0xDC00));
    } else {
      writer.put(replacement);
    }
  }
  if (bytes.size() % 2 != 0) writer.put(replacement);
  writer.finish();
}

}  // namespace

bool decode_to_utf8(std::string_view charset, std::string_view bytes, std::string& out) {
  out.clear();
  if (const SingleByteIndex* index = single_byte_index(charset)) {
    decode_single_bytes(index->high, bytes, out);
  } else if (charset == "gbk" || charset == "gb18030") {
    decode_with_ascii(bytes, out, gb18030_step);
  } else if (charset == "shift_jis") {
    decode_with_ascii(bytes, out, shift_jis_step);
  } else if (charset == "euc-jp") {
    decode_with_ascii(bytes, out, euc_jp_step);
  } else if (charset == "iso-2022-jp") {
    Iso2022JpDecoder(bytes, out).run();
  } else if (charset == "euc-kr") {
    decode_with_ascii(bytes, out, euc_kr_step);
  } else if (charset == "big5") {
    decode_with_ascii(bytes, out, big5_step);
  } else if (charset == "utf-16le" || charset == "utf-16be") {
    decode_utf16(bytes, charset == "utf-16be", out);
  } else if (charset == "x-user-defined") {
    std::array<char16_t, 128> high{};
    for (std::size_t i = 0; i < high.size(); ++i) high[i] = static_cast<char16_t>(0xF780 + i);
    decode_single_bytes(high, bytes, out);
  } else if (charset == "replacement") {
    if (!bytes.empty()) out = "\uFFFD";
  } else {
    return false;
  }
  return true;
}

}  // namespace orbweaver::html
