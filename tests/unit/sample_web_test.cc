// The sample web: the same seed gives the same web, and its shapes are as promised. Its list of pages that a correct
// crawler fetches equals the findings of a walker. The walker reads pages with a simple scanner and knows robots.txt
// only as far as this web needs it.
#include "node/sampleweb/sample_web.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <deque>
#include <map>
#include <numeric>

#include "node/sampleweb/sample_counts.h"
#include "node/sampleweb/sample_extras.h"
#include "node/sampleweb/sample_text.h"

namespace orbweaver::sample {
namespace {

SampleWebShape shape_of(std::uint64_t seed, unsigned hosts, unsigned pages, bool calm = false) {
  SampleWebShape shape;
  shape.seed = seed;
  shape.hosts = hosts;
  shape.pages = pages;
  shape.port = 8080;
  shape.calm = calm;
  return shape;
}

// --- The slow, obvious twin: a scanner that blanks comments and raw text, then reads attributes; a resolver for the
// links of this web. ---

std::string lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

void blank(std::string& html, const std::string& open, const std::string& close) {
  for (std::size_t at = 0;;) {
    const std::string folded = lower(html);
    at = folded.find(open, at);
    if (at == std::string::npos) return;
    const std::size_t end = std::min(folded.find(close, at), html.size());
    std::fill(html.begin() + static_cast<std::ptrdiff_t>(at), html.begin() + static_cast<std::ptrdiff_t>(end), ' ');
    at = end;
  }
}

std::string unescaped(std::string text) {
  for (const auto& [from, to] : {std::pair<std::string, std::string>{"&amp;", "&"}, {"&quot;", "\""}}) {
    for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + 1)) {
      text.replace(at, from.size(), to);
    }
  }
  return text;
}

struct Tag {
  std::string name;
  std::map<std::string, std::string> attributes;
};

std::vector<Tag> tags_of(std::string html) {
  blank(html, "<!--", "-->");
  for (const std::string name : {"script", "style", "textarea", "title"}) blank(html, "<" + name, "</" + name);
  const auto space = [](char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; };
  std::vector<Tag> tags;
  std::size_t i = 0;
  while ((i = html.find('<', i)) != std::string::npos) {
    ++i;
    if (i >= html.size() || !std::isalpha(static_cast<unsigned char>(html[i]))) continue;
    Tag tag;
    while (i < html.size() && std::isalnum(static_cast<unsigned char>(html[i]))) tag.name += html[i++];
    tag.name = lower(tag.name);
    while (i < html.size() && html[i] != '>') {
      while (i < html.size() && (space(html[i]) || html[i] == '/')) ++i;
      std::string name;
      while (i < html.size() && !space(html[i]) && html[i] != '=' && html[i] != '>') name += html[i++];
      while (i < html.size() && space(html[i])) ++i;
      std::string value;
      if (i < html.size() && html[i] == '=') {
        ++i;
        while (i < html.size() && space(html[i])) ++i;
        const char quote = html[i] == '"' || html[i] == '\'' ? html[i++] : ' ';
        while (i < html.size() && (quote == ' ' ? !space(html[i]) && html[i] != '>' : html[i] != quote))
          value += html[i++];
        if (quote != ' ') ++i;
      }
      if (!name.empty()) tag.attributes.emplace(lower(name), unescaped(value));
    }
    tags.push_back(tag);
  }
  return tags;
}

// The UTF-8 of the path bytes above 0x7F, as the page's charset decodes them: this web uses only these.
std::string utf8_escapes(const std::string& bytes) {
  static const std::map<std::string, std::string> known{{"\xef\xe0\xf3\xea", "%D0%BF%D0%B0%D1%83%D0%BA"},
                                                        {"\xed\xe8\xf2\xfc", "%D0%BD%D0%B8%D1%82%D1%8C"},
                                                        {"\x82\xad\x82\xe0", "%E3%81%8F%E3%82%82"},
                                                        {"\x82\xa2\x82\xc6", "%E3%81%84%E3%81%A8"},
                                                        {"\xe4", "%C3%A4"},
                                                        {"\xf6\xdf", "%C3%B6%C3%9F"}};
  return known.at(bytes);
}

std::string escaped(const std::string& text) {
  const std::size_t query = std::min(text.find('?'), text.size());
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte < 0x80) {
      out += text[i++];
      continue;
    }
    std::string run;
    while (i < text.size() && static_cast<unsigned char>(text[i]) >= 0x80) run += text[i++];
    if (i <= query) {
      out += utf8_escapes(run);
    } else {
      for (const char c : run) {
        char hex[4];
        std::snprintf(hex, sizeof hex, "%%%02X", static_cast<unsigned char>(c));
        out += hex;
      }
    }
  }
  return out;
}

void replace_all(std::string& text, const std::string& from, const std::string& to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at))
    text.replace(at, from.size(), to);
}

std::string resolved(std::string link, const std::string& base) {
  std::erase_if(link, [](char c) { return c == '\n' || c == '\t'; });
  while (!link.empty() && link.front() == ' ') link.erase(0, 1);
  while (!link.empty() && link.back() == ' ') link.pop_back();
  link.resize(std::min(link.find('#'), link.size()));
  std::replace(link.begin(), link.end(), '\\', '/');
  const std::string base_host = base.substr(7, base.find('/', 7) - 7);
  std::string host = base_host;
  std::string path = link;
  if (lower(link).starts_with("http://")) path = link.substr(5);
  if (path.starts_with("//")) {
    host = lower(path.substr(2, path.find('/', 2) - 2));
    replace_all(host, ":0", ":");
    path.erase(0, path.find('/', 2));
  } else if (!path.starts_with("/")) {
    const std::string base_path = base.substr(7 + base_host.size());
    const std::string directory = base_path.substr(0, base_path.find('?'));
    path = directory.substr(0, directory.rfind('/') + 1) + path;
  }
  replace_all(path, "%7E", "~");
  replace_all(path, "%7e", "~");
  replace_all(path, "%61", "a");
  replace_all(path, "%70", "p");
  replace_all(path, "%2e", ".");
  replace_all(path, "%2E", ".");
  std::string query = path.substr(std::min(path.find('?'), path.size()));
  if (query == "?") query.clear();
  path.resize(std::min(path.find('?'), path.size()));
  std::vector<std::string> parts;
  for (std::size_t at = 1; at <= path.size();) {
    const std::size_t end = std::min(path.find('/', at), path.size());
    const std::string part = path.substr(at, end - at);
    const bool last = end == path.size();
    if (part == "..") {
      if (!parts.empty()) parts.pop_back();
      if (last) parts.emplace_back();
    } else if (part != "." || last) {
      parts.push_back(part == "." ? "" : part);
    }
    at = end + 1;
  }
  std::string out = "http://" + host;
  for (const std::string& part : parts) out += "/" + part;
  const std::size_t path_at = 7 + host.size();
  return out.substr(0, path_at) + escaped(out.substr(path_at) + query);
}

std::vector<std::string> links_of(const SampleAnswer& answer, const std::string& url) {
  std::vector<std::string> out;
  for (const auto& [name, value] : answer.headers) {
    if (name == "Location") out.push_back(resolved(value, url));
  }
  if (!answer.content_type.starts_with("text/html")) return out;
  std::string base = url;
  for (const Tag& tag : tags_of(answer.body)) {
    const auto get = [&tag](const std::string& name) {
      const auto found = tag.attributes.find(name);
      return found == tag.attributes.end() ? std::string() : found->second;
    };
    if (tag.name == "base") base = resolved(get("href"), url);
    const bool linking = tag.name == "a" || tag.name == "area" || (tag.name == "link" && get("rel") == "next");
    if (linking && tag.attributes.contains("href")) out.push_back(resolved(get("href"), base));
    if (tag.name == "iframe") out.push_back(resolved(get("src"), base));
    if (tag.name == "meta" && lower(get("http-equiv")) == "refresh") {
      const std::string content = get("content");
      const std::size_t open = content.find('\'');
      out.push_back(resolved(content.substr(open + 1, content.rfind('\'') - open - 1), base));
    }
  }
  return out;
}

// Disallow and Allow of the '*' group; the longest prefix wins; this web has no wildcards.
bool robots_allow(const std::string& robots, const std::string& path) {
  const std::size_t group = robots.find("User-agent: *");
  std::size_t best = 0;
  bool allowed = true;
  for (std::size_t at = group; at < robots.size();) {
    const std::size_t end = std::min(robots.find('\n', at), robots.size());
    std::string line = robots.substr(at, end - at);
    line.resize(std::min(line.find(" #"), line.size()));
    while (line.ends_with(' ')) line.pop_back();
    const bool allow = line.starts_with("Allow: ");
    if (allow || line.starts_with("Disallow: ")) {
      const std::string rule = line.substr(line.find(' ') + 1);
      if (path.starts_with(rule) && rule.size() > best) {
        best = rule.size();
        allowed = allow;
      }
    }
    at = end + 1;
  }
  return allowed;
}

std::map<std::string, int> walk(const SampleWeb& web, std::size_t most) {
  std::map<std::string, int> fetched;  // URL -> last status
  std::deque<std::string> queue;
  for (const std::string& seed : web.seeds()) queue.push_back(seed);
  while (!queue.empty() && fetched.size() < most) {
    const std::string url = queue.front();
    queue.pop_front();
    if (fetched.contains(url)) continue;
    const std::size_t slash = url.find('/', 7);
    const auto host = web.host_of(url.substr(7, url.find(':', 7) - 7));
    const std::string path = url.substr(slash);
    if (!host || !robots_allow(robots_txt(web, *host), path)) continue;
    SampleAnswer answer = web.answer(*host, path, 0);
    if (answer.status == 500 || answer.status == 503 || answer.status == 429) answer = web.answer(*host, path, 1);
    fetched[url] = answer.status;
    for (std::string& link : links_of(answer, url)) queue.push_back(std::move(link));
  }
  return fetched;
}

std::set<std::string> urls_of(const std::map<std::string, int>& fetched) {
  std::set<std::string> out;
  for (const auto& [url, status] : fetched) out.insert(url);
  return out;
}

std::vector<std::string> minus(const std::set<std::string>& a, const std::set<std::string>& b) {
  std::vector<std::string> out;
  std::set_difference(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(out));
  return out;
}

// --- Tests ---

TEST(SampleWeb, SameSeedSameBytes) {
  const SampleWeb one(shape_of(7, 12, 300));
  const SampleWeb two(shape_of(7, 12, 300));
  for (unsigned host = 0; host < one.hosts(); ++host) {
    ASSERT_EQ(one.pages(host), two.pages(host));
    for (unsigned page = 0; page < one.pages(host); ++page) {
      const std::string path = one.page_path(host, page);
      EXPECT_EQ(one.answer(host, path, 0).body, two.answer(host, path, 0).body);
    }
  }
  EXPECT_EQ(one.expected(), two.expected());
}

TEST(SampleWeb, AnotherSeedAnotherWeb) {
  const SampleWeb one(shape_of(7, 12, 300));
  const SampleWeb two(shape_of(8, 12, 300));
  EXPECT_NE(one.answer(0, "/", 0).body, two.answer(0, "/", 0).body);
  EXPECT_NE(one.expected(), two.expected());
}

// Every process must get the same page, so its bytes must not depend on the machine, the order of calls or the
// compiler.
TEST(SampleWeb, PinnedPaths) {
  const SampleWeb web(shape_of(1, 20, 1000));
  std::vector<std::string> paths;
  for (unsigned page = 0; page < 5; ++page) paths.push_back(web.page_path(0, page));
  const std::vector<std::string> pinned{"/", "/without/1/", "/toward/2/", "/articles/great/candle-be.3",
                                        "/view?id=4&lang=de"};
  EXPECT_EQ(paths, pinned);
}

TEST(SampleWeb, PagesAddUpAndAreHeavyTailed) {
  for (const auto& [hosts, pages] : {std::pair{20U, 1000U}, {1U, 10U}, {50U, 50U}, {200U, 20000U}, {10U, 3U}}) {
    const SampleWeb web(shape_of(3, hosts, pages));
    std::vector<unsigned> counts;
    for (unsigned host = 0; host < web.hosts(); ++host) counts.push_back(web.pages(host));
    EXPECT_EQ(std::accumulate(counts.begin(), counts.end(), 0U), std::max(hosts, pages));
    EXPECT_GE(*std::min_element(counts.begin(), counts.end()), 1U);
  }
  const SampleWeb web(shape_of(3, 200, 20000));
  std::vector<unsigned> counts;
  for (unsigned host = 0; host < web.hosts(); ++host) counts.push_back(web.pages(host));
  std::sort(counts.rbegin(), counts.rend());
  EXPECT_GT(counts[0], 3000U);  // Zipf: 1 / H(200) = 17 %
  EXPECT_LT(counts[100], 60U);
}

TEST(SampleWeb, LinksAndSizesHaveTheShapesPromised) {
  const SampleWeb web(shape_of(5, 40, 4000, true));
  std::vector<std::size_t> links;
  std::vector<std::size_t> sizes;
  std::size_t inside = 0;
  std::size_t all = 0;
  for (unsigned host = 0; host < web.hosts(); ++host) {
    const std::string own = web.url(host, "/");
    for (unsigned page = 0; page < web.pages(host); ++page) {
      const auto found = web.page_links(host, page);
      links.push_back(found.size());
      all += found.size();
      for (const SampleLink& link : found) inside += link.url.starts_with(own) ? 1U : 0U;
      if (page % 4 == 0) sizes.push_back(web.answer(host, web.page_path(host, page), 0).body.size());
    }
  }
  std::sort(links.begin(), links.end());
  std::sort(sizes.begin(), sizes.end());
  const double mean_links = static_cast<double>(all) / static_cast<double>(links.size());
  const double mean_size = std::accumulate(sizes.begin(), sizes.end(), 0.0) / static_cast<double>(sizes.size());
  const double inside_share = static_cast<double>(inside) / static_cast<double>(all);
  EXPECT_GE(links[links.size() / 2], 17U);
  EXPECT_LE(links[links.size() / 2], 23U);
  EXPECT_GE(mean_links, 40);
  EXPECT_LE(mean_links, 60);
  EXPECT_GE(inside_share, 0.75);
  EXPECT_LE(inside_share, 0.88);
  EXPECT_GE(sizes[sizes.size() / 2], 8'000U);
  EXPECT_LE(mean_size, 25'000);
  EXPECT_GT(sizes.back(), 50'000U);
  ::testing::Test::RecordProperty("mean_links", static_cast<int>(mean_links));
  ::testing::Test::RecordProperty("mean_size", static_cast<int>(mean_size));
}

TEST(SampleWeb, PathsNameOnePageEach) {
  const SampleWeb web(shape_of(9, 15, 3000));
  std::set<std::string> urls;
  for (unsigned host = 0; host < web.hosts(); ++host) {
    for (unsigned page = 0; page < web.pages(host); ++page) {
      const std::string path = web.page_path(host, page);
      EXPECT_EQ(web.page_of(host, path), page) << path;
      urls.insert(web.url(host, path));
    }
    EXPECT_EQ(web.page_of(host, "/docs/9999999.html"), std::nullopt);
    EXPECT_EQ(web.page_of(host, "/view?id=99999999999999999999"), std::nullopt);
    EXPECT_EQ(web.page_of(host, ""), std::nullopt);
  }
  EXPECT_EQ(urls.size(), 3000U);
}

TEST(SampleWeb, HostNamesInAnyCase) {
  const SampleWeb web(shape_of(1, 1200, 1200));
  EXPECT_EQ(web.host_of("HOST-007.Sample.TEST"), 7U);
  EXPECT_EQ(web.host_of("host-1100.sample.test."), 1100U);
  for (const auto* wrong : {"", "host-", "host-7.sample.test", "host-1200.sample.test", "host-007.sample.testx", "x"}) {
    EXPECT_EQ(web.host_of(wrong), std::nullopt) << wrong;
  }
}

TEST(SampleWeb, WalkerFindsExactlyWhatIsExpected) {
  for (const auto& [seed, hosts, pages] :
       {std::tuple{1ULL, 20U, 1000U}, {2ULL, 1U, 60U}, {3ULL, 7U, 200U}, {4ULL, 33U, 500U}, {5ULL, 10U, 10U}}) {
    const SampleWeb web(shape_of(seed, hosts, pages));
    const auto fetched = urls_of(walk(web, 100'000));
    const auto expected = web.expected();
    EXPECT_EQ(minus(expected, fetched), std::vector<std::string>{}) << "not found, seed " << seed;
    EXPECT_EQ(minus(fetched, expected), std::vector<std::string>{}) << "not expected, seed " << seed;
    for (const std::string& url : fetched) {
      EXPECT_EQ(url.find("/fake/"), std::string::npos) << url;
      EXPECT_EQ(url.find("/calendar/"), std::string::npos) << url;
    }
  }
}

TEST(SampleWeb, EveryMishapIsThere) {
  const SampleWeb web(shape_of(1, 20, 1000));
  std::map<int, int> by_status;
  for (const auto& [url, status] : walk(web, 100'000)) ++by_status[status];
  for (const int status : {200, 301, 302, 303, 307, 308, 403, 404, 410}) EXPECT_GT(by_status[status], 0) << status;
  const unsigned healing = web.host_with(Feature::healing);
  for (const auto& [path, status] :
       {std::pair{"/busy/error.html", 500}, {"/busy/unavailable.html", 503}, {"/busy/too-many.html", 429}}) {
    EXPECT_EQ(web.answer(healing, path, 0).status, status);
    EXPECT_EQ(web.answer(healing, path, 1).status, 200);
    EXPECT_TRUE(web.expected_twice().contains(web.url(healing, path)));
  }
  EXPECT_GE(web.answer(web.host_with(Feature::slow), "/", 0).wait.count(), 150);
  EXPECT_EQ(web.answer(0, "/", 0).wait.count(), 0);
  EXPECT_NE(robots_txt(web, web.host_with(Feature::crawl_delay)).find("Crawl-delay: 1"), std::string::npos);
  EXPECT_NE(robots_txt(web, web.host_with(Feature::forbidden)).find("Sitemap: http://"), std::string::npos);
}

TEST(SampleWeb, CalmHasPagesOnly) {
  const SampleWeb web(shape_of(1, 20, 400, true));
  EXPECT_EQ(web.expected().size(), 400U);
  const auto fetched = walk(web, 100'000);
  EXPECT_EQ(urls_of(fetched), web.expected());
  for (const auto& [url, status] : fetched) EXPECT_EQ(status, 200) << url;
}

TEST(SampleWeb, OpenTrapHasNoEnd) {
  SampleWebShape shape = shape_of(1, 20, 100);
  shape.open_trap = true;
  const SampleWeb open(shape);
  EXPECT_EQ(walk(open, 5000).size(), 5000U);
  shape.forbidden_trap = true;
  const SampleWeb forbidden(shape);
  EXPECT_EQ(urls_of(walk(forbidden, 5000)), forbidden.expected());
}

TEST(SampleWeb, AnyPathIsAnswered) {
  const SampleWeb web(shape_of(1, 10, 100));
  for (const auto* path : {"", "?", "/calendar/", "/calendar/x", "/moved/chain-", "/moved/chain-9", "/moved/chain-/",
                           "/legacy/", "/busy/", "/docs/", "//", "/%", "/view?id=", "/private/"}) {
    for (unsigned host = 0; host < web.hosts(); ++host) {
      const int status = web.answer(host, path, 0).status;
      EXPECT_TRUE(status >= 200 && status < 600) << path;
    }
  }
}

TEST(SampleCounts, SmallestGapAndMostAtOnce) {
  using std::chrono::milliseconds;
  SampleCounts counts(2);
  const SampleCounts::Instant start{};
  EXPECT_EQ(counts.arrived("a", "u1", true, start), 0U);
  EXPECT_EQ(counts.arrived("a", "u1", false, start + milliseconds(30)), 1U);
  EXPECT_EQ(counts.arrived("b", "u2", false, start + milliseconds(31)), 0U);
  counts.answered("a");
  counts.answered("a");
  EXPECT_EQ(counts.arrived("a", "u3", false, start + milliseconds(50)), 0U);  // a third URL: above the bound
  EXPECT_EQ(counts.stats_json(),
            R"({"hosts":{"a":{"most_at_once":2,"requests":3,"robots_requests":1,"smallest_gap_ms":20.0},)"
            R"("b":{"most_at_once":1,"requests":1,"robots_requests":0,"smallest_gap_ms":null}},)"
            R"("total":4,"urls_not_kept":1})");
  EXPECT_EQ(counts.urls_json(), R"({"u1":2,"u2":1})");
  counts.reset();
  counts.answered("a");
  EXPECT_EQ(counts.urls_json(), "{}");
}

// Other tests pin the default web; with topics it has the same pages, but other links and words.
TEST(SampleTopics, PagesStandTogetherAndLinkTheirOwn) {
  SampleWebShape shape;
  shape.hosts = 20;
  shape.pages = 2000;
  shape.calm = true;
  shape.topics = 8;
  const SampleWeb web(shape);
  std::map<std::string, unsigned> topic_of;
  std::vector<unsigned> pages(shape.topics);
  for (unsigned host = 0; host < web.hosts(); ++host) {
    for (unsigned page = 0; page < web.pages(host); ++page) {
      const unsigned topic = web.topic(host, page);
      ASSERT_LT(topic, shape.topics);
      ++pages[topic];
      topic_of[web.url(host, web.page_path(host, page))] = topic;
    }
  }
  for (const unsigned count : pages) EXPECT_GT(count, 50u);
  std::size_t links = 0, own = 0;
  for (unsigned page = 0; page < web.pages(0); ++page) {
    for (const SampleLink& link : web.page_links(0, page)) {
      ++links;
      own += topic_of.at(link.url) == web.topic(0, page) ? 1 : 0;
      ASSERT_EQ(link.topic, topic_of.at(link.url));
    }
  }
  EXPECT_GT(own, links / 2) << "by chance it would be an eighth";
  EXPECT_LT(own, links);
}

TEST(SampleTopics, APageHasWordsOfItsTopicAlone) {
  SampleWebShape shape;
  shape.calm = true;
  shape.topics = 5;
  const SampleWeb web(shape);
  const unsigned topic = web.topic(0, 0);
  const std::string body = web.answer(0, "/", 0).body;
  std::vector<std::size_t> counts(shape.topics);
  for (unsigned other = 0; other < shape.topics; ++other)
    for (unsigned number = 0; number < topic_words_each; ++number)
      for (std::size_t at = body.find(topic_word(other, number)); at != std::string::npos;
           at = body.find(topic_word(other, number), at + 1))
        ++counts[other];
  EXPECT_GT(counts[topic], 20u);
  for (unsigned other = 0; other < shape.topics; ++other)
    if (other != topic) {
      EXPECT_LT(counts[other], counts[topic]) << "only in anchors of links that lead there";
    }
  EXPECT_EQ(body, web.answer(0, "/", 0).body);
}

}  // namespace
}  // namespace orbweaver::sample
