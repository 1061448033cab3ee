// The outside suites of links, refreshes and encodings (shared/suites/html, shared/suites/README.md).
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>

#include "node/charset/charset.h"
#include "node/charset/encoding_sniffer.h"
#include "node/html/link_rules.h"
#include "node/tools/links_command.h"
#include "tests/unit/suites.h"

namespace orbweaver {
namespace {

using nlohmann::json;
using Urls = std::set<std::string>;

json suite(const std::string& name) { return json::parse(test::read_file(test::suite_path("html/" + name))); }

std::string base64_decoded(const std::string& text) {
  std::string out;
  unsigned bits = 0;
  int count = 0;
  for (const char c : text) {
    const auto value = std::string("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/").find(c);
    if (value == std::string::npos) break;
    bits = (bits << 6 | static_cast<unsigned>(value)) & 0xFFFFFF;
    if ((count += 6) < 8) continue;
    count -= 8;
    out += static_cast<char>(bits >> count & 0xFF);
  }
  return out;
}

// The answer of `orbweaver links --batch`.
Urls links_of(const std::string& base_url, const std::string& page, const json& charset) {
  const json request = {{"base_url", base_url}, {"html_b64", test::base64_of(page)}, {"charset", charset}};
  std::istringstream in(request.dump() + "\n");
  std::ostringstream out;
  EXPECT_EQ(links_batch(in, out, ParserKind::stream), 0);
  return json::parse(out.str()).at("links").get<Urls>();
}

Urls http_without_fragments(const json& urls) {
  Urls out;
  for (const std::string url : urls) {
    if (url.starts_with("http")) out.insert(url.substr(0, url.find('#')));
  }
  return out;
}

TEST(HtmlSuites, Html5libTreeConstruction_SentinelLinks) {
  if (!test::suite_exists("html/html5lib_sentinel.json")) GTEST_SKIP() << "html5lib_sentinel.json is not there";
  const json cases = suite("html5lib_sentinel.json").at("cases");
  EXPECT_EQ(cases.size(), 1604u);
  const std::set<std::string> in_svg = test::listed_differences("html/html5lib_sentinel.json");
  std::size_t differ = 0;
  for (const json& c : cases) {
    if (in_svg.contains(c.at("id"))) {
      // The link that the suite added at the end is inside SVG.
      EXPECT_EQ(links_of(c.at("base_url"), c.at("html"), "utf-8").size(), c.at("nav_links").size() + 1) << c.at("id");
      ++differ;
      continue;
    }
    EXPECT_EQ(links_of(c.at("base_url"), c.at("html"), "utf-8"), http_without_fragments(c.at("nav_links")))
        << c.at("id") << c.at("html");
  }
  EXPECT_EQ(differ, in_svg.size());
}

TEST(HtmlSuites, LinkCases_WhereAStandardParserAgrees) {
  if (!test::suite_exists("html/link_cases.json")) GTEST_SKIP() << "link_cases.json is not there";
  const json cases = suite("link_cases.json").at("cases");
  std::size_t judged = 0;
  for (const json& c : cases) {
    if (c.value("oracle_agrees", json()) != true || !c.value("expect_nav", json()).is_array()) continue;
    const std::string charset =
        c.contains("encoding") && c.at("encoding").is_string() ? c.at("encoding").get<std::string>() : "utf-8";
    std::string page;
    if (c.contains("html_file") && c.at("html_file").is_string()) {
      page = test::read_file(test::suite_path("html/" + c.at("html_file").get<std::string>()));
    } else if (charset == "utf-8") {
      page = c.at("html");
    } else {
      // The suite gives it as UTF-8; latin-1 and similar charsets have one byte for each character below U+0100.
      const std::string utf8 = c.at("html");
      for (std::size_t i = 0; i < utf8.size(); ++i) {
        const auto lead = static_cast<unsigned char>(utf8[i]);
        if (lead < 0x80) {
          page += utf8[i];
        } else {
          ASSERT_TRUE(lead == 0xC2 || lead == 0xC3) << c.at("id");
          page += static_cast<char>((lead & 3) << 6 | (static_cast<unsigned char>(utf8[++i]) & 0x3F));
        }
      }
    }
    EXPECT_EQ(links_of(c.at("base_url"), page, charset), http_without_fragments(c.at("expect_nav"))) << c.at("id");
    ++judged;
  }
  EXPECT_EQ(judged, 48u);
}

TEST(HtmlSuites, WebPlatformTests_MetaRefresh) {
  if (!test::suite_exists("html/meta_refresh_wpt.json")) GTEST_SKIP() << "meta_refresh_wpt.json is not there";
  const json given = suite("meta_refresh_wpt.json");
  const auto base = Url::parse(given.at("base_url").get<std::string>());
  ASSERT_TRUE(base);
  EXPECT_EQ(given.at("cases").size(), 69u);
  for (const json& c : given.at("cases")) {
    const auto refresh = html::parse_refresh(c.at("content").get<std::string>());
    ASSERT_EQ(refresh.has_value(), c.at("valid").get<bool>()) << c;
    if (!refresh) continue;
    EXPECT_EQ(refresh->delay_seconds, c.at("delay").get<std::uint32_t>()) << c;
    EXPECT_EQ(refresh->url.empty(), c.at("url").get<std::string>().empty()) << c;
    const auto url = Url::parse(refresh->url, &*base);
    ASSERT_TRUE(url) << c;
    EXPECT_EQ(url->href(), c.at("resolved").get<std::string>()) << c;
  }
}

TEST(HtmlSuites, Html5libEncoding) {
  if (!test::suite_exists("html/encoding_html5lib.json")) GTEST_SKIP() << "encoding_html5lib.json is not there";
  const json cases = suite("encoding_html5lib.json").at("cases");
  EXPECT_EQ(cases.size(), 82u);
  for (const json& c : cases) {
    const std::string bytes = base64_decoded(c.at("data_b64"));
    DecodedText text;
    decode_html(bytes, "", text);
    EXPECT_EQ(text.charset, c.at("expected").get<std::string>()) << c.at("id");
    // The prescan alone, which stops at 1024 bytes, agrees with the reference sniffer.
    std::size_t bom_bytes = 0;
    auto sniffed = html::charset_from_bom(bytes, bom_bytes);
    if (!sniffed) sniffed = html::charset_from_prescan(bytes);
    EXPECT_EQ(sniffed.value_or("windows-1252"), c.at("sniffer").get<std::string>()) << c.at("id");
  }
}

// The URLs of Scrapy's own tests of its link extractor (tests/test_linkextractors.py), only navigation links.
std::vector<std::string> scrapy_links(const std::string& page, const std::string& content_type) {
  const auto report = links_report(test::read_file(test::suite_path("html/scrapy_link_extractor/" + page)),
                                   "http://example.com/index.html", content_type, ParserKind::stream);
  std::vector<std::string> urls;
  for (const auto& link : report.at("links")) {
    const std::string url = link.at("url");
    if (std::find(urls.begin(), urls.end(), url) == urls.end()) urls.push_back(url);
  }
  return urls;
}

TEST(HtmlSuites, ScrapyLinkExtractor_SameLinks) {
  if (!test::suite_exists("html/scrapy_link_extractor/linkextractor.html"))
    GTEST_SKIP() << "set ORBWEAVER_SUITES to the outside suites";
  EXPECT_EQ(scrapy_links("linkextractor.html", ""),
            (std::vector<std::string>{"http://example.com/sample1.html", "http://example.com/sample2.html",
                                      "http://example.com/sample3.html", "http://www.google.com/something",
                                      "http://example.com/innertag.html", "http://example.com/page%204.html"}));
  EXPECT_EQ(
      scrapy_links("linkextractor_noenc.html", ""),
      (std::vector<std::string>{"http://example.com/sample_%C3%B1.html", "http://example.com/sample_%E2%82%AC.html"}));
  const std::vector<std::string> latin1 = {"http://example.com/sample_%C3%B1.html",
                                           "http://example.com/sample_%C3%A1.html",
                                           "http://example.com/sample_%C3%B6.html?price=%A332&%B5=unit"};
  EXPECT_EQ(scrapy_links("linkextractor_latin1_truebytes.html", ""), latin1);
  EXPECT_EQ(scrapy_links("linkextractor_latin1_truebytes.html", "text/html; charset=iso-8859-1"), latin1);
  EXPECT_EQ(scrapy_links("linkextractor_no_href.html", ""),
            (std::vector<std::string>{"http://example.com/author/Albert-Einstein", "http://example.com/page/1/",
                                      "http://example.com/page/3/", "http://example.com/page/4/"}));
}

TEST(LinksCommand, ReportSaysWhatThePageSays) {
  const std::string page =
      "<html lang=en><title>T</title><base href=/b/><meta name=robots content=noindex><a href=x>x</a><a rel=nofollow "
      "href=y>y</a>"
      "<a href=mailto:z>z</a><a href=http://[>!</a>";
  const json stream = links_report(page, "http://d.test/", "text/html; charset=utf-8", ParserKind::stream);
  EXPECT_EQ(stream.at("base"), "http://d.test/b/");
  EXPECT_EQ(stream.at("charset"), "utf-8");
  EXPECT_EQ(stream.at("links"), json::array({{{"url", "http://d.test/b/x"}, {"kind", "a"}, {"nofollow", false}},
                                             {{"url", "http://d.test/b/y"}, {"kind", "a"}, {"nofollow", true}}}));
  EXPECT_EQ(stream.at("skipped"), (json{{"scheme", 1}, {"malformed", 1}}));
  EXPECT_EQ(stream.at("meta"), (json{{"nofollow", false}, {"noindex", true}}));
  EXPECT_FALSE(stream.contains("title"));
  const json tidy = links_report(page, "http://d.test/", "", ParserKind::tidy);
  EXPECT_EQ(tidy.at("links"), stream.at("links"));
  EXPECT_EQ(tidy.at("title"), "T");
  EXPECT_EQ(tidy.at("language"), "en");
  EXPECT_TRUE(links_report(page, "no url", "", ParserKind::stream).contains("error"));
}

TEST(LinksCommand, BatchAnswersEachLineAndTellsBadOnes) {
  std::istringstream in(
      "nonsense\n{}\n{\"base_url\":\"x\",\"html_b64\":\"\"}\n{\"base_url\":\"http://a/\",\"html_b64\":\"*\"}\n"
      "{\"base_url\":\"http://a/\",\"html_b64\":\"PGEgaHJlZj14Pg==\",\"charset\":null}\n");
  std::ostringstream out;
  EXPECT_EQ(links_batch(in, out, ParserKind::stream), 2);
  std::istringstream answers(out.str());
  std::string line;
  for (int i = 0; i < 4; ++i) {
    ASSERT_TRUE(std::getline(answers, line));
    EXPECT_TRUE(json::parse(line).contains("error")) << line;
  }
  ASSERT_TRUE(std::getline(answers, line));
  EXPECT_EQ(line, "{\"links\":[\"http://a/x\"]}");
}

}  // namespace
}  // namespace orbweaver
