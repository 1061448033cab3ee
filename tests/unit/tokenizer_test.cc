// The HTML tokenizer against the standard's states, and against a slow twin of its character references.
#include "node/html/tokenizer.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "node/html/tree_context.h"

namespace orbweaver::html {
namespace {

// Tokens as one line: "<a href=[x]>", "</a>", "'text'", with a '/' for self-closing tags.
std::string tokens_of(std::string_view page, TextModel model = TextModel::data, std::string_view element = "") {
  Tokenizer tokenizer(page);
  if (model != TextModel::data) tokenizer.enter(model, name_key(element));
  Token token;
  std::string out;
  while (tokenizer.next(token)) {
    if (token.kind == TokenKind::text) {
      out += "'" + std::string(token.text) + "'";
      continue;
    }
    out += token.kind == TokenKind::end_tag ? "</" : "<";
    out += token.name;
    for (const Attribute& a : token.attributes) {
      out += ' ';
      out += a.name;
      out += "=[";
      decode_attribute(a.value, out);
      out += ']';
    }
    out += token.self_closing ? "/>" : ">";
  }
  return out;
}

std::string text_of(std::string_view raw) {
  std::string out;
  decode_text(raw, out);
  return out;
}

std::string value_of(std::string_view raw) {
  std::string out;
  decode_attribute(raw, out);
  return out;
}

TEST(Tokenizer, Html13_2_5_33_AllAttributeForms) {
  EXPECT_EQ(tokens_of("<a href=x>"), "<a href=[x]>");
  EXPECT_EQ(tokens_of("<a href='x y' B=\"p'q\" c>"), "<a href=[x y] B=[p'q] c=[]>");
  EXPECT_EQ(tokens_of("<a href = x>"), "<a href=[x]>");
  EXPECT_EQ(tokens_of("<a href=x/>"), "<a href=[x/]>");
  EXPECT_EQ(tokens_of("<a href='x'/>"), "<a href=[x]/>");
  EXPECT_EQ(tokens_of("<a/href=x>"), "<a href=[x]>");
  EXPECT_EQ(tokens_of("<a name=\"m\"href=\"x\">"), "<a name=[m] href=[x]>");
  EXPECT_EQ(tokens_of("<a href=>y"), "<a href=[]>'y'");
  EXPECT_EQ(tokens_of("<a =x=y>"), "<a =x=[y]>");
  EXPECT_EQ(tokens_of("<a \" x='>'>"), "<a \"=[] x=[>]>");
  EXPECT_EQ(tokens_of("<a\thref\n=\f'x'\r>"), "<a href=[x]>");
}

TEST(Tokenizer, Html13_2_5_5_ATagThePageEndsInIsDropped) {
  for (const char* page : {"<a", "<a ", "<a href", "<a href=", "<a href=x", "<a href='x>y</a>", "</a", "</a x"}) {
    EXPECT_EQ(tokens_of(std::string("t") + page), "'t'") << page;
  }
}

TEST(Tokenizer, Html13_2_5_1_ALessThanThatOpensNothingIsText) {
  EXPECT_EQ(tokens_of("a < b <3 <"), "'a < b <3 <'");
  EXPECT_EQ(tokens_of("a </"), "'a </'");
  EXPECT_EQ(tokens_of("a</>b"), "'a''b'");
}

TEST(Tokenizer, Html13_2_5_43_Comments) {
  EXPECT_EQ(tokens_of("<!-->a"), "'a'");
  EXPECT_EQ(tokens_of("<!--->a"), "'a'");
  EXPECT_EQ(tokens_of("<!---->a"), "'a'");
  EXPECT_EQ(tokens_of("<!-- <a> --!>b"), "'b'");
  EXPECT_EQ(tokens_of("<!-- > -- > --->b"), "'b'");
  EXPECT_EQ(tokens_of("<!--!>b-->c"), "'c'");
  EXPECT_EQ(tokens_of("<!---!>b-->c"), "'c'");
  EXPECT_EQ(tokens_of("<!-- <!-->c"), "'c'");
  EXPECT_EQ(tokens_of("x<!-- <a>"), "'x'");
}

TEST(Tokenizer, Html13_2_5_41_BogusCommentsAndDoctypesEndAtTheFirstGreaterThan) {
  EXPECT_EQ(tokens_of("<?xml version='>'?>x"), "''?>x'");
  EXPECT_EQ(tokens_of("<!DOCTYPE html PUBLIC \"a>b\">x"), "'b\">x'");
  EXPECT_EQ(tokens_of("</#a>x"), "'x'");
  EXPECT_EQ(tokens_of("<![CDATA[x>y]]>"), "'y]]>'");
}

TEST(Tokenizer, Html13_2_5_42_CdataWhereItIsAllowed) {
  Tokenizer tokenizer("<![CDATA[<a>]]]>b");
  tokenizer.allow_cdata(true);
  Token token;
  ASSERT_TRUE(tokenizer.next(token));
  EXPECT_EQ(token.model, TextModel::cdata);
  EXPECT_EQ(token.text, "<a>]");
  ASSERT_TRUE(tokenizer.next(token));
  EXPECT_EQ(token.text, "b");
}

TEST(Tokenizer, Html13_2_5_2_RawTextEndsAtItsOwnEndTagOnly) {
  EXPECT_EQ(tokens_of("<a></b></titles></TITLE x>y", TextModel::rcdata, "title"), "'<a></b></titles>'</TITLE x=[]>'y'");
  EXPECT_EQ(tokens_of("</style/>y", TextModel::rawtext, "style"), "</style/>'y'");
  EXPECT_EQ(tokens_of("x</style", TextModel::rawtext, "style"), "'x</style'");
  EXPECT_EQ(tokens_of("x</plaintext>", TextModel::plaintext, "plaintext"), "'x</plaintext>'");
}

TEST(Tokenizer, Html13_2_5_15_ScriptsEscapedStates) {
  const auto script = [](std::string_view page) { return tokens_of(page, TextModel::script, "script"); };
  EXPECT_EQ(script("a<b</script>c"), "'a<b'</script>'c'");
  EXPECT_EQ(script("<!-- </script>c"), "'<!-- '</script>'c'");
  EXPECT_EQ(script("<!-- <script> </script> --></script>c"), "'<!-- <script> </script> -->'</script>'c'");
  EXPECT_EQ(script("<!-- <script> --></script>c"), "'<!-- <script> -->'</script>'c'");
  EXPECT_EQ(script("<!-- <script> </script></script>c"), "'<!-- <script> </script>'</script>'c'");
  EXPECT_EQ(script("<!-- <scripts </script>c"), "'<!-- <scripts '</script>'c'");
  EXPECT_EQ(script("<!--><script></script>c"), "'<!--><script>'</script>'c'");
  EXPECT_EQ(script("<!-- <script </script>c"), "'<!-- <script </script>c'");
}

TEST(CharacterReferences, Html13_2_5_72_NamedAndNumeric) {
  EXPECT_EQ(text_of("a&amp;b&lt;&#65;&#x42;&#X43&copy"), "a&b<ABC\u00A9");
  EXPECT_EQ(text_of("&NotEqualTilde;"), "\u2242\u0338");
  EXPECT_EQ(text_of("&CounterClockwiseContourIntegral;"), "\u2233");
  EXPECT_EQ(text_of("&notit; &notin;"), "\u00ACit; \u2209");
  EXPECT_EQ(text_of("&;&#;&#x;&#xg&unknown;&"), "&;&#;&#x;&#xg&unknown;&");
}

TEST(CharacterReferences, Html13_2_5_80_WindowsAndForbiddenNumbers) {
  EXPECT_EQ(text_of("&#128;&#x99;"), "\u20AC\u2122");
  EXPECT_EQ(text_of("&#0;&#xD800;&#x110000;&#99999999999999999999;"), "\uFFFD\uFFFD\uFFFD\uFFFD");
}

TEST(CharacterReferences, Html13_2_5_73_OldNamesInAttributesNeedTheirEnd) {
  EXPECT_EQ(value_of("?a=1&copy=2"), "?a=1&copy=2");
  EXPECT_EQ(value_of("?a=1&copyb"), "?a=1&copyb");
  EXPECT_EQ(value_of("?a=1&copy;=2"), "?a=1\u00A9=2");
  EXPECT_EQ(value_of("?a=1&copy&b"), "?a=1\u00A9&b");
  EXPECT_EQ(text_of("?a=1&copy=2"), "?a=1\u00A9=2");
}

TEST(CharacterReferences, Html13_2_3_5_NewlinesAndNul) {
  EXPECT_EQ(text_of("a\r\nb\rc"), "a\nb\nc");
  EXPECT_EQ(text_of(std::string_view("a\0b", 3)), "ab");
  EXPECT_EQ(value_of(std::string_view("a\0b", 3)), "a\uFFFDb");
}

TEST(NameKey, LongNamesAreHashedAndCaseIsFolded) {
  EXPECT_EQ(name_key("HREF"), name_key("href"));
  EXPECT_EQ(name_key("FOREIGNOBJECT"), name_key("foreignObject"));
  EXPECT_NE(name_key("plaintext"), name_key("laintext"));
  EXPECT_NE(name_key("template"), name_key("templatf"));
}

// Whatever the bytes are, tokens are views of the page, in order and without overlap, and the tokenizer ends.
TEST(Tokenizer, Property_TokensAreViewsInOrder) {
  std::mt19937 random(7);
  constexpr std::string_view pieces[] = {"<",        ">",   "/", "a",  "!--",    "--",       "-->",
                                         "'",        "\"",  "=", " ",  "script", "</script", "&amp;",
                                         "![CDATA[", "]]>", "?", "\r", "title",  "svg",      "\xFF"};
  for (int round = 0; round < 2000; ++round) {
    std::string page;
    for (int i = 0; i < 40; ++i) page += pieces[random() % std::size(pieces)];
    Tokenizer tokenizer(page);
    Token token;
    const char* last = page.data();
    while (tokenizer.next(token)) {
      const std::string_view view = token.kind == TokenKind::text ? token.text : token.name;
      ASSERT_FALSE(view.empty() && token.model != TextModel::cdata && token.kind == TokenKind::text) << page;
      ASSERT_GE(view.data(), last) << page;
      ASSERT_LE(view.data() + view.size(), page.data() + page.size()) << page;
      last = view.data() + view.size();
      if (token.kind == TokenKind::start_tag && token.key == name_key("script"))
        tokenizer.enter(TextModel::script, token.key);
      tokenizer.allow_cdata(random() % 2 == 0);
    }
  }
}

TEST(Tokenizer, KeepsABoundedNumberOfAttributes) {
  std::string page = "<a";
  for (int i = 0; i < 5000; ++i) page += " x=1";
  page += ">t";
  Tokenizer tokenizer(page);
  Token token;
  ASSERT_TRUE(tokenizer.next(token));
  EXPECT_EQ(token.attributes.size(), max_attributes_per_tag);
  ASSERT_TRUE(tokenizer.next(token));
  EXPECT_EQ(token.text, "t");
}

}  // namespace
}  // namespace orbweaver::html
