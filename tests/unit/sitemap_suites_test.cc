// The outside suite for sitemaps: 51 documents as crawler-commons' parser read them. Each entry that it read must be
// read here, with its date. Entries that only our parser reads are listed with the reason.
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "node/sitemap/sitemap.h"
#include "node/text/web_date.h"
#include "tests/unit/suites.h"

namespace orbweaver {
namespace {

using nlohmann::json;

std::string canonical(const std::string& url) {
  const Result<CanonicalUrl> parsed = CanonicalUrl::parse(url);
  return parsed ? parsed->text() : "unreadable: " + url;
}

std::string expected_kind(const json& c) {
  static const std::map<std::string, std::string> names{
      {"XML", "urlset"}, {"INDEX", "index"}, {"TEXT", "text"}, {"RSS", "rss"}, {"ATOM", "atom"}};
  return c.at("type").is_string() ? names.at(c["type"].get<std::string>()) : "";
}

// Entries beyond the recorded ones, by case. Their parser was strict on purpose. Here a sitemap's location does not
// restrict the URLs that it may list (the crawl's scope does), and entries before a fault are kept.
const std::map<std::string, std::size_t> beyond{
    {"sm-007", 3},  // the file is well-formed, but the recording has none of its three
    {"sm-018", 1},  // before an end tag that closes nothing
    {"sm-034", 1},  // above the sitemap's directory
    {"sm-045", 2},  // another namespace
};

TEST(SitemapSuites, CrawlerCommons_EveryEntryIsRead) {
  const std::string name = "sitemaps/crawler_commons_sitemaps.json";
  if (!test::suite_exists(name)) GTEST_SKIP() << "no " << test::suite_path(name) << " (set ORBWEAVER_SUITES)";
  std::size_t documents = 0;
  std::size_t entries = 0;
  const json suite = json::parse(test::read_file(test::suite_path(name)));
  const std::set<std::string> lacking = test::listed_differences(name);  // one entry each
  for (const json& c : suite.at("cases")) {
    const std::string id = c.at("id");
    const std::string body = test::read_file(test::suite_path("sitemaps/" + c.at("file").get<std::string>()));
    ASSERT_FALSE(body.empty()) << id;
    const std::string type = c.at("content_type").is_string() ? c["content_type"].get<std::string>() : "";
    const Sitemap sitemap = read_sitemap(body, type);
    const Result<Url> location = Url::parse(c.at("url").get<std::string>());
    ASSERT_TRUE(location) << id;
    ++documents;
    if (const std::string kind = expected_kind(c); !kind.empty()) {
      EXPECT_EQ(sitemap_kind_name(sitemap.kind), kind) << id;
      // A text is recognised by its type, where the type is right.
      EXPECT_EQ(looks_like_sitemap(body, type), type != "application/bogus") << id;
    }
    std::map<std::string, std::optional<Time>> read;
    for (const SitemapEntry& entry : sitemap.entries) {
      const SitemapUrls one = resolve_entries(Sitemap{sitemap.kind, {entry}, false, false, {}}, *location);
      ASSERT_EQ(one.urls.size(), 1u) << id << " " << entry.url;
      read[one.urls.front().text()] = entry.lastmod;
    }
    std::size_t lacks = 0;
    for (const json& wanted : c.at("entries")) {
      ++entries;
      const auto found = read.find(canonical(wanted.at("url")));
      if (found == read.end() && lacking.contains(id)) {
        ++lacks;
        continue;
      }
      ASSERT_NE(found, read.end()) << id << " lacks " << wanted;
      std::optional<Time> lastmod;
      if (wanted.at("lastmod").is_string()) lastmod = parse_w3c_date(wanted["lastmod"].get<std::string>());
      EXPECT_EQ(lastmod.has_value(), wanted.at("lastmod").is_string()) << id;
      EXPECT_EQ(found->second, lastmod) << id << " " << wanted;
    }
    const auto more = beyond.find(id);
    EXPECT_EQ(lacks, lacking.contains(id) ? 1u : 0u) << id;
    EXPECT_EQ(read.size() + lacks, c.at("entries").size() + (more == beyond.end() ? 0 : more->second)) << id;
    if (c.at("error").is_string() && id != "sm-045") {
      EXPECT_NE(sitemap.problem, "") << id;
    }
  }
  EXPECT_EQ(documents, 51u);
  EXPECT_EQ(entries, 226u);
}

}  // namespace
}  // namespace orbweaver
