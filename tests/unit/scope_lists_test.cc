// The lists of a scope and the order of judgement (docs/how-to/scope.md).
#include "node/scope/scope_lists.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "node/config/settings_table.h"
#include "node/scope/scope.h"
#include "node/url/surt.h"

namespace orbweaver {
namespace {

CanonicalUrl url(const std::string& text) {
  const Result<CanonicalUrl> made = CanonicalUrl::parse(text);
  EXPECT_TRUE(made) << text;
  return *made;
}

Settings with(const std::vector<std::pair<std::string, std::string>>& values) {
  Settings settings = default_settings();
  for (const auto& [name, value] : values) {
    const auto set = set_setting(settings, name, value);
    EXPECT_TRUE(set) << (set ? "" : set.error().message);
  }
  return settings;
}

Scope scope(const std::vector<std::pair<std::string, std::string>>& values,
            const std::vector<std::string>& seeds = {"http://www.example.org/"}) {
  std::vector<CanonicalUrl> urls;
  for (const std::string& seed : seeds) urls.push_back(url(seed));
  return {with(values), urls};
}

bool begins(const std::string& prefix, const std::string& text) {
  return SurtPrefixes({prefix}).match(url(text)) != nullptr;
}

// The forms that occur in the SURT files of web archives.
TEST(SurtPrefixes, TheFormsOfWebArchives) {
  for (const char* domain :
       {"http://(org,example,", "org,example,", "+http://(org,example,", "https://(ORG,Example,"}) {
    EXPECT_TRUE(begins(domain, "http://example.org/")) << domain;
    EXPECT_TRUE(begins(domain, "https://www.example.org:8443/a?b")) << domain << ": schemes and ports do not count";
    EXPECT_FALSE(begins(domain, "http://example.organic/")) << domain;
    EXPECT_FALSE(begins(domain, "http://example.com/")) << domain;
  }
  for (const char* host : {"http://(org,example,www,)", "http://(org,example,www)", "org,example,www,)/"}) {
    EXPECT_TRUE(begins(host, "http://www.example.org/a")) << host;
    EXPECT_FALSE(begins(host, "http://example.org/a")) << host;
    EXPECT_FALSE(begins(host, "http://a.www.example.org/a")) << host;
    EXPECT_FALSE(begins(host, "http://www.example.org:81/")) << host;
  }
  EXPECT_TRUE(begins("org,example,)/docs/", "http://example.org/docs/a?b"));
  EXPECT_FALSE(begins("org,example,)/docs/", "http://example.org/docs"));
  EXPECT_TRUE(begins("http://example.org/docs/index.html?x", "http://example.org/docs/a")) << "a URL up to its last /";
  EXPECT_FALSE(begins("http://example.org/docs/index.html", "http://www.example.org/docs/a"));
  EXPECT_TRUE(begins("http://(192.0.2.1)/", "http://192.0.2.1/a"));
  EXPECT_TRUE(begins("http://([2001:db8::1])/a", "http://[2001:db8::1]/ab"));
}

// The binary search against a linear search.
TEST(SurtPrefixes, FastAgainstDumb) {
  std::mt19937_64 random(1);
  const auto host = [&] {
    std::string text;
    for (std::size_t i = 1 + random() % 3; i > 0; --i)
      text += std::string(1, static_cast<char>('a' + random() % 3)) + ".";
    return text + "org";
  };
  std::size_t hits = 0;
  for (int round = 0; round < 300; ++round) {
    std::vector<std::string> prefixes;
    for (int i = 0; i < 6; ++i) {
      const std::string text = surt(url("http://" + host() + "/" + std::string(random() % 2, 'x')));
      prefixes.push_back(random() % 2 == 0 ? text.substr(0, text.find(')')) + "," : text);
    }
    const SurtPrefixes all(prefixes);
    for (int i = 0; i < 20; ++i) {
      const CanonicalUrl one = url("http://" + host() + "/" + std::string(random() % 3, 'x'));
      bool dumb = false;
      for (const std::string& prefix : prefixes) dumb = dumb || SurtPrefixes({prefix}).match(one) != nullptr;
      ASSERT_EQ(all.match(one) != nullptr, dumb) << one.text();
      hits += dumb ? 1 : 0;
    }
  }
  EXPECT_GT(hits, 500u);
}

TEST(UrlPatterns, TheFirstOfTheListThatMatchesAnywhereIsNamed) {
  const auto patterns = UrlPatterns::compile({"\\.php$", "print=1", "^https:", "^http://a\\.org/x"});
  ASSERT_TRUE(patterns);
  EXPECT_EQ(*patterns->first_match("https://a.org/x?print=1"), "print=1");
  EXPECT_EQ(*patterns->first_match("https://a.org/"), "^https:");
  EXPECT_EQ(*patterns->first_match("http://a.org/i.php"), "\\.php$");
  EXPECT_EQ(patterns->first_match("http://a.org/i.php?a"), nullptr);
  EXPECT_EQ(UrlPatterns().first_match("http://a.org/"), nullptr);
  const auto one = UrlPatterns::compile({"a+b"});
  EXPECT_NE(one->first_match("http://x.org/aab"), nullptr);
  EXPECT_EQ(one->first_match("http://x.org/aac"), nullptr);
}

// Expressions on which other engines run forever.
TEST(UrlPatterns, TimeIsLinearWhateverTheExpression) {
  const auto patterns = UrlPatterns::compile({"(a*)*b$", "(x+x+)+y"});
  ASSERT_TRUE(patterns);
  EXPECT_EQ(patterns->first_match("http://h.org/" + std::string(4000, 'a') + std::string(4000, 'x')), nullptr);
}

TEST(Scope, EndingsAreOfThePathsLastSegment) {
  const Scope deny = scope({{"extensions_deny", "pdf,.tar.gz"}});
  for (const char* out : {"/a.pdf", "/a.PDF?x", "/b/a.tar.gz", "/a.b.tar.gz"})
    EXPECT_FALSE(deny.contains(url(std::string("http://www.example.org") + out))) << out;
  for (const char* in : {"/pdf", "/a.pdf/", "/a.pdf.html", "/a.gz", "/?a.pdf", "/a.pdfx"})
    EXPECT_TRUE(deny.contains(url(std::string("http://www.example.org") + in))) << in;
  const Scope allow = scope({{"extensions_allow", "html"}});
  EXPECT_TRUE(allow.contains(url("http://www.example.org/a.html")));
  EXPECT_TRUE(allow.contains(url("http://www.example.org/v1.2/about"))) << "no ending: may be anything";
  EXPECT_FALSE(allow.contains(url("http://www.example.org/a.jpg")));
}

// docs/how-to/scope.md: a seed itself; the exclusions, in order; surt_accept; the kind.
TEST(Scope, OrderOfJudgementAndItsWords) {
  const Scope all = scope({{"surt_reject", "org,example,www,)/old/"},
                           {"extensions_deny", "zip"},
                           {"url_deny", "private"},
                           {"url_allow", "example"},
                           {"surt_accept", "org,other,example,"}},
                          {"http://www.example.org/", "http://www.example.org/old/private.zip"});
  const auto explain = [&](const char* text) { return all.explain(url(text)); };
  EXPECT_EQ(explain("http://www.example.org/old/private.zip"),
            "in scope: it is a seed, though surt_reject 'org,example,www,)/old/'");
  EXPECT_EQ(explain("http://www.example.org/old/b"), "out of scope: surt_reject 'org,example,www,)/old/'");
  EXPECT_EQ(explain("http://www.example.org/private.zip"), "out of scope: extensions_deny 'zip'");
  EXPECT_EQ(explain("http://example.other.org/private"), "out of scope: url_deny 'private'")
      << "what keeps out goes before what lets in";
  EXPECT_EQ(explain("http://example.other.org/a"), "in scope: surt_accept 'org,other,example,'");
  EXPECT_EQ(explain("http://other.org/a"), "out of scope: url_allow has no entry for it");
  EXPECT_EQ(explain("http://www.example.org/a"), "in scope: scope = host: host 'www.example.org' is a seed's host");
  EXPECT_EQ(explain("http://example.net/"), "out of scope: scope = host: host 'example.net' is not a seed's host");
  for (const char* text : {"http://www.example.org/old/private.zip", "http://www.example.org/old/b",
                           "http://www.example.org/private.zip", "http://example.other.org/private",
                           "http://example.other.org/a", "http://other.org/a", "http://www.example.org/a"})
    EXPECT_EQ(all.contains(url(text)), explain(text).starts_with("in scope")) << text;
}

TEST(Scope, OnlyWhatTheKindKeepsOutIsReachedByHopsOffSite) {
  const Scope hops = scope({{"max_hops_off_site", "2"}, {"url_deny", "ads"}});
  EXPECT_EQ(hops.place(url("http://www.example.org/")), Scope::Place::in);
  EXPECT_EQ(hops.place(url("http://other.net/")), Scope::Place::off_site);
  EXPECT_EQ(hops.place(url("http://other.net/ads")), Scope::Place::out);
  EXPECT_EQ(hops.explain(url("http://other.net/")),
            "out of scope: scope = host: host 'other.net' is not a seed's host; links lead there for 2 hops "
            "(max_hops_off_site)");
}

TEST(Scope, MoreSeedsTheSameLists) {
  Scope more = scope({{"url_deny", "x"}, {"scope", "prefix"}});
  EXPECT_FALSE(more.contains(url("http://b.org/d/e")));
  more.add_seeds({url("http://b.org/d/")});
  EXPECT_TRUE(more.contains(url("http://b.org/d/e")));
  EXPECT_FALSE(more.contains(url("http://b.org/d/x")));
}

TEST(ContentTypes, DenyGoesBeforeAllowAndNoneIsKept) {
  const Settings both = with({{"content_types_allow", "text/*,image/png"}, {"content_types_deny", "text/css"}});
  for (const char* kept : {"text/html", "image/png", ""}) EXPECT_TRUE(content_type_wanted(both, kept)) << kept;
  for (const char* refused : {"text/css", "image/jpeg", "textual/html", "image/png2"})
    EXPECT_FALSE(content_type_wanted(both, refused)) << refused;
  EXPECT_TRUE(content_type_wanted(default_settings(), "video/mp4"));
}

}  // namespace
}  // namespace orbweaver
