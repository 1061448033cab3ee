// Which URLs a crawl follows, and the registrable domain (publicsuffix.org) that one kind of scope uses.
#include "node/scope/scope.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

namespace orbweaver {
namespace {

CanonicalUrl url(const std::string& text) {
  const Result<CanonicalUrl> made = CanonicalUrl::parse(text);
  EXPECT_TRUE(made) << text;
  return *made;
}

Scope scope(ScopeKind kind, const std::vector<std::string>& seeds) {
  std::vector<CanonicalUrl> urls;
  for (const std::string& seed : seeds) urls.push_back(url(seed));
  return Scope(kind, urls);
}

TEST(RegistrableDomain, PublicSuffixList) {
  EXPECT_EQ(registrable_domain("example.com"), "example.com");
  EXPECT_EQ(registrable_domain("a.b.example.com"), "example.com");
  EXPECT_EQ(registrable_domain("a.b.example.co.uk"), "example.co.uk");
  EXPECT_EQ(registrable_domain("www.city.kawasaki.jp"), "city.kawasaki.jp");  // an exception rule
  EXPECT_EQ(registrable_domain("a.b.c.kawasaki.jp"), "b.c.kawasaki.jp");      // a wildcard rule
  EXPECT_EQ(registrable_domain("a.me.github.io"), "me.github.io");            // the list's private part
  EXPECT_EQ(registrable_domain("www.xn--85x722f.xn--55qx5d.cn"), "xn--85x722f.xn--55qx5d.cn");
  EXPECT_EQ(registrable_domain("www.example.no-such-suffix"), "example.no-such-suffix");
}

TEST(RegistrableDomain, AddressesSingleLabelsAndSuffixesAreTheirOwn) {
  for (const char* host :
       {"192.0.2.1", "[2001:db8::1]", "localhost", "com", "co.uk", "github.io", "", ".", "a..", "..com"}) {
    const std::string domain = registrable_domain(host);
    EXPECT_TRUE(domain == host || std::string(host).ends_with(domain)) << host << " gave " << domain;
  }
  EXPECT_EQ(registrable_domain("192.0.2.1"), "192.0.2.1");
  EXPECT_EQ(registrable_domain("localhost"), "localhost");
  EXPECT_EQ(registrable_domain("co.uk"), "co.uk");
}

TEST(Scope, HostIsTheSeedsHostOnAnyPortAndScheme) {
  const Scope hosts = scope(ScopeKind::host, {"http://example.com/a", "http://192.0.2.1:81/"});
  EXPECT_TRUE(hosts.contains(url("https://example.com:8443/b")));
  EXPECT_TRUE(hosts.contains(url("http://192.0.2.1/")));
  EXPECT_FALSE(hosts.contains(url("http://www.example.com/")));
  EXPECT_FALSE(hosts.contains(url("http://example.com.evil/")));
}

TEST(Scope, DomainIsTheSeedsRegistrableDomain) {
  const Scope domains =
      scope(ScopeKind::domain, {"http://www.example.co.uk/", "http://192.0.2.1/", "http://localhost/"});
  EXPECT_TRUE(domains.contains(url("http://example.co.uk/")));
  EXPECT_TRUE(domains.contains(url("http://a.b.example.co.uk/")));
  EXPECT_TRUE(domains.contains(url("http://192.0.2.1/")));
  EXPECT_TRUE(domains.contains(url("http://localhost/")));
  EXPECT_FALSE(domains.contains(url("http://other.co.uk/")));
  EXPECT_FALSE(domains.contains(url("http://notexample.co.uk/")));
  EXPECT_FALSE(domains.contains(url("http://1.192.0.2/")));
  EXPECT_FALSE(domains.contains(url("http://a.localhost/")));
}

// A seed on a public suffix itself includes that host alone, not all hosts below it.
TEST(Scope, DomainOfAPublicSuffixIsThatHostAlone) {
  const Scope suffix = scope(ScopeKind::domain, {"http://github.io/"});
  EXPECT_TRUE(suffix.contains(url("http://github.io/")));
  EXPECT_FALSE(suffix.contains(url("http://me.github.io/")));
}

TEST(Scope, Property_DomainAsTheListAloneWouldSay) {
  std::mt19937 random(3);
  const std::vector<std::string> labels = {"com",      "co", "uk",   "github", "io",        "a",
                                           "kawasaki", "jp", "city", "s3",     "amazonaws", "localhost"};
  const auto host = [&] {
    std::string text = labels[random() % labels.size()];
    for (auto left = random() % 4; left > 0; --left) text = labels[random() % labels.size()] + "." + text;
    return text;
  };
  std::size_t in = 0;
  for (int round = 0; round < 3000; ++round) {
    const std::string seed = host();
    const Scope domains = scope(ScopeKind::domain, {"http://" + seed + "/"});
    for (int probe = 0; probe < 10; ++probe) {
      const std::string other = probe == 0 ? "a." + seed : host();
      const bool expected = registrable_domain(other) == registrable_domain(seed);
      ASSERT_EQ(domains.contains(url("http://" + other + "/")), expected) << seed << " " << other;
      in += expected ? 1u : 0u;
    }
  }
  EXPECT_GT(in, 1000u);
}

TEST(Scope, PrefixIsOriginAndPathUpToTheLastSlash) {
  const Scope prefixes =
      scope(ScopeKind::prefix, {"http://example.com/docs/v1/index.html?x=/y/z", "http://example.com/docs/v1/deep/"});
  EXPECT_TRUE(prefixes.contains(url("http://example.com/docs/v1/")));
  EXPECT_TRUE(prefixes.contains(url("http://example.com/docs/v1/a/b?c")));
  EXPECT_FALSE(prefixes.contains(url("http://example.com/docs/v1")));
  EXPECT_FALSE(prefixes.contains(url("http://example.com/docs/v1?/")));
  EXPECT_FALSE(prefixes.contains(url("http://example.com/docs/v2/")));
  EXPECT_FALSE(prefixes.contains(url("https://example.com/docs/v1/")));
  EXPECT_FALSE(prefixes.contains(url("http://example.com:8080/docs/v1/")));
  EXPECT_FALSE(prefixes.contains(url("http://www.example.com/docs/v1/")));
}

TEST(Scope, PrefixOfAWiderSeedCoversANarrowerOneInEitherOrder) {
  for (const auto& seeds : {std::vector<std::string>{"http://h/a/b/", "http://h/a/"},
                            std::vector<std::string>{"http://h/a/", "http://h/a/b/"}}) {
    const Scope prefixes = scope(ScopeKind::prefix, seeds);
    EXPECT_TRUE(prefixes.contains(url("http://h/a/c")));
    EXPECT_TRUE(prefixes.contains(url("http://h/a/b/c")));
    EXPECT_FALSE(prefixes.contains(url("http://h/b/")));
  }
}

TEST(Scope, AnyTakesAllAndNoSeedsTakeNone) {
  EXPECT_TRUE(scope(ScopeKind::any, {}).contains(url("http://h/")));
  for (const ScopeKind kind : {ScopeKind::host, ScopeKind::domain, ScopeKind::prefix}) {
    EXPECT_FALSE(scope(kind, {}).contains(url("http://h/")));
  }
}

TEST(Scope, ExplainsTheRuleThatDecided) {
  const std::vector<std::string> seeds = {"http://www.example.com/docs/"};
  EXPECT_EQ(scope(ScopeKind::host, seeds).explain(url("http://other.org/")),
            "out of scope: scope = host: host 'other.org' is not a seed's host");
  EXPECT_EQ(scope(ScopeKind::domain, seeds).explain(url("http://a.example.com/")),
            "in scope: scope = domain: domain 'example.com' is a seed's domain");
  EXPECT_EQ(scope(ScopeKind::prefix, seeds).explain(url("http://www.example.com/docs/a")),
            "in scope: scope = prefix: it begins with 'http://www.example.com/docs/'");
  EXPECT_EQ(scope(ScopeKind::prefix, seeds).explain(url("http://www.example.com/blog/")),
            "out of scope: scope = prefix: path '/blog/' begins with no seed's path on 'http://www.example.com'");
  EXPECT_EQ(scope(ScopeKind::prefix, seeds).explain(url("http://other.org/")),
            "out of scope: scope = prefix: no seed is on 'http://other.org'");
  EXPECT_EQ(scope(ScopeKind::any, seeds).explain(url("http://other.org/")),
            "in scope: scope = any: this crawl takes any host");
}

}  // namespace
}  // namespace orbweaver
