// The sample web's search engine (node/sampleweb/sample_search.h): its results, and the markup around them.
#include "node/sampleweb/sample_search.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "node/sampleweb/sample_page.h"

namespace orbweaver::sample {
namespace {

const SampleWeb& web() {
  static const SampleWeb made({.seed = 1, .hosts = 4, .pages = 120, .port = 8080, .calm = true});
  return made;
}

std::string page(std::string_view path) { return SampleSearch(web()).answer(path).body; }

std::size_t times(std::string_view text, std::string_view part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string_view::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

TEST(SampleSearch, FindsPagesWhoseTitlesAndHeadingsHoldAllWords) {
  const SampleSearch search(web());
  const auto river = search.find("river");
  const auto both = search.find("river LANTERN");
  ASSERT_FALSE(river.empty());
  ASSERT_FALSE(both.empty());
  EXPECT_LT(both.size(), river.size());
  for (const std::string& url : both) EXPECT_NE(std::find(river.begin(), river.end(), url), river.end());
  const auto phrase = search.find("\"river lantern\"");
  for (const std::string& url : phrase) EXPECT_NE(std::find(both.begin(), both.end(), url), both.end());
  EXPECT_LT(phrase.size(), both.size());
  EXPECT_TRUE(search.find("").empty());
  EXPECT_TRUE(search.find("nosuchword").empty());
}

TEST(SampleSearch, PagesOfTenByNumberOrFirstResult) {
  const auto all = SampleSearch(web()).find("river");
  ASSERT_GT(all.size(), 10U);
  EXPECT_EQ(times(page("/search?q=river"), "class=\"web result\""), 10U);
  EXPECT_EQ(times(page("/search?q=river&page=2"), "class=\"web result\""), std::min<std::size_t>(all.size() - 10, 10));
  EXPECT_EQ(times(page("/search?q=river&start=" + std::to_string(all.size())), "class=\"web result\""), 1U);
  EXPECT_EQ(times(page("/search?q=river&page=999999999999"), "class=\"web result\""), 0U);
  EXPECT_NE(page("/search?q=river&start=11"), page("/search?q=river"));
}

TEST(SampleSearch, LinksOfItsOwnAndAdvertsStandAroundTheResults) {
  const std::string html = page("/search?q=river");
  for (const char* part : {"href=\"/\"", "help.findall.test", "/advert/1", "class=\"more\"", "&amp;page=2"})
    EXPECT_NE(html.find(part), std::string::npos) << part;
}

TEST(SampleSearch, WhatIsAskedForIsNeverMarkup) {
  EXPECT_EQ(page("/search?q=%22%3E%3Cb%3Ex").find("\"><b>"), std::string::npos);
}

TEST(SampleSearch, CountedLinksRedirectAndRobotsForbids) {
  const SampleSearch search(web());
  const SampleAnswer out = search.answer("/out?to=http%3A%2F%2Fa.test%2F%0d%0aX:%20y");
  EXPECT_EQ(out.status, 302);
  EXPECT_EQ(out.headers.at(0).second, "http://a.test/X: y") << "no header of the asker's making";
  EXPECT_NE(search.answer("/robots.txt").body.find("Disallow: /private/"), std::string::npos);
  EXPECT_EQ(search.answer("/nothing").status, 404);
}

}  // namespace
}  // namespace orbweaver::sample
