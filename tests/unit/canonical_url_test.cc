// The canonical form: each rule of canonical_url.cc; and the form is idempotent.
#include "node/url/canonical_url.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>
#include <vector>

#include "node/terminal/json_line.h"
#include "tests/unit/suites.h"

namespace orbweaver {
namespace {

std::string canonical(std::string_view text) {
  const Result<CanonicalUrl> url = CanonicalUrl::parse(text);
  return url ? url->text() : "refused";
}

// Split without parsing, the stored URL is the same, and so is the Url made from it.
void expect_taken_apart(const CanonicalUrl& url) {
  for (const auto& stored : {CanonicalUrl::of_stored(url.text()), CanonicalUrl::of_stored(url.text(), url.digest())}) {
    ASSERT_TRUE(stored) << url.text();
    ASSERT_EQ(*stored, url);
    ASSERT_EQ(stored->scheme(), url.scheme());
    ASSERT_EQ(stored->host(), url.host());
    ASSERT_EQ(stored->authority(), url.authority());
    ASSERT_EQ(stored->path_and_query(), url.path_and_query());
    ASSERT_EQ(stored->port(), url.port()) << url.text();
    ASSERT_EQ(stored->digest(), url.digest());
  }
  ASSERT_EQ(CanonicalUrl::host_in(url.text()), url.host());
  const Url made = url.as_url();
  const Result<Url> parsed = Url::parse(url.text());
  ASSERT_TRUE(parsed) << url.text();
  ASSERT_EQ(made.scheme(), parsed->scheme());
  ASSERT_EQ(made.host(), parsed->host());
  ASSERT_EQ(made.port(), parsed->port()) << url.text();
  ASSERT_EQ(made.path(), parsed->path());
  ASSERT_EQ(made.query(), parsed->query()) << url.text();
  ASSERT_EQ(made.fragment(), parsed->fragment());
  ASSERT_EQ(made.username() + made.password(), "");
  ASSERT_EQ(made.has_opaque_path(), parsed->has_opaque_path());
}

void expect_idempotent(const std::string& input) {
  const Result<CanonicalUrl> once = CanonicalUrl::parse(input);
  if (!once) return;
  const Result<CanonicalUrl> twice = CanonicalUrl::parse(once->text());
  ASSERT_TRUE(twice) << input << " gave " << once->text();
  ASSERT_EQ(twice->text(), once->text()) << input;
  ASSERT_EQ(twice->digest(), once->digest());
  ASSERT_EQ(twice->host(), once->host());
  ASSERT_EQ(twice->port(), once->port());
  expect_taken_apart(*once);
}

TEST(CanonicalUrl, PartsAreViewsOfTheText) {
  const Result<CanonicalUrl> url = CanonicalUrl::parse("http://u:p@Example.com:8080/a?b#c");
  ASSERT_TRUE(url);
  EXPECT_EQ(url->text(), "http://example.com:8080/a?b");
  EXPECT_EQ(url->scheme(), "http");
  EXPECT_EQ(url->host(), "example.com");
  EXPECT_EQ(url->authority(), "example.com:8080");
  EXPECT_EQ(url->origin(), "http://example.com:8080");
  EXPECT_EQ(url->path_and_query(), "/a?b");
  EXPECT_EQ(url->port(), 8080);
  EXPECT_EQ(url->digest(), ring::md5("http://example.com:8080/a?b"));
  EXPECT_EQ(url->host_digest(), ring::md5("example.com"));
}

TEST(CanonicalUrl, WhatIsStoredIsTakenApartAsItWasMade) {
  for (const char* text : {"http://h/", "https://h:1/a?b", "http://[::1]:8080/", "https://[2001:db8::1]/a:b?c:d",
                           "http://h/?a/b?c", "http://h/a?b=http://i:9/", "http://h:8080/@:x", "https://h:80/"})
    expect_taken_apart(*CanonicalUrl::parse(text));
  const CanonicalUrl url = *CanonicalUrl::parse("http://u:p@[::1]:8080/a/b?c/d");
  EXPECT_EQ(url.bare_host(), "::1");
  EXPECT_EQ(url.path(), "/a/b");
  EXPECT_FALSE(url.is_https());
  EXPECT_TRUE(CanonicalUrl::parse("https://h/")->is_https());
}

TEST(CanonicalUrl, BadInput_WhatHasNoPartsIsNotTakenApart) {
  for (const std::string text :
       {"", "http", "http://", "http:///", "https://", "http://h", "ftp://h/", "h/", "http://:1/"}) {
    EXPECT_FALSE(CanonicalUrl::of_stored(text)) << text;
    EXPECT_EQ(CanonicalUrl::host_in(text), "") << text;
  }
  EXPECT_FALSE(CanonicalUrl::of_stored("http://h/" + std::string(max_url_bytes, 'x')));
  // Damaged rows: no byte after the text is read.
  for (const std::string text : {"http://[::1/", "http://h:/", "http://h:x/", "http://h:99999/", "http://[/:"})
    if (const auto url = CanonicalUrl::of_stored(text)) {
      EXPECT_LE(url->host().size() + url->path_and_query().size(), text.size()) << text;
      (void)url->as_url();
    }
}

TEST(CanonicalUrl, EffectivePortIsTheSchemesOwn) {
  EXPECT_EQ(CanonicalUrl::parse("http://[::1]")->port(), 80);
  EXPECT_EQ(CanonicalUrl::parse("https://h/")->port(), 443);
  EXPECT_EQ(CanonicalUrl::parse("http://[::1]")->host(), "[::1]");
  EXPECT_EQ(CanonicalUrl::parse("http://[::1]")->text(), "http://[::1]/");
}

TEST(CanonicalUrl, OnlyHttpAndHttps) {
  EXPECT_EQ(canonical("ftp://h/"), "refused");
  EXPECT_EQ(canonical("mailto:a@h"), "refused");
  EXPECT_EQ(canonical("file:///a"), "refused");
  const Result<CanonicalUrl> url = CanonicalUrl::parse("ftp://h/");
  EXPECT_EQ(url.error().message, "URL 'ftp://h/': neither http nor https");
  EXPECT_EQ(url.error().code, ErrorCode::invalid_input);
}

TEST(CanonicalUrl, CredentialsFragmentAndEmptyQueryGo) {
  EXPECT_EQ(canonical("https://u:p@h/a?#f"), "https://h/a");
  EXPECT_EQ(canonical("https://h/a??"), "https://h/a??");
  EXPECT_EQ(canonical("https://h?"), "https://h/");
}

TEST(CanonicalUrl, OneTrailingDotOfTheHostGoes) {
  EXPECT_EQ(canonical("http://h.example./"), "http://h.example/");
  EXPECT_EQ(canonical("http://h.example.:81/"), "http://h.example:81/");
  EXPECT_EQ(canonical("http://127.1./"), "http://127.0.0.1/");
  EXPECT_EQ(canonical("http://h../"), "http://h../");
  EXPECT_EQ(canonical("http://./"), "refused");
}

TEST(CanonicalUrl, Rfc3986_6_2_2_UnreservedIsDecodedAndDigitsAreUpperCase) {
  EXPECT_EQ(canonical("http://h/%7euser/%61%2D%2e%5F%39"), "http://h/~user/a-._9");
  EXPECT_EQ(canonical("http://h/%2f%3a%c3%bc?%2b=%3d%7E"), "http://h/%2F%3A%C3%BC?%2B=%3D~");
  EXPECT_EQ(canonical("http://h/a%20b%25%32%35"), "http://h/a%20b%2525");
}

TEST(CanonicalUrl, DecodedDotsMakeNoDotSegments) {
  EXPECT_EQ(canonical("http://h/a/%2e%2E/b"), "http://h/b");
  EXPECT_EQ(canonical("http://h/a/.%2e"), "http://h/");
  EXPECT_EQ(canonical("http://h/a/%2e%2e%2e/b"), "http://h/a/.../b");
  EXPECT_EQ(canonical("http://h/a/%2ex/b?%2e%2E/"), "http://h/a/.x/b?../");
}

TEST(CanonicalUrl, StrayPercentSignsStayAndMakeNoNewEscapes) {
  EXPECT_EQ(canonical("http://h/100%?%zz"), "http://h/100%?%zz");
  EXPECT_EQ(canonical("http://h/%%34%31"), "http://h/%%341");
  EXPECT_EQ(canonical("http://h/%4%31"), "http://h/%4%31");
  EXPECT_EQ(canonical("http://h/%%41b"), "http://h/%%41b");
  EXPECT_EQ(canonical("http://h/%x%41"), "http://h/%xA");
  EXPECT_EQ(canonical("http://h/%xx%41"), "http://h/%xxA");
}

TEST(CanonicalUrl, WhatPagesMayTellApartStaysApart) {
  EXPECT_EQ(canonical("http://h/a//b/?b=1&a=2&"), "http://h/a//b/?b=1&a=2&");
  EXPECT_NE(canonical("http://h/x"), canonical("http://h/x/"));
  EXPECT_NE(canonical("http://h/A"), canonical("http://h/a"));
  EXPECT_NE(canonical("http://h/"), canonical("https://h/"));
}

TEST(CanonicalUrl, LengthIsBoundedInCanonicalForm) {
  const std::string stem = "http://h/";
  EXPECT_NE(canonical(stem + std::string(max_url_bytes - stem.size(), 'a')), "refused");
  EXPECT_EQ(canonical(stem + std::string(max_url_bytes - stem.size() + 1, 'a')), "refused");
  std::string escaped = stem;  // three times as long before it is decoded
  for (std::size_t i = stem.size(); i < max_url_bytes; ++i) escaped += "%61";
  EXPECT_EQ(canonical(escaped).size(), max_url_bytes);
  const Result<CanonicalUrl> longer = CanonicalUrl::parse(escaped + "b");
  ASSERT_FALSE(longer);
  EXPECT_LT(longer.error().message.size(), 300u);
}

TEST(CanonicalUrl, Property_IdempotentOnGeneratedUrls) {
  std::mt19937 random(42);
  const std::vector<std::string> pieces = {
      "%", "%2", "%4", "%41", "%34", "%31", "%2e", "%2E", "%25", "%7e",      "%7E",  "%c3%bc", "%2f", "4", "1",  "a",
      "/", "//", "/.", "/..", ".",   "?",   "&",   "=",   "#",   "\xc3\xbc", "\xff", " ",      "'",   "|", "\\", "~"};
  const std::vector<std::string> hosts = {"h",
                                          "H.",
                                          "a..",
                                          "xn--a.",
                                          "b\xc3\xbc"
                                          "cher.de.",
                                          "1.2.3.4.",
                                          "[1::2]",
                                          "0x7f.1",
                                          "u:p@h:81",
                                          "%41.b%2e"};
  for (int round = 0; round < 200000; ++round) {
    std::string text = "http://" + hosts[random() % hosts.size()] + "/";
    for (auto left = random() % 10; left > 0; --left) text += pieces[random() % pieces.size()];
    expect_idempotent(text);
    if (HasFatalFailure()) return;
  }
}

// All texts of a suite, including keys of objects.
void collect_texts(const nlohmann::json& value, std::vector<std::string>& texts) {
  if (value.is_string()) texts.push_back(value.get<std::string>());
  if (!value.is_structured()) return;
  for (const auto& [key, child] : value.items()) {
    if (value.is_object()) texts.push_back(key);
    collect_texts(child, texts);
  }
}

TEST(CanonicalUrl, Property_IdempotentOnTheSuites) {
  if (!test::suite_exists("url/urltestdata.json")) GTEST_SKIP() << "set ORBWEAVER_SUITES to the outside suites";
  std::vector<std::string> texts;
  for (const char* file : {"urltestdata.json", "crawler_commons_normalizer.json", "urlcanon/idempotence.json",
                           "urlcanon/surt.json", "urlcanon/semantic_precise.json"}) {
    const auto suite = parse_json(test::read_file(test::suite_path(std::string("url/") + file)));
    ASSERT_TRUE(suite) << file;
    collect_texts(*suite, texts);
  }
  EXPECT_GT(texts.size(), 5000u);
  for (const std::string& text : texts) {
    expect_idempotent(text);
    if (HasFatalFailure()) return;
  }
}

// The reason why our form differs from crawler-commons' in one case: the first reason that applies.
std::string difference(const std::string& input, const std::string& expected, const std::string& got) {
  if (!input.starts_with("http") && !input.starts_with("HTTP")) return "not http, or without a scheme";
  if (got == "refused") return "no host";
  if (got.find("//", 8) != std::string::npos && expected.find("//", 8) == std::string::npos)
    return "empty segments stay";
  if (got.find("[::ffff:") != std::string::npos) return "IPv6 in hexadecimal, as WHATWG has it";
  if (expected.find("%25") != std::string::npos) return "a stray % stays";
  if (got.find_first_of("^`|[]", 8) != std::string::npos) return "WHATWG leaves these unencoded";
  if (got.find('&') != std::string::npos || got.ends_with('=')) return "parameters keep their order and emptiness";
  return "unexplained";
}

TEST(CanonicalUrl, CrawlerCommons_EveryDifferenceIsOfAKnownKind) {
  if (!test::suite_exists("url/crawler_commons_normalizer.json"))
    GTEST_SKIP() << "set ORBWEAVER_SUITES to the outside suites";
  const auto suite = parse_json(test::read_file(test::suite_path("url/crawler_commons_normalizer.json")));
  ASSERT_TRUE(suite);
  std::size_t same = 0;
  std::map<std::string, std::size_t> kinds;
  for (const auto& item : suite->at("normalize")) {
    const std::string input = item.at("input");
    const std::string got = canonical(input);
    if (got == item.at("expected")) {
      ++same;
    } else {
      const std::string kind = difference(input, item.at("expected"), got);
      EXPECT_NE(kind, "unexplained") << input << " gave " << got;
      ++kinds[kind];
    }
  }
  for (const auto& [kind, count] : kinds) RecordProperty(kind, std::to_string(count));
  EXPECT_EQ(same, 91u);
  for (const auto& item : suite->at("invalid")) EXPECT_EQ(canonical(item.get<std::string>()), "refused") << item;
}

}  // namespace
}  // namespace orbweaver
