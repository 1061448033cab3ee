// A page's bytes to UTF-8: the HTML standard's order of evidence, the Encoding standard's labels and tables.
#include "node/charset/charset.h"

#include <gtest/gtest.h>

#include <string>

#include "node/charset/encoding_sniffer.h"

namespace orbweaver {
namespace {

using namespace std::literals;

std::string charset_of(std::string_view bytes, std::string_view content_type = "") {
  DecodedText out;
  decode_html(bytes, content_type, out);
  return out.charset;
}

std::string decoded(std::string_view bytes, std::string_view content_type = "") {
  DecodedText out;
  decode_html(bytes, content_type, out);
  return std::string(out.utf8);
}

std::string decoded_as(std::string_view charset, std::string_view bytes) {
  return decoded(bytes, "text/html; charset=" + std::string(charset));
}

TEST(Charset, Html13_2_3_2_BomBeatsHeaderBeatsMeta) {
  EXPECT_EQ(charset_of("\xEF\xBB\xBFx", "text/html; charset=koi8-r"), "utf-8");
  EXPECT_EQ(charset_of("\xFE\xFF\0x"sv, "text/html; charset=koi8-r"), "utf-16be");
  EXPECT_EQ(decoded("\xFF\xFEx\0\xE9\0"sv), "x\u00E9");
  EXPECT_EQ(decoded("\xEF\xBB\xBFx"), "x");
  EXPECT_EQ(charset_of("<meta charset=iso-8859-2>", "text/html; charset=koi8-r"), "koi8-r");
  EXPECT_EQ(charset_of("<meta charset=iso-8859-2>", "text/html; charset=unheard-of"), "iso-8859-2");
  EXPECT_EQ(charset_of("<meta charset=iso-8859-2>\xC3\xA9"), "iso-8859-2");
}

TEST(Charset, DetectionIsUtf8ElseWindows1252) {
  EXPECT_EQ(charset_of("caf\xC3\xA9"), "utf-8");
  EXPECT_EQ(charset_of("caf\xE9"), "windows-1252");
  EXPECT_EQ(decoded("caf\xE9 \x80"), "caf\u00E9 \u20AC");
  EXPECT_EQ(charset_of("cafe"), "windows-1252");
  EXPECT_EQ(charset_of(""), "windows-1252");
}

TEST(Charset, Utf8EvidenceIsWellFormedness) {
  using html::utf8_evidence;
  using html::Utf8Evidence;
  EXPECT_EQ(utf8_evidence("0123456789abcdef"), Utf8Evidence::ascii);
  for (const char* good : {"01234567\u00E9", "\uFFFD", "\U0001F600", "\U0010FFFF", "\uD7FF", "\uE000"}) {
    EXPECT_EQ(utf8_evidence(good), Utf8Evidence::valid) << good;
  }
  for (const char* bad :
       {"\x80", "\xC0\x80", "\xC1\xBF", "\xE0\x80\x80", "\xED\xA0\x80", "\xF0\x80\x80\x80", "\xF4\x90\x80\x80",
        "\xF5\x80", "ab\xC3", "\xE2\x82", "01234567\xF0\x9F\x98", "\xC3(", "\xFF"}) {
    EXPECT_EQ(utf8_evidence(bad), Utf8Evidence::invalid) << bad;
  }
}

TEST(Charset, Utf8InputIsAView) {
  const std::string bytes = "\xEF\xBB\xBF<p>caf\xC3\xA9 \xFF";
  DecodedText out;
  decode_html(bytes, "", out);
  EXPECT_EQ(out.utf8.data(), bytes.data() + 3);
  EXPECT_TRUE(out.storage.empty());
  const std::string ascii = "<meta charset=windows-1251>x";
  decode_html(ascii, "", out);
  EXPECT_EQ(out.charset, "windows-1251");
  EXPECT_EQ(out.utf8.data(), ascii.data());
}

TEST(Charset, ContentTypeParameters) {
  EXPECT_EQ(html::charset_from_content_type("text/html; a=b; CharSet=\"UTF-8\""), "utf-8");
  EXPECT_EQ(html::charset_from_content_type("text/html;charset=latin1;charset=utf-8"), "windows-1252");
  EXPECT_EQ(html::charset_from_content_type("text/html; a=\"x;charset=utf-8\"; charset = koi8-r "), "koi8-r");
  EXPECT_EQ(html::charset_from_content_type("text/html; charset='gb2312'"), "gbk");
  for (const char* none :
       {"", "text/html", "text/html;", "text/html; charset", "text/html; charset=", "text/html; charset=\"",
        "text/html; charset=x", "charset=utf-8", "text/html; xcharset=utf-8"}) {
    EXPECT_EQ(html::charset_from_content_type(none), std::nullopt) << none;
  }
}

TEST(Charset, Html13_2_3_2_PrescanStopsAt1024Bytes) {
  const std::string far = "<!--" + std::string(1100, 'x') + "--><meta charset=iso-8859-2>";
  EXPECT_EQ(html::charset_from_prescan(far), std::nullopt);
  EXPECT_EQ(html::charset_from_late_meta(far), "iso-8859-2");
  EXPECT_EQ(charset_of(far), "iso-8859-2");
  // The tokenizer does not treat a script's text as a <meta>.
  EXPECT_EQ(charset_of("<script>" + std::string(1100, 'x') + "<meta charset=iso-8859-2></script>"), "windows-1252");
  EXPECT_EQ(charset_of(std::string(html::max_late_meta_bytes, ' ') + "<meta charset=iso-8859-2>"), "windows-1252");
}

TEST(Charset, Html13_2_3_2_AMetaThatAsciiCouldReadIsNoUtf16) {
  EXPECT_EQ(charset_of("<meta charset=utf-16le>"), "utf-8");
  EXPECT_EQ(charset_of("<meta charset=x-user-defined>"), "windows-1252");
  EXPECT_EQ(charset_of("<\0?\0x\0m\0l\0"sv), "utf-16le");
}

TEST(Charset, Html13_2_3_2_AnXmlDeclarationCountsWhereNoMetaDoes) {
  EXPECT_EQ(charset_of("<?xml version=\"1.0\" encoding=\"koi8-r\"?><p>\xC1"), "koi8-r");
  EXPECT_EQ(charset_of("<?xml encoding = 'Shift_JIS' ?>"), "shift_jis");
  EXPECT_EQ(charset_of("<?xmlencoding=\"euc-jp\"?>"), "euc-jp");
  EXPECT_EQ(charset_of("<?xml-stylesheet encoding=\"big5\"?>"), "big5");
  EXPECT_EQ(charset_of("<?xml encoding=\"utf-16be\"?>\xE9"), "utf-8");
  EXPECT_EQ(charset_of("<?xml encoding=\"koi8-r\"?><meta charset=gbk>"), "gbk");
  EXPECT_EQ(charset_of("<?xml encoding=\"koi8-r\"?>", "text/html; charset=gbk"), "gbk");
  EXPECT_EQ(charset_of("<?xml encoding=\"koi8-r\"?>" + std::string(1100, ' ') + "<meta charset=gbk>"), "koi8-r");
  for (const char* none :
       {" <?xml encoding=\"koi8-r\"?>\xE9", "<?xml encoding=koi8-r?>\xE9", "<?xml encoding=\"koi8 r\"?>\xE9",
        "<?xml encoding=\"koi8-r?>\xE9", "<?xml encoding\"koi8-r\"?>\xE9", "<?xml encoding=\"koi8-r\" \xE9",
        "<?xml version=\"1.0\"?>\xE9", "<?XML encoding=\"koi8-r\"?>\xE9", "<?xml encoding=\"unheard-of\"?>\xE9"}) {
    EXPECT_EQ(charset_of(none), "windows-1252") << none;
  }
}

TEST(Charset, EncodingStandard4_2_Labels) {
  EXPECT_EQ(charset_from_label(" Latin1\n"), "windows-1252");
  EXPECT_EQ(charset_from_label("ISO-8859-9"), "windows-1254");
  EXPECT_EQ(charset_from_label("x-sjis"), "shift_jis");
  EXPECT_EQ(charset_from_label("unicode"), "utf-16le");
  EXPECT_EQ(charset_from_label("hz-gb-2312"), "replacement");
  EXPECT_EQ(charset_from_label("iso_8859-8:1988"), "iso-8859-8");
  EXPECT_EQ(charset_from_label("utf-7"), std::nullopt);
  EXPECT_EQ(charset_from_label(""), std::nullopt);
  EXPECT_EQ(charset_from_label("866 cp866"), std::nullopt);
}

TEST(Charset, EncodingStandard9_SingleBytes) {
  EXPECT_EQ(decoded_as("koi8-r", "\xC1\xC2"), "\u0430\u0431");
  EXPECT_EQ(decoded_as("windows-1252", "\x81\x8D\x9F"), "\u0081\u008D\u0178");
  EXPECT_EQ(decoded_as("iso-8859-16", "\xA1x\xFF"), "\u0104x\u00FF");
  EXPECT_EQ(decoded_as("koi8-u", "\xAE\xBE"), "\u045E\u040E");
  EXPECT_EQ(decoded_as("windows-874", "\xA1\xDB\xA2"), "\u0E01\uFFFD\u0E02");
  EXPECT_EQ(decoded_as("windows-1255", "\xCA"), "\u05BA");
  EXPECT_EQ(decoded_as("x-user-defined", "a\x80\xFF"), "a\uF780\uF7FF");
}

TEST(Charset, EncodingStandard10To12_ManyBytes) {
  EXPECT_EQ(decoded_as("shift_jis", "\x83\x65\x5C"), "\u30C6\\");
  EXPECT_EQ(decoded_as("euc-jp", "\xC6\xFC"), "\u65E5");
  EXPECT_EQ(decoded_as("iso-2022-jp", "\x1B$BF|\x1B(B."), "\u65E5.");
  EXPECT_EQ(decoded_as("gb2312", "\xC4\xE3"), "\u4F60");
  EXPECT_EQ(decoded_as("gbk", "\x81\x30\x81\x30"), "\u0080");
  EXPECT_EQ(decoded_as("big5", "\xA7\x41"), "\u4F60");
  EXPECT_EQ(decoded_as("euc-kr", "\xB0\xA1\x81\x41"), "\uAC00\uAC02");
}

TEST(Charset, BadBytesBecomeReplacementCharacters) {
  EXPECT_EQ(decoded_as("euc-jp", "a\xFF z"), "a\uFFFD z");
  EXPECT_EQ(decoded_as("shift_jis", "a\x83"), "a\uFFFD");
  EXPECT_EQ(decoded_as("iso-2022-kr", "anything"), "\uFFFD");
  EXPECT_EQ(decoded("\xFE\xFF\xD8\0\0x"sv), "\uFFFDx");
}

TEST(QueryEncoder, UrlStandard_QueriesInTheDocumentsCharset) {
  EXPECT_EQ(make_query_encoder("utf-8"), nullptr);
  EXPECT_EQ(make_query_encoder("utf-16le"), nullptr);
  EXPECT_EQ(make_query_encoder("replacement"), nullptr);
  EXPECT_EQ(make_query_encoder("no-such"), nullptr);
  EXPECT_EQ(make_query_encoder("windows-1252")->encode("q=\u00E9&x"), "q=\xE9&x");
  EXPECT_EQ(make_query_encoder("koi8-r")->encode("\u0430\u00E9\U0001F600"), "\xC1%26%23233%3B%26%23128512%3B");
  EXPECT_EQ(make_query_encoder("iso-2022-jp")->encode("\u65E5\u00E9"), "\x1B$BF|\x1B(B%26%23233%3B");
  const auto base = Url::parse("http://d.test/");
  const auto encoder = make_query_encoder("windows-1252");
  const auto url = Url::parse("/p\u00E9?q=\u00E9\u30C6&a=%26", &*base, encoder.get());
  ASSERT_TRUE(url);
  EXPECT_EQ(url->href(), "http://d.test/p%C3%A9?q=%E9%26%2312486%3B&a=%26");
}

}  // namespace
}  // namespace orbweaver
