// Blocks of a page and which are boilerplate (node/html/main_text.h); Kohlschuetter et al. 2010, algorithm 2.
#include "node/html/main_text.h"

#include <gtest/gtest.h>

#include "node/text/language.h"

namespace orbweaver {
namespace {

std::string words(int count, const std::string& word = "word") {
  std::string text;
  for (int i = 0; i < count; ++i) text += (i == 0 ? "" : " ") + word;
  return text;
}

std::vector<html::TextBlock> marked(const std::string& html) {
  std::vector<html::TextBlock> blocks = html::page_blocks(html).blocks;
  html::mark_boilerplate(blocks);
  return blocks;
}

std::string kept(const std::string& html) { return html::text_of(marked(html), false); }

TEST(PageBlocks, BlockTagsBreakInlineTagsDoNot) {
  const auto page = html::page_blocks(
      "<!DOCTYPE html><html lang=de><head><title> A  &amp; B </title><style>s</style></head><body><p>one <b>two</b>"
      "three<br>four<div>five<script>no</script></div><ul><li>six<li><a href=x>seven eight</a> nine</ul>");
  EXPECT_EQ(page.title, "A & B");
  EXPECT_EQ(page.language, "de");
  ASSERT_EQ(page.blocks.size(), 4U);
  EXPECT_EQ(page.blocks[0].text, "one twothree four");
  EXPECT_EQ(page.blocks[1].text, "five");
  EXPECT_EQ(page.blocks[2].text, "six");
  EXPECT_EQ(page.blocks[3].text, "seven eight nine");
  EXPECT_EQ(page.blocks[3].words, 3U);
  EXPECT_EQ(page.blocks[3].linked, 2U);
}

TEST(PageBlocks, WordsOfScriptsWithoutSpacesCountByTwoCharacters) {
  EXPECT_EQ(html::page_blocks("<p>\u6f22\u5b57\u3001\u304b\u306a Linux").blocks.at(0).words, 3U);
  EXPECT_EQ(html::page_blocks("<p>\u043e\u0434\u0438\u043d \u0434\u0432\u0430").blocks.at(0).words, 2U);
}

TEST(PageBlocks, FormControlsSayNothing) {
  const auto page = html::page_blocks("<p>a<textarea>b</textarea><select><option>c</select>d");
  EXPECT_EQ(html::text_of(page.blocks, true), "a\nd");
}

TEST(PageBlocks, DatesOfMetaAndTime) {
  const auto page = html::page_blocks(
      "<meta property=article:published_time content=2020-01-02><meta name=author content=x>"
      "<meta name=\"DC.Date\" content=2019><p><time datetime=2018-01-01>then</time>"
      "<time itemprop=datePublished datetime=2017-01-01>when</time>");
  ASSERT_EQ(page.dates.size(), 3U);
  EXPECT_EQ(page.dates[0], std::pair(std::string("article:published_time"), std::string("2020-01-02")));
  EXPECT_EQ(page.dates[1].first, "dc.date");
  EXPECT_EQ(page.dates[2], std::pair(std::string("time"), std::string("2017-01-01")));
}

TEST(Boilerplate, ABlockOfLinksIsBoilerplateHoweverLong) {
  EXPECT_EQ(kept("<p><a href=x>" + words(60) + "</a><p>" + words(50, "text")), words(50, "text"));
}

TEST(Boilerplate, AShortBlockIsKeptForItsNeighbours) {
  // Fewer than 17 words: content after more than 4 words, or before more than 15.
  EXPECT_EQ(kept("<h2>Head</h2><p>" + words(20)), "Head\n" + words(20));
  EXPECT_EQ(kept("<p>" + words(20) + "<p>end"), words(20) + "\nend");
  EXPECT_EQ(kept("<p>a b<p>c d<p>e f"), "");
}

TEST(Boilerplate, AfterLinksABlockMustBeLonger) {
  const std::string links = "<p><a href=x>" + words(10) + "</a>";
  EXPECT_EQ(kept(links + "<p>" + words(30)), "") << "more than 40 words, or the next one more than 17";
  EXPECT_EQ(kept(links + "<p>" + words(41)), words(41));
  EXPECT_EQ(kept(links + "<p>" + words(3) + "<p>" + words(18)), words(3) + "\n" + words(18));
}

TEST(Boilerplate, NavigationAndFootersAreBoilerplateWhateverTheySay) {
  EXPECT_EQ(kept("<nav><p>" + words(50) + "</nav><p>" + words(20, "text") + "<footer>" + words(50) + "</footer>"),
            words(20, "text"));
}

TEST(Boilerplate, ATextOfItsOwnIsNone) {
  std::vector<html::TextBlock> blocks = html::blocks_of_text("two words").blocks;
  html::mark_boilerplate(blocks);
  EXPECT_EQ(html::text_of(blocks, false), "two words");
}

TEST(PageBlocks, HostilePagesAreBounded) {
  std::string deep;
  for (int i = 0; i < 50'000; ++i) deep += "<nav><a><div>x";
  EXPECT_FALSE(html::page_blocks(deep).blocks.empty());
  EXPECT_TRUE(html::page_blocks("").blocks.empty());
}

TEST(Language, IsToldByTheText) {
  EXPECT_EQ(guess_language("Der Mond ist aufgegangen, die goldnen Sternlein prangen am Himmel hell und klar.").code,
            "de");
  EXPECT_EQ(guess_language("It was the best of times, it was the worst of times, it was the age of wisdom.").code,
            "en");
  EXPECT_EQ(guess_language("\u0412\u0441\u0435 \u0441\u0447\u0430\u0441\u0442\u043b\u0438\u0432\u044b\u0435 "
                           "\u0441\u0435\u043c\u044c\u0438 \u043f\u043e\u0445\u043e\u0436\u0438 "
                           "\u0434\u0440\u0443\u0433 \u043d\u0430 \u0434\u0440\u0443\u0433\u0430.")
                .code,
            "ru");
}

TEST(Language, OfNoTextAndOfBrokenTextIsSaidSo) {
  EXPECT_EQ(guess_language("").code, "");
  EXPECT_EQ(guess_language("12345 67890").code, "");
  EXPECT_EQ(guess_language("\xff\xfe").code, "");
  EXPECT_EQ(guess_language("It was the best of times, it was the worst of times, it was so.\xff").code, "en");
}

}  // namespace
}  // namespace orbweaver
