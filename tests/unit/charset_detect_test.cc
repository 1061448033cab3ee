// Detection, the last step in the order of character sets: texts in many charsets without any declaration. The C
// library's iconv makes the bytes, so that no table of ours judges itself.
#include <gtest/gtest.h>
#include <iconv.h>

#include <string>
#include <string_view>

#include "node/charset/charset.h"

namespace orbweaver {
namespace {

std::string converted(const char* charset, std::string text) {
  const iconv_t converter = iconv_open(charset, "UTF-8");
  EXPECT_NE(converter, reinterpret_cast<iconv_t>(-1)) << charset;
  std::string out(text.size() * 4, '\0');
  char* in = text.data();
  char* to = out.data();
  std::size_t left = text.size();
  std::size_t room = out.size();
  EXPECT_NE(iconv(converter, &in, &left, &to, &room), static_cast<std::size_t>(-1)) << charset;
  iconv_close(converter);
  out.resize(out.size() - room);
  return out;
}

// The decoded text of a page that declares no charset.
std::string detected(const char* charset, std::string_view text) {
  const std::string page = converted(charset, "<!DOCTYPE html><title>x</title><p>" + std::string(text) + "</p>");
  DecodedText out;
  decode_html(page, "text/html", out);
  return std::string(out.utf8);
}

std::string page_of(std::string_view text) { return "<!DOCTYPE html><title>x</title><p>" + std::string(text) + "</p>"; }

constexpr std::string_view russian =
    "Все люди рождаются свободными и равными в своем достоинстве и правах. Они наделены разумом и совестью и должны "
    "поступать в отношении друг друга в духе братства.";
constexpr std::string_view japanese =
    "すべての人間は、生まれながらにして自由であり、かつ、尊厳と権利とについて平等である。人間は、理性と良心とを授けられ"
    "て"
    "おり、互いに同胞の精神をもって行動しなければならない。";
constexpr std::string_view chinese =
    "人人生而自由,在尊严和权利上一律平等。他们赋有理性和良心,"
    "并应以兄弟关系的精神相对待。人人有资格享有本宣言所载的一切权利和自由。";
constexpr std::string_view korean =
    "모든 인간은 태어날 때부터 자유로우며 그 존엄과 권리에 있어 동등하다. 인간은 천부적으로 이성과 양심을 부여받았으며 "
    "서로 "
    "형제애의 정신으로 행동하여야 한다.";
constexpr std::string_view greek =
    "Όλοι οι άνθρωποι γεννιούνται ελεύθεροι και ίσοι στην αξιοπρέπεια και τα δικαιώματα. Είναι προικισμένοι με λογική "
    "και "
    "συνείδηση, και οφείλουν να συμπεριφέρονται μεταξύ τους με πνεύμα αδελφοσύνης.";
constexpr std::string_view french =
    "Tous les êtres humains naissent libres et égaux en dignité et en droits. Ils sont doués de raison et de "
    "conscience et "
    "doivent agir les uns envers les autres dans un esprit de fraternité. Été, à côté, où ça, déjà été, présenté, "
    "élevé, "
    "complété, répété, créé, privilégié, considéré.";

TEST(CharsetDetection, CyrillicTexts) {
  EXPECT_EQ(detected("WINDOWS-1251", russian), page_of(russian));
  EXPECT_EQ(detected("KOI8-R", russian), page_of(russian));
  EXPECT_EQ(detected("ISO-8859-5", russian), page_of(russian));
}

TEST(CharsetDetection, EastAsianTexts) {
  EXPECT_EQ(detected("SHIFT_JIS", japanese), page_of(japanese));
  EXPECT_EQ(detected("EUC-JP", japanese), page_of(japanese));
  EXPECT_EQ(detected("GB18030", chinese), page_of(chinese));
  EXPECT_EQ(detected("EUC-KR", korean), page_of(korean));
}

TEST(CharsetDetection, GreekText) { EXPECT_EQ(detected("ISO-8859-7", greek), page_of(greek)); }

TEST(CharsetDetection, WesternTextsAreWindows1252) {
  EXPECT_EQ(detected("WINDOWS-1252", french), page_of(french));
  EXPECT_EQ(detected("WINDOWS-1252", "Müller, Gößner, Jürgen und Söhne"), page_of("Müller, Gößner, Jürgen und Söhne"));
}

TEST(CharsetDetection, ComesAfterEverythingThatIsSaid) {
  const std::string page = converted("WINDOWS-1251", page_of(russian));
  DecodedText said;
  decode_html(page, "text/html; charset=koi8-r", said);
  EXPECT_EQ(said.charset, "koi8-r");
  const std::string with_meta = "<meta charset=iso-8859-5>" + page;
  DecodedText meta;
  decode_html(with_meta, "text/html", meta);
  EXPECT_EQ(meta.charset, "iso-8859-5");
  DecodedText utf8;
  decode_html(page_of(russian), "text/html", utf8);
  EXPECT_EQ(utf8.charset, "utf-8");
}

TEST(CharsetDetection, PlainTextAndStyles) {
  const std::string text = converted("WINDOWS-1251", std::string(russian));
  DecodedText plain;
  decode_text_body(text, "text/plain", TextFormat::plain, plain);
  EXPECT_EQ(plain.charset, "windows-1251");
  EXPECT_EQ(plain.utf8, russian);
  DecodedText css;
  decode_text_body(text, "text/css", TextFormat::css, css);
  EXPECT_EQ(css.charset, "utf-8");
  const std::string named = "@charset \"windows-1251\";a{b:url(" + converted("WINDOWS-1251", "я") + ")}";
  DecodedText charset;
  decode_text_body(named, "text/css", TextFormat::css, charset);
  EXPECT_EQ(charset.utf8, "@charset \"windows-1251\";a{b:url(я)}");
  DecodedText header;
  decode_text_body(named, "text/css; charset=utf-8", TextFormat::css, header);
  EXPECT_EQ(header.charset, "utf-8");
}

}  // namespace
}  // namespace orbweaver
