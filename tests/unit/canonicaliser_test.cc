// The canonical form that a crawl chooses (docs/reference/canonical-form.md): each rule alone, all together; the form
// is idempotent for every choice.
#include "node/url/canonicaliser.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "node/config/settings_table.h"
#include "node/terminal/json_line.h"
#include "tests/unit/suites.h"

namespace orbweaver {
namespace {

using Given = std::vector<std::pair<std::string, std::string>>;

Canonicaliser with(const Given& given) {
  Settings settings = default_settings();
  for (const auto& [name, text] : given) EXPECT_TRUE(set_setting(settings, name, text)) << name << " " << text;
  return Canonicaliser(settings);
}

std::string canonical(const Given& given, std::string_view text) {
  const Result<CanonicalUrl> url = with(given).parse(text);
  return url ? url->text() : "refused";
}

const Given all = {{"strip_tracking", "yes"}, {"strip_parameters", "x*,_"}, {"sort_parameters", "yes"},
                   {"strip_sessions", "yes"}, {"strip_index", "yes"},       {"trailing_slash", "drop"},
                   {"join_www", "yes"},       {"join_schemes", "https"},    {"hash_bang", "keep"}};

TEST(Canonicaliser, OffByDefault) {
  for (const char* text :
       {"http://www.h.example/a/index.html?utm_source=x&b=1&a=2", "https://h/;jsessionid=1", "http://h/a/#!b"}) {
    EXPECT_EQ(Canonicaliser().parse(text)->text(), CanonicalUrl::parse(text)->text());
    EXPECT_EQ(with({}).parse(text)->text(), CanonicalUrl::parse(text)->text());
  }
}

TEST(Canonicaliser, StripTracking_ListedNamesInAnyCase) {
  const Given on = {{"strip_tracking", "yes"}};
  EXPECT_EQ(canonical(on, "http://h/?utm_source=a&id=1&UTM_Medium=b&gclid=c"), "http://h/?id=1");
  EXPECT_EQ(canonical(on, "http://h/?utm%5Fsource=a"), "http://h/");
  EXPECT_EQ(canonical(on, "http://h/?ref=a&source=b&xutm_a=1&utm=2"), "http://h/?ref=a&source=b&xutm_a=1&utm=2");
  EXPECT_EQ(canonical(on, "http://h/?b=1&a=2&&c"), "http://h/?b=1&a=2&&c");
}

TEST(Canonicaliser, StripParameters_NamesAndPatterns) {
  EXPECT_EQ(canonical({{"strip_parameters", "view,tmp_*,*[]"}}, "http://h/?a=1&view&tmp_x=1&VIEW=2&n%5B%5D=1&n[]=2"),
            "http://h/?a=1&n%5B%5D=1");
  EXPECT_EQ(canonical({{"strip_parameters", "a*c*e"}}, "http://h/?ace=1&abcde=2&abcdef=3&ae=4"),
            "http://h/?abcdef=3&ae=4");
  EXPECT_EQ(canonical({{"strip_parameters", "*"}}, "http://h/?a=1&b"), "http://h/");
}

TEST(Canonicaliser, StripParameters_APatternIsCheckedWithTheSettings) {
  Settings settings = default_settings();
  for (const char* bad : {"a=b", "a&b", "a#", "a b", "\xc3\xbc"}) {
    const Result<void> set = set_setting(settings, "strip_parameters", bad);
    ASSERT_FALSE(set) << bad;
    EXPECT_NE(set.error().message.find("strip_parameters"), std::string::npos);
  }
}

TEST(Canonicaliser, SortParameters_ByNameAndStable) {
  const Given on = {{"sort_parameters", "yes"}};
  EXPECT_EQ(canonical(on, "http://h/?b=1&a=2&&b=0&a=1&"), "http://h/?a=2&a=1&b=1&b=0");
  EXPECT_EQ(canonical(on, "http://h/?b%&%34"), "http://h/?4&b%");
}

TEST(Canonicaliser, StripSessions_QueryAndPath) {
  const Given on = {{"strip_sessions", "yes"}};
  EXPECT_EQ(canonical(on, "http://h/a;jsessionid=0A1B?PHPSESSID=1&b=2&ASPSESSIONIDAB=3"), "http://h/a?b=2");
  EXPECT_EQ(canonical(on, "http://h/a;v=1;JSESSIONID=2;w/b;sid=3/c"), "http://h/a;v=1;w/b/c");
  EXPECT_EQ(canonical(on, "http://h/(S(4hqa0555fwsecu455xqckv45))/a.aspx"), "http://h/a.aspx");
  EXPECT_EQ(canonical(on, "http://h/?sid=42&s=9682993c8daa2c5497996114facdc805"), "http://h/?sid=42");
  EXPECT_EQ(canonical(on, "http://h/?session=opening&s=searchwordthatislong"),
            "http://h/?session=opening&s=searchwordthatislong");
}

TEST(Canonicaliser, StripSessions_LeavesNoDotSegment) {
  EXPECT_EQ(canonical({{"strip_sessions", "yes"}}, "http://h/a/..;jsessionid=1/b"), "http://h/a/..;jsessionid=1/b");
}

TEST(Canonicaliser, StripIndex_TheListedFilesAtTheEnd) {
  const Given on = {{"strip_index", "yes"}};
  EXPECT_EQ(canonical(on, "http://h/a/Index.HTML?b"), "http://h/a/?b");
  EXPECT_EQ(canonical(on, "http://h/default.aspx"), "http://h/");
  EXPECT_EQ(canonical(on, "http://h/index.html/a"), "http://h/index.html/a");
  EXPECT_EQ(canonical(on, "http://h/my-index.html"), "http://h/my-index.html");
}

TEST(Canonicaliser, TrailingSlash_AllButTheRoots) {
  const Given on = {{"trailing_slash", "drop"}};
  EXPECT_EQ(canonical(on, "http://h/a/b//?q/"), "http://h/a/b?q/");
  EXPECT_EQ(canonical(on, "http://h/"), "http://h/");
  EXPECT_EQ(canonical(on, "http://h///"), "http://h/");
  EXPECT_EQ(canonical({{"trailing_slash", "drop"}, {"strip_index", "yes"}}, "http://h/a/index.html/"), "http://h/a");
}

TEST(Canonicaliser, JoinWww_NeverBelowARegistrableDomain) {
  const Given on = {{"join_www", "yes"}};
  EXPECT_EQ(canonical(on, "http://www.example.com./"), "http://example.com/");
  EXPECT_EQ(canonical(on, "http://www.www.a.example.com:81/"), "http://a.example.com:81/");
  EXPECT_EQ(canonical(on, "http://www.com/"), "http://www.com/");
  EXPECT_EQ(canonical(on, "http://www.co.uk/"), "http://www.co.uk/");
  EXPECT_EQ(canonical(on, "http://www/"), "http://www/");
  EXPECT_EQ(canonical(on, "http://www2.example.com/"), "http://www2.example.com/");
}

TEST(Canonicaliser, JoinSchemes_UnlessThePortIsItsOwn) {
  EXPECT_EQ(canonical({{"join_schemes", "https"}}, "http://h:80/"), "https://h/");
  EXPECT_EQ(canonical({{"join_schemes", "https"}}, "http://h:443/"), "http://h:443/");
  EXPECT_EQ(canonical({{"join_schemes", "http"}}, "https://h/"), "http://h/");
  EXPECT_EQ(with({{"join_schemes", "https"}}).parse("http://h/")->port(), 443);
}

TEST(Canonicaliser, HashBang_IsKeptAndIsNoPartOfTheRequest) {
  const Result<CanonicalUrl> url = with({{"hash_bang", "keep"}}).parse("http://h/a?b#!/c d");
  ASSERT_TRUE(url);
  EXPECT_EQ(url->text(), "http://h/a?b#!/c%20d");
  EXPECT_EQ(url->path_and_query(), "/a?b");
  EXPECT_EQ(canonical({{"hash_bang", "keep"}}, "http://h/#c"), "http://h/");
}

TEST(Canonicaliser, ChangesNamesTheRulesInOrder) {
  const Result<Url> url =
      Url::parse("http://u@www.example.com./%7ea/index.html?b=1&utm_source=x&a=2&sid=0123456789abcdef&xy#f");
  ASSERT_TRUE(url);
  EXPECT_EQ(with(all).changes(*url),
            (std::vector<std::string_view>{"credentials", "fragment", "host_dot", "escapes", "strip_tracking",
                                           "strip_parameters", "sort_parameters", "strip_sessions", "strip_index",
                                           "trailing_slash", "join_www", "join_schemes"}));
  EXPECT_EQ(with(all).from(*url)->text(), "https://example.com/~a?a=2&b=1");
  EXPECT_TRUE(with(all).changes(*Url::parse("https://example.com/~a?a=2#!b")).empty());
  EXPECT_TRUE(with(all).changes(*Url::parse("mailto:a@b")).empty());
}

TEST(Canonicaliser, LengthIsBoundedAfterTheRules) {
  const std::string longer = "http://h/?utm_source=" + std::string(max_url_bytes, 'a');
  EXPECT_EQ(canonical({{"strip_tracking", "yes"}}, longer), "http://h/");
  EXPECT_EQ(canonical({{"sort_parameters", "yes"}}, longer), "refused");
}

// One combination of all rules, chosen by the bits of a number.
Canonicaliser drawn(unsigned bits) {
  Given given;
  for (std::size_t i = 0; i < all.size(); ++i)
    if ((bits >> i & 1) != 0) given.push_back(all[i]);
  return with(given);
}

void expect_idempotent(const Canonicaliser& canonicaliser, const std::string& input, unsigned bits) {
  const Result<CanonicalUrl> once = canonicaliser.parse(input);
  if (!once) return;
  const Result<CanonicalUrl> twice = canonicaliser.parse(once->text());
  ASSERT_TRUE(twice) << input << " gave " << once->text();
  ASSERT_EQ(twice->text(), once->text()) << input << " rules " << bits;
  ASSERT_EQ(twice->digest(), once->digest());
  ASSERT_EQ(twice->host(), once->host());
  ASSERT_EQ(twice->path_and_query(), once->path_and_query());
}

TEST(Canonicaliser, Property_IdempotentOnGeneratedUrlsUnderAllRules) {
  std::mt19937 random(7);
  const std::vector<std::string> pieces = {"%",
                                           "%2",
                                           "%4",
                                           "%41",
                                           "%34",
                                           "%31",
                                           "%2e",
                                           "%25",
                                           "%26",
                                           "%3d",
                                           "%3b",
                                           "4",
                                           "a",
                                           "x",
                                           "/",
                                           "//",
                                           "/.",
                                           "/..",
                                           ".",
                                           "?",
                                           "&",
                                           "=",
                                           "#",
                                           "#!",
                                           ";",
                                           "\xc3",
                                           "_",
                                           "~",
                                           "sid",
                                           "index.html",
                                           "utm_source",
                                           "utm_",
                                           "www.",
                                           "s=",
                                           "b=1",
                                           "a=",
                                           "&&",
                                           "(S(",
                                           "))",
                                           "\\",
                                           "[]",
                                           "Z",
                                           "0123456789abcdefghijklmn",
                                           ";jsessionid=1",
                                           "(S(4hqa0555fwsecu455xqckv45))"};
  const std::vector<std::string> hosts = {"h",      "www.example.com", "www.www.co.uk.",  "www.com",
                                          "[1::2]", "www.h:443",       "WWW.h.example:80"};
  std::vector<Canonicaliser> canonicalisers;
  for (unsigned bits = 0; bits < 1U << all.size(); ++bits) canonicalisers.push_back(drawn(bits));
  for (int round = 0; round < 150000; ++round) {
    std::string text = (random() % 2 == 0 ? "http://" : "https://") + hosts[random() % hosts.size()] + "/";
    for (auto left = random() % 12; left > 0; --left) text += pieces[random() % pieces.size()];
    const auto bits = static_cast<unsigned>(random() % canonicalisers.size());
    expect_idempotent(canonicalisers[bits], text, bits);
    if (HasFatalFailure()) return;
  }
}

void collect_texts(const nlohmann::json& value, std::vector<std::string>& texts) {
  if (value.is_string()) texts.push_back(value.get<std::string>());
  if (!value.is_structured()) return;
  for (const auto& [key, child] : value.items()) {
    if (value.is_object()) texts.push_back(key);
    collect_texts(child, texts);
  }
}

TEST(Canonicaliser, Property_IdempotentOnTheSuitesUnderAllRules) {
  if (!test::suite_exists("url/urltestdata.json")) GTEST_SKIP() << "set ORBWEAVER_SUITES to the outside suites";
  std::vector<std::string> texts;
  for (const char* file : {"urltestdata.json", "toascii.json", "percent-encoding.json", "rfc3986_5_4.json",
                           "crawler_commons_normalizer.json", "urlcanon/idempotence.json", "urlcanon/surt.json",
                           "urlcanon/aggressive.json", "urlcanon/semantic_precise.json", "urlcanon/parsing.json"}) {
    const auto suite = parse_json(test::read_file(test::suite_path(std::string("url/") + file)));
    ASSERT_TRUE(suite) << file;
    collect_texts(*suite, texts);
  }
  EXPECT_GT(texts.size(), 5000u);
  const Canonicaliser everything = with(all);
  for (const std::string& text : texts) {
    expect_idempotent(everything, text, 0x1ff);
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace orbweaver
