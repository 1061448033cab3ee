// Legacy encodings by the Encoding Standard: the results of its indexes, decoders and encoders where a library's tables
// differ.
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "node/charset/encoding_index.h"
#include "node/charset/text_decoders.h"
#include "node/charset/text_encoders.h"

namespace orbweaver::html {
namespace {

using namespace std::literals;

std::string decoded(std::string_view charset, std::string_view bytes) {
  std::string out;
  EXPECT_TRUE(decode_to_utf8(charset, bytes, out)) << charset;
  return out;
}

TEST(TextDecoders, EncodingStandard10_2_1_Gb18030) {
  for (const std::string_view charset : {"gbk"sv, "gb18030"sv}) {
    EXPECT_EQ(decoded(charset, "a\x80z"), "a\u20ACz");
    EXPECT_EQ(decoded(charset, "\xA3\xA0"), "\u3000");
    EXPECT_EQ(decoded(charset, "\xA6\xD9\xA6\xF3"), "\uFE10\uFE19");
    EXPECT_EQ(decoded(charset, "\xFE\x59\xFE\xA0"), "\u9FB4\u9FBB");
    EXPECT_EQ(decoded(charset, "\x81\x30\x81\x30\x84\x31\xA5\x30\x90\x30\x81\x30"), "\u0080\uFFFD\U00010000");
    EXPECT_EQ(decoded(charset, "\x81\x35\xF4\x37"), "\uE7C7");
    // Bytes that do not continue a four-byte sequence are read again, except for the first byte.
    EXPECT_EQ(decoded(charset, "\x81\x30q"), "\uFFFD0q");
    EXPECT_EQ(decoded(charset, "\x81\x30\x81\x7F"), "\uFFFD0\uFFFD\x7F");
    EXPECT_EQ(decoded(charset, "\x81\x7Fq\x81\xFFq\xFFq"), "\uFFFD\x7Fq\uFFFDq\uFFFDq");
    for (const std::string_view cut : {"\x81"sv, "\x81\x30"sv, "\x81\x30\x81"sv})
      EXPECT_EQ(decoded(charset, cut), "\uFFFD") << cut;
  }
}

TEST(TextDecoders, EncodingStandard11_1_1_Big5) {
  EXPECT_EQ(decoded("big5", "\xA7\x41"), "\u4F60");
  EXPECT_EQ(decoded("big5", "\x88\x62\x88\x64\x88\xA3\x88\xA5"), "\u00CA\u0304\u00CA\u030C\u00EA\u0304\u00EA\u030C");
  EXPECT_EQ(decoded("big5", "\x87\x40\x87\x45"), "\u43F0\U00027267");
  EXPECT_EQ(decoded("big5", "\x81<\x81\x40>\x81\xFF"), "\uFFFD<\uFFFD@>\uFFFD");
  EXPECT_EQ(decoded("big5", "\x80\xFFz\xA7"), "\uFFFD\uFFFDz\uFFFD");
}

TEST(TextDecoders, EncodingStandard12_Japanese) {
  EXPECT_EQ(decoded("euc-jp", "\xC6\xFC\x8E\xB1\x8F\xB0\xA1"), "\u65E5\uFF71\u4E02");
  EXPECT_EQ(decoded("euc-jp", "\x80\x8D\x90\x9F\xA0z"), "\uFFFD\uFFFD\uFFFD\uFFFD\uFFFDz");
  EXPECT_EQ(decoded("euc-jp", "\x8F\xB0<\x8F<\xC6<\x8F\xFE\xFEz"), "\uFFFD<\uFFFD<\uFFFD<\uFFFDz");
  EXPECT_EQ(decoded("euc-jp", "\x8F\xB0"), "\uFFFD");
  EXPECT_EQ(decoded("shift_jis", "\x83\x65\x5C\xB1\x7F\x80\xF0\x40\xF9\xFC"), "\u30C6\\\uFF71\x7F\u0080\uE000\uE757");
  EXPECT_EQ(decoded("shift_jis", "\x81\"\xA0\xFD\xFC\xFCz"), "\uFFFD\"\uFFFD\uFFFD\uFFFDz");
  EXPECT_EQ(decoded("iso-2022-jp", "\x1B$BF|\x1B(J\\~\x1B(I1\x1B(B."), "\u65E5\u00A5\u203E\uFF71.");
  EXPECT_EQ(decoded("iso-2022-jp", "\x1B(B\x1B(B\x1B$z\x0E\x80"), "\uFFFD\uFFFD$z\uFFFD\uFFFD");
  EXPECT_EQ(decoded("iso-2022-jp", "\x1B$BF"), "\uFFFD");
}

TEST(TextDecoders, EncodingStandard13_1_1_EucKr) {
  EXPECT_EQ(decoded("euc-kr", "\xB0\xA1\x81\x41"), "\uAC00\uAC02");
  EXPECT_EQ(decoded("euc-kr", "\xC9\xA1\xFE\xFE\x81\x5Bq\x81<"), "\uFFFD\uFFFD\uFFFD[q\uFFFD<");
}

TEST(TextDecoders, EncodingStandard9_1_And14_5) {
  EXPECT_EQ(decoded("iso-8859-16", "\xA4\xFF"), "\u20AC\u00FF");
  EXPECT_EQ(decoded("windows-1253", "\xAAx"), "\uFFFDx");
  EXPECT_EQ(decoded("koi8-u", "\xAE\xBE"), "\u045E\u040E");
  EXPECT_EQ(decoded("x-user-defined", "a\x80\xFF"), "a\uF780\uF7FF");
  EXPECT_EQ(decoded("utf-16be", "\xD8\x3D\xDE\0\xDE\0\0x\x01"sv), "\U0001F600\uFFFDx\uFFFD");
}

TEST(TextDecoders, UnknownNamesAndUtf8HaveNone) {
  std::string out = "before";
  EXPECT_FALSE(decode_to_utf8("utf-8", "x", out));
  EXPECT_FALSE(decode_to_utf8("no-such", "x", out));
  EXPECT_EQ(out, "");
}

// Each byte and each pair of bytes, alone and before ASCII: never more than three bytes for one; ASCII is kept.
TEST(TextDecoders, EveryPairOfBytesStaysWithinItsBound) {
  for (const std::string_view charset : {"gb18030"sv, "big5"sv, "euc-jp"sv, "iso-2022-jp"sv, "shift_jis"sv, "euc-kr"sv,
                                         "utf-16le"sv, "windows-1252"sv, "x-user-defined"sv}) {
    for (int lead = 0; lead < 256; ++lead) {
      for (int trail = 0; trail < 256; ++trail) {
        const std::string pair = {static_cast<char>(lead), static_cast<char>(trail)};
        for (const std::string& bytes : {pair, "\x8F" + pair, pair + pair, pair + "<a>"}) {
          const std::string out = decoded(charset, bytes);
          ASSERT_LE(out.size(), bytes.size() * 3) << charset;
          ASSERT_FALSE(out.empty() && lead != 0x1B) << charset;
        }
      }
    }
  }
}

TEST(TextEncoders, EncodingStandard10_Chinese) {
  EXPECT_EQ(encode_from_utf8("gbk", "\u20AC\u01F9\uFE10\uE78D\uE796\uE81E\uE864"),
            "\x80\xA8\xBF\xA6\xD9\xA6\xD9\xA6\xF3\xFE\x59\xFE\xA0");
  EXPECT_EQ(encode_from_utf8("gb18030", "\u20AC\u0080\uE7C7\U0001F600"),
            "\xA2\xE3\x81\x30\x81\x30\x81\x35\xF4\x37\x94\x39\xFC\x36");
  EXPECT_EQ(encode_from_utf8("gbk", "\u0080\uE5E5"), "%26%23128%3B%26%2358853%3B");
  EXPECT_EQ(encode_from_utf8("big5", "\u2460\u4F60\u5341\u2550"), "\xC6\xA1\xA7\x41\xA4\x51\xF9\xF9");
  EXPECT_EQ(encode_from_utf8("big5", "\u43F0"), "%26%2317392%3B");  // only the Hong Kong part has it
}

TEST(TextEncoders, EncodingStandard12And13) {
  EXPECT_EQ(encode_from_utf8("euc-jp", "\u65E5\uFF71\u00A5\u2212"), "\xC6\xFC\x8E\xB1\\\xA1\xDD");
  EXPECT_EQ(encode_from_utf8("euc-jp", "\u4E02"), "%26%2319970%3B");  // JIS X 0212 is only read
  EXPECT_EQ(encode_from_utf8("shift_jis", "\u65E5\uFF71\u0080\u203E"), "\x93\xFA\xB1\x80~");
  EXPECT_EQ(encode_from_utf8("shift_jis", "\uE000\u2252"), "%26%2357344%3B\x81\xE0");
  EXPECT_EQ(encode_from_utf8("euc-kr", "\uAC02\uE000"), "\x81\x41%26%2357344%3B");
  EXPECT_EQ(encode_from_utf8("iso-2022-jp", "a\u65E5\uFF71\u00A5\x1B"), "a\x1B$BF|%\"\x1B(J\\%26%2365533%3B\x1B(B");
  EXPECT_EQ(encode_from_utf8("iso-2022-jp", "\u4E28"), "\x1B$By-\x1B(B");  // from NEC's row, not from IBM's
}

TEST(TextEncoders, EncodingStandard9_And14_5) {
  EXPECT_EQ(encode_from_utf8("iso-8859-16", "\u20AC\u00A4"), "\xA4%26%23164%3B");
  EXPECT_EQ(encode_from_utf8("x-user-defined", "\uF7E9\u00E9"), "\xE9%26%23233%3B");
  EXPECT_EQ(encode_from_utf8("koi8-u", "\u040E\u045E\u2564"), "\xBE\xAE%26%239572%3B");
  EXPECT_EQ(encode_from_utf8("windows-1253", "\u00AA"), "%26%23170%3B");
  EXPECT_EQ(encode_from_utf8("windows-1252", "\xFF\xC3"), "%26%2365533%3B%26%2365533%3B");
}

TEST(TextEncoders, EncodingStandard4_3_OutputEncodings) {
  for (const std::string_view utf8 : {"utf-8"sv, "utf-16be"sv, "utf-16le"sv, "replacement"sv, "no-such"sv})
    EXPECT_TRUE(is_written_as_utf8(utf8)) << utf8;
  for (const std::string_view legacy :
       {"iso-8859-16"sv, "x-user-defined"sv, "iso-2022-jp"sv, "gbk"sv, "iso-8859-8-i"sv})
    EXPECT_FALSE(is_written_as_utf8(legacy)) << legacy;
}

// The two directions agree: the index has, at the pointer that it gives for a character, that character.
TEST(EncodingIndex, PointersLeadBack) {
  std::size_t found = 0;
  const auto check = [&](PointerIndex index, char32_t c, const auto& at) {
    const auto pointer = pointer_of(index, c);
    if (!pointer) return;
    ++found;
    EXPECT_EQ(static_cast<char32_t>(at(*pointer)), c);
  };
  for (char32_t c = 0x80; c < 0x30000; ++c) {
    check(PointerIndex::jis0208, c, [](std::uint32_t p) { return jis0208_index[p]; });
    check(PointerIndex::shift_jis, c, [](std::uint32_t p) { return jis0208_index[p]; });
    check(PointerIndex::euc_kr, c, [](std::uint32_t p) { return euc_kr_index[p]; });
    check(PointerIndex::gb18030, c, [](std::uint32_t p) { return gb18030_index[p]; });
    check(PointerIndex::big5, c, [](std::uint32_t p) { return big5_index.at(p); });
    // A character without a pair has four bytes, except for a part of the private area in GB 18030-2022.
    if (!pointer_of(PointerIndex::gb18030, c) && (c < 0xD800 || c > 0xE864)) {
      ASSERT_EQ(gb18030_range_code_point(gb18030_range_pointer(c)), c);
    }
  }
  EXPECT_GT(found, 60'000u);
}

}  // namespace
}  // namespace orbweaver::html
