// Keywords to search URLs (node/scope/search_urls.h). OpenSearch 1.1 Draft 6 for the templates' parameters; RFC 3986,
// 2.3 for characters that are not encoded.
#include "node/scope/search_urls.h"

#include <gtest/gtest.h>

namespace orbweaver {
namespace {

using Texts = std::vector<std::string>;

Texts keywords(std::string_view text) {
  const auto parsed = parse_keywords(text);
  return parsed ? *parsed : Texts{"error: " + parsed.error().message};
}

Texts combined(const Texts& words, const std::string& how, std::uint64_t most = 100) {
  return combine_keywords(words, *parse_combine(how), most).words;
}

EngineTemplate engine(std::string_view text) { return *EngineTemplate::parse(text); }

std::string refusal(std::string_view text) {
  const auto made = EngineTemplate::parse(text);
  return made ? "" : made.error().message;
}

TEST(Keywords, AreBetweenSemicolonsOrLineBreaksFoldedAndEachOnce) {
  EXPECT_EQ(keywords(" a  b ; c d;;a b\n\te "), (Texts{"a b", "c d", "e"}));
}

TEST(Keywords, NoneOrNoUtf8OrTooLongAreRefused) {
  for (const std::string& bad : {std::string(), std::string(" ; ;"), std::string("a;\xff"), std::string(2000, 'x')})
    EXPECT_FALSE(parse_keywords(bad)) << bad.substr(0, 10);
}

TEST(Combine, EachAllPairsAndPhrases) {
  const Texts words = {"a b", "c", "d"};
  EXPECT_EQ(combined(words, "each"), (Texts{"a b", "c", "d"}));
  EXPECT_EQ(combined(words, "all"), (Texts{"a b c d"}));
  EXPECT_EQ(combined(words, "pairs"), (Texts{"a b c", "a b d", "c d"}));
  EXPECT_EQ(combined(words, "phrases"), (Texts{"\"a b\"", "\"c\"", "\"d\""}));
  EXPECT_EQ(combined({"c", "d"}, "all,pairs"), (Texts{"c d"})) << "each query once";
  EXPECT_TRUE(combined({"c"}, "pairs").empty());
  EXPECT_FALSE(parse_combine("each,both"));
}

TEST(Combine, WhatIsBeyondTheBoundIsCountedNotMade) {
  Texts words;
  for (int i = 0; i < 20'000; ++i) words.push_back(std::to_string(i));
  const Queries queries = combine_keywords(words, {Combine::pairs}, 10);
  EXPECT_EQ(queries.words.size(), 10U);
  EXPECT_EQ(queries.left_out, 20'000ULL * 19'999 / 2 - 10);
}

TEST(EngineTemplate, WordsStayOneValueWhateverTheyHold) {
  EXPECT_EQ(engine("https://s.example/?q={searchTerms}&l=en").url("c++ & \"k\xc3\xb6ln\" ~a=b#%", 0, {}),
            "https://s.example/?q=c%2B%2B%20%26%20%22k%C3%B6ln%22%20~a%3Db%23%25&l=en");
}

TEST(EngineTemplate, PagesAndIndexesCountFromWhatIsAsked) {
  const EngineTemplate pages = engine("https://s.example/{searchTerms}?p={startPage}&i={startIndex}&n={count}");
  EXPECT_EQ(pages.url("x", 0, {}), "https://s.example/x?p=1&i=1&n=10");
  EXPECT_EQ(pages.url("x", 2, {3, 0, 0, 25}), "https://s.example/x?p=2&i=50&n=25");
}

TEST(EngineTemplate, OptionalPlacesThatAreNotKnownAreEmpty) {
  EXPECT_EQ(engine("http://s.example/?q={searchTerms}&c={inputEncoding?}&x={geo:box?}").url("x", 0, {}),
            "http://s.example/?q=x&c=UTF-8&x=");
}

TEST(EngineTemplate, WhatIsNoTemplateIsRefusedWithTheReason) {
  EXPECT_NE(refusal("https://s.example/?q=x").find("no place for the words"), std::string::npos);
  EXPECT_NE(refusal("https://s.example/?q={searchTerms}&x={geo:box}").find("{geo:box}"), std::string::npos);
  EXPECT_NE(refusal("https://s.example/?q={searchTerms").find("brace"), std::string::npos);
  EXPECT_NE(refusal("https://s.example/?q=searchTerms}").find("brace"), std::string::npos);
  EXPECT_NE(refusal("https://{searchTerms}.example/").find("host"), std::string::npos);
  EXPECT_NE(refusal("ftp://s.example/?q={searchTerms}").find("no URL"), std::string::npos);
  EXPECT_NE(refusal("{searchTerms}").find("host"), std::string::npos);
}

TEST(SearchUrls, QueryByQueryEngineByEnginePageByPage) {
  const auto urls = search_urls(
      {engine("http://a.example/?q={searchTerms}&p={startPage}"), engine("http://b.example/{searchTerms}/{startPage}")},
      {"x", "y"}, {2, 1, 1, 10});
  ASSERT_TRUE(urls);
  EXPECT_EQ(*urls, (Texts{"http://a.example/?q=x&p=1", "http://a.example/?q=x&p=2", "http://b.example/x/1",
                          "http://b.example/x/2", "http://a.example/?q=y&p=1", "http://a.example/?q=y&p=2",
                          "http://b.example/y/1", "http://b.example/y/2"}));
}

TEST(SearchUrls, SeveralPagesNeedAPlaceForThePage) {
  const std::vector<EngineTemplate> engines = {engine("http://a.example/?q={searchTerms}")};
  EXPECT_TRUE(search_urls(engines, {"x"}, {1, 1, 1, 10}));
  EXPECT_FALSE(search_urls(engines, {"x"}, {2, 1, 1, 10}));
}

TEST(SearchUrls, AUrlThatIsTooLongIsAnError) {
  EXPECT_FALSE(search_urls({engine("http://a.example/?q={searchTerms}")},
                           {std::string(1024, '"') + std::string(1024, '"')}, {1, 1, 1, 10}));
}

}  // namespace
}  // namespace orbweaver
