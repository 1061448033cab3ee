// The URL parser, canonicaliser and SURT against outside suites (web-platform-tests, RFC 3986, iipc/urlcanon,
// crawler-commons).
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>

#include "node/charset/charset.h"
#include "node/terminal/json_line.h"
#include "node/url/canonical_url.h"
#include "node/url/surt.h"
#include "node/url/url.h"
#include "tests/unit/suites.h"

namespace orbweaver {
namespace {

using Json = nlohmann::json;

// Nothing when the suites are absent.
std::optional<Json> load_suite(const std::string& name) {
  if (!test::suite_exists("url/" + name)) return std::nullopt;
  return parse_json(test::read_file(test::suite_path("url/" + name)));
}

#define LOAD_SUITE(suite, name)                                                                 \
  const std::optional<Json> suite##_file = load_suite(name);                                    \
  if (!suite##_file) GTEST_SKIP() << "set ORBWEAVER_SUITES to the outside suites: no " << name; \
  const Json& suite = *suite##_file

std::optional<std::string> text_of(const Json& value) {
  return value.is_string() ? std::optional(value.get<std::string>()) : std::nullopt;
}

// The serialisation; nothing when the URL or the base fails.
std::optional<std::string> href(const std::string& input, const std::optional<std::string>& base = std::nullopt) {
  Result<Url> base_url;
  if (base) base_url = Url::parse(*base);
  if (!base_url) return std::nullopt;
  const Result<Url> url = Url::parse(input, base ? &*base_url : nullptr);
  return url ? std::optional(url->href()) : std::nullopt;
}

// The host of "https://INPUT/x", as the toascii test of web-platform-tests requires.
std::optional<std::string> to_ascii(const std::string& input) {
  const Result<Url> url = Url::parse("https://" + input + "/x");
  return url ? url->host() : std::nullopt;
}

void expect_url_cases(const Json& cases, std::size_t at_least) {
  std::size_t checked = 0;
  for (const Json& item : cases) {
    if (!item.is_object()) continue;
    const std::string input = item.at("input");
    const std::optional<std::string> base = item.contains("base") ? text_of(item.at("base")) : std::nullopt;
    const std::optional<std::string> expected = item.contains("href") ? text_of(item.at("href")) : std::nullopt;
    EXPECT_EQ(href(input, base), expected) << "input " << input << " base " << base.value_or("null");
    ++checked;
  }
  EXPECT_GE(checked, at_least);
}

TEST(UrlSuites, Wpt_UrlTestDataHttpOnly) {
  LOAD_SUITE(cases, "urltestdata_http_only.json");
  expect_url_cases(cases, 504);
}

TEST(UrlSuites, Wpt_UrlTestDataAllSchemes) {
  LOAD_SUITE(cases, "urltestdata.json");
  expect_url_cases(cases, 891);
}

// The parts of a URL, where the suite lists them ("port" there is text, "protocol" ends in ':').
TEST(UrlSuites, Wpt_UrlTestDataParts) {
  LOAD_SUITE(cases, "urltestdata.json");
  std::size_t checked = 0;
  for (const Json& item : cases) {
    if (!item.is_object() || !item.contains("href")) continue;
    Result<Url> base;
    if (item.at("base").is_string()) base = Url::parse(item.at("base").get<std::string>());
    ASSERT_TRUE(base);
    const Result<Url> url =
        Url::parse(item.at("input").get<std::string>(), item.at("base").is_string() ? &*base : nullptr);
    ASSERT_TRUE(url) << item.dump();
    EXPECT_EQ(url->scheme() + ":", item.at("protocol"));
    EXPECT_EQ(url->username(), item.at("username"));
    EXPECT_EQ(url->password(), item.at("password"));
    EXPECT_EQ(url->host().value_or(""), item.at("hostname"));
    EXPECT_EQ(url->port() ? std::to_string(*url->port()) : "", item.at("port"));
    EXPECT_EQ(url->path(), item.at("pathname"));
    const std::string query = url->query().value_or("");
    EXPECT_EQ(query.empty() ? "" : "?" + query, item.at("search"));
    const std::string fragment = url->fragment().value_or("");
    EXPECT_EQ(fragment.empty() ? "" : "#" + fragment, item.at("hash"));
    ++checked;
  }
  EXPECT_GE(checked, 500u);
}

// URL standard, 4.5: the parser reads a serialised URL as the same URL.
TEST(UrlSuites, Wpt_SerialisationParsesToItself) {
  LOAD_SUITE(cases, "urltestdata.json");
  for (const Json& item : cases) {
    if (!item.is_object() || !item.contains("href")) continue;
    const std::string text = item.at("href");
    EXPECT_EQ(href(text), text);
  }
}

TEST(UrlSuites, Rfc3986_5_4_ReferenceResolution) {
  LOAD_SUITE(suite, "rfc3986_5_4.json");
  for (const Json& item : suite.at("cases")) {
    EXPECT_EQ(href(item.at("ref"), suite.at("base")), text_of(item.at("expected"))) << item.dump();
  }
}

TEST(UrlSuites, Wpt_ToAscii) {
  LOAD_SUITE(cases, "toascii.json");
  for (const Json& item : cases) {
    if (!item.is_object()) continue;
    EXPECT_EQ(to_ascii(item.at("input")), text_of(item.at("output"))) << item.dump();
  }
}

TEST(UrlSuites, Wpt_IdnaTestV2) {
  LOAD_SUITE(cases, "IdnaTestV2.json");
  const std::set<std::string> differences = test::listed_differences("url/IdnaTestV2.json");
  EXPECT_EQ(differences.size(), 3u);
  std::size_t checked = 0;
  for (const Json& item : cases) {
    if (!item.is_object() || item.at("input") == "") continue;
    const std::optional<std::string> expected = text_of(item.at("output"));
    const std::optional<std::string> got = to_ascii(item.at("input"));
    ++checked;
    if (differences.contains(item.at("input").get<std::string>())) {
      EXPECT_NE(got, expected) << "it agrees: take it off the list: " << item.dump();
    } else {
      EXPECT_EQ(got, expected) << item.dump();
    }
  }
  EXPECT_GE(checked, 2670u);
}

TEST(UrlSuites, Wpt_PercentEncodingInEveryCharset) {
  LOAD_SUITE(cases, "percent-encoding.json");
  const Result<Url> base = Url::parse("https://doesnotmatter.invalid/");
  std::size_t checked = 0;
  for (const Json& item : cases) {
    if (!item.is_object()) continue;
    for (const auto& [charset, expected] : item.at("output").items()) {
      const auto encoder = make_query_encoder(charset);
      EXPECT_EQ(encoder == nullptr, charset == "utf-8");
      const Result<Url> url = Url::parse("?" + item.at("input").get<std::string>(), &*base, encoder.get());
      ASSERT_TRUE(url);
      EXPECT_EQ(url->query(), text_of(expected)) << charset << " " << item.dump();
      ++checked;
    }
  }
  EXPECT_EQ(checked, 16u);
}

TEST(UrlSuites, Urlcanon_FunkyIpv4) {
  LOAD_SUITE(cases, "urlcanon/funky_ipv4.json");
  for (const auto& [input, output] : cases.items()) {
    const std::optional<std::string> got = to_ascii(input);
    // Where urlcanon finds no address, the standard fails or, where the host does not end in a number, keeps a name.
    if (output.is_string()) {
      EXPECT_EQ(got, text_of(output)) << input;
    } else if (got) {
      EXPECT_EQ(*got, input);
    }
  }
}

// urlcanon keeps '\\', which the standard treats as '/'.
TEST(UrlSuites, Urlcanon_PathDots) {
  LOAD_SUITE(cases, "urlcanon/path_dots.json");
  for (const auto& [input, output] : cases.at("special").items()) {
    std::string expected = output;
    std::replace(expected.begin(), expected.end(), '\\', '/');
    EXPECT_EQ(href("http://example.com" + input), "http://example.com" + expected) << input;
  }
}

// The Internet Archive's keys of http URLs; URLs of other schemes have no CanonicalUrl.
TEST(UrlSuites, Urlcanon_DefaultIaSurtIsTheCdxKey) {
  LOAD_SUITE(suite, "urlcanon/surt.json");
  std::size_t checked = 0;
  for (const auto& [input, output] : suite.at("defaultIASurt").items()) {
    if (!input.starts_with("http")) continue;
    const Result<CanonicalUrl> url = CanonicalUrl::parse(input);
    ASSERT_TRUE(url);
    EXPECT_EQ(cdx_key(*url), output);
    ++checked;
  }
  EXPECT_GE(checked, 8u);
}

// urlcanon's SURT keeps user, fragment and an empty path; ours is made of a canonical URL, which has none of them. For
// the rest of the URL both must agree.
TEST(UrlSuites, Urlcanon_SurtWithoutSchemeOrTrailingComma) {
  LOAD_SUITE(suite, "urlcanon/ssurt.json");
  for (const auto& [input, output] : suite.at("surtWithoutTrailingComma").items()) {
    std::string expected = output.get<std::string>().substr(std::string("http://(").size());
    expected = expected.substr(0, expected.find('#'));
    const std::size_t end = expected.find(')') + 1;
    if (end == expected.size() || expected[end] != '/') expected.insert(end, "/");
    const Result<CanonicalUrl> url = CanonicalUrl::parse(input);
    ASSERT_TRUE(url);
    EXPECT_EQ(surt(*url), expected);
  }
}

// The same with a comma after the last label, which ours does not have (tests/spec/differences.tsv).
TEST(UrlSuites, Urlcanon_SurtButForItsTrailingComma) {
  LOAD_SUITE(suite, "urlcanon/ssurt.json");
  std::size_t checked = 0;
  for (const char* form : {"surt", "surtWithoutScheme"}) {
    for (const auto& [input, output] : suite.at(form).items()) {
      if (!input.starts_with("http")) continue;
      std::string expected = output;
      if (expected.starts_with("http://(")) expected.erase(0, std::string("http://(").size());
      expected = expected.substr(0, expected.find('#'));
      const std::size_t comma = expected.find_last_of(',');
      if (comma != std::string::npos && (expected[comma + 1] == ':' || expected[comma + 1] == ')'))
        expected.erase(comma, 1);
      const std::size_t end = expected.find(')') + 1;
      if (end == expected.size() || expected[end] != '/') expected.insert(end, "/");
      EXPECT_EQ(surt(*CanonicalUrl::parse(input)), expected);
      ++checked;
    }
  }
  EXPECT_EQ(checked, 12u);
}

// The Internet Archive's key of a host, a path and a query, each by itself.
TEST(UrlSuites, Urlcanon_PartsOfTheIaSurtAreInTheCdxKey) {
  LOAD_SUITE(suite, "urlcanon/surt.json");
  const auto key = [](const std::string& text) { return cdx_key(*CanonicalUrl::parse(text)); };
  for (const auto& [host, massaged] : suite.at("massageHost").items())
    EXPECT_EQ(key("http://" + host + "/"), surt(*CanonicalUrl::parse("http://" + massaged.get<std::string>()))) << host;
  for (const auto& [path, stripped] : suite.at("stripPathSessionId").items())
    EXPECT_EQ(key("http://h" + path), key("http://h" + stripped.get<std::string>())) << path;
  for (const auto& [query, sorted] : suite.at("alphaRorderQuery").items())
    EXPECT_EQ(key("http://h/?" + query), query.empty() ? "h)/" : "h)/?" + sorted.get<std::string>());
}

}  // namespace
}  // namespace orbweaver
