#include "node/http/cookie_jar.h"

#include <gtest/gtest.h>

#include <string>

namespace orbweaver {
namespace {

using std::chrono::seconds;

const Time now{std::chrono::hours{24 * 365 * 50}};

CanonicalUrl url_of(const std::string& text) { return CanonicalUrl::parse(text).value(); }

std::string sent(const CookieJar& jar, const std::string& text, Time at = now) {
  const CanonicalUrl url = url_of(text);
  return jar.header_for(place_of(url), at);
}
bool take(CookieJar& jar, const std::string& text, const std::string& value, Time at = now) {
  const CanonicalUrl url = url_of(text);
  return jar.take(place_of(url), value, at);
}

TEST(UrlPlace, ReadsWhatCanonicalUrlsSay) {
  const CanonicalUrl page = url_of("http://a.test/x/y?q#f"), address = url_of("https://[2001:db8::1]:8443");
  const UrlPlace plain = place_of(page);
  EXPECT_FALSE(plain.tls);
  EXPECT_EQ(plain.host, "a.test");
  EXPECT_EQ(plain.port, 80);
  EXPECT_EQ(plain.path, "/x/y");
  const UrlPlace six = place_of(address);
  EXPECT_TRUE(six.tls);
  EXPECT_EQ(six.host, "2001:db8::1");
  EXPECT_EQ(six.port, 8443);
  EXPECT_EQ(six.path, "/");
}

TEST(CookieJar, Rfc6265_5_3_WithoutDomainOnlyTheHostItself) {
  CookieJar jar;
  EXPECT_TRUE(take(jar, "http://www.a.com/", "n=v"));
  EXPECT_EQ(sent(jar, "http://www.a.com/any"), "n=v");
  EXPECT_EQ(sent(jar, "http://a.com/"), "");
  EXPECT_EQ(sent(jar, "http://x.www.a.com/"), "");
  EXPECT_EQ(sent(jar, "http://b.com/"), "");
}

TEST(CookieJar, Rfc6265_5_1_3_DomainAttributeReachesTheHostsBelow) {
  CookieJar jar;
  EXPECT_TRUE(take(jar, "http://www.a.com/", "n=v; Domain=.A.com"));
  EXPECT_EQ(sent(jar, "http://a.com/"), "n=v");
  EXPECT_EQ(sent(jar, "http://shop.a.com/"), "n=v");
  EXPECT_EQ(sent(jar, "http://bada.com/"), "");
}

TEST(CookieJar, NoSiteSetsAnothersCookies) {
  CookieJar jar;
  EXPECT_FALSE(take(jar, "http://www.a.com/", "n=v; Domain=b.com"));
  EXPECT_FALSE(take(jar, "http://www.a.com/", "n=v; Domain=shop.a.com"));
  EXPECT_FALSE(take(jar, "http://1.2.3.4/", "n=v; Domain=3.4"));
  EXPECT_EQ(jar.size(), 0u);
}

TEST(CookieJar, Rfc6265_5_3_5_NoCookiesForPublicSuffixes) {
  CookieJar jar;
  EXPECT_FALSE(take(jar, "http://a.com/", "n=v; Domain=com"));
  EXPECT_FALSE(take(jar, "http://a.co.uk/", "n=v; Domain=co.uk"));
  EXPECT_TRUE(take(jar, "http://a.co.uk/", "n=v; Domain=a.co.uk"));
  EXPECT_EQ(sent(jar, "http://b.co.uk/"), "");
}

TEST(CookieJar, Rfc6265_5_1_4_Paths) {
  CookieJar jar;
  take(jar, "http://a.com/docs/index.html", "deep=1");
  take(jar, "http://a.com/docs/index.html", "root=2; Path=/");
  EXPECT_EQ(sent(jar, "http://a.com/docs/x"), "deep=1; root=2");  // longer paths first
  EXPECT_EQ(sent(jar, "http://a.com/docs"), "deep=1; root=2");
  EXPECT_EQ(sent(jar, "http://a.com/docsx"), "root=2");
}

TEST(CookieJar, SecureCookiesStayOnTls) {
  CookieJar jar;
  EXPECT_FALSE(take(jar, "http://a.com/", "n=v; Secure"));
  EXPECT_TRUE(take(jar, "https://a.com/", "n=v; Secure"));
  EXPECT_EQ(sent(jar, "http://a.com/"), "");
  EXPECT_EQ(sent(jar, "https://a.com/"), "n=v");
}

TEST(CookieJar, PrefixesOfNamesAreHeldTo) {
  CookieJar jar;
  EXPECT_FALSE(take(jar, "https://a.com/", "__Secure-n=v"));
  EXPECT_TRUE(take(jar, "https://a.com/", "__Secure-n=v; Secure"));
  EXPECT_FALSE(take(jar, "https://a.com/", "__Host-n=v; Secure; Path=/; Domain=a.com"));
  EXPECT_TRUE(take(jar, "https://a.com/", "__Host-n=v; Secure; Path=/"));
}

TEST(CookieJar, ExpiresMaxAgeAndRemoval) {
  CookieJar jar;
  take(jar, "http://a.com/", "n=1; Max-Age=10; Expires=Wed, 01 Jan 1980 00:00:00 GMT");
  EXPECT_EQ(sent(jar, "http://a.com/", now + seconds{9}), "n=1");
  EXPECT_EQ(sent(jar, "http://a.com/", now + seconds{10}), "");
  EXPECT_FALSE(jar.drop_expired(now + seconds{9}));
  EXPECT_TRUE(jar.drop_expired(now + seconds{10}));
  EXPECT_EQ(jar.size(), 0u);
  take(jar, "http://a.com/", "n=1");
  take(jar, "http://a.com/", "n=2");
  EXPECT_EQ(sent(jar, "http://a.com/"), "n=2");
  take(jar, "http://a.com/", "n=; Max-Age=0");
  EXPECT_EQ(jar.size(), 0u);
}

TEST(CookieJar, Rfc6265_6_1_Bounds) {
  CookieJar jar;
  EXPECT_FALSE(take(jar, "http://a.com/", "n=" + std::string(CookieJar::max_cookie_bytes, 'x')));
  for (int i = 0; i < 1000; ++i) take(jar, "http://h.a.com/", "n" + std::to_string(i) + "=v");
  EXPECT_EQ(jar.size(), CookieJar::max_domain_cookies);
  EXPECT_EQ(sent(jar, "http://neighbour.a.com/"), "");
  for (int i = 0; i < 4000; ++i)
    take(jar, "http://d" + std::to_string(i) + ".a.com/", "n=" + std::string(CookieJar::max_cookie_bytes - 2, 'x'));
  EXPECT_LE(jar.encode().size(), CookieJar::max_jar_bytes + 50 * 64);
  EXPECT_EQ(sent(jar, "http://d0.a.com/"), "");
  EXPECT_NE(sent(jar, "http://d3999.a.com/"), "");
  EXPECT_TRUE(CookieJar::decode(jar.encode()));
}

TEST(CookieJar, ItsBytesSayTheSameAgain) {
  CookieJar jar;
  take(jar, "https://www.a.com/docs/x", "n=v; Domain=a.com; Max-Age=10; Secure");
  take(jar, "https://www.a.com/docs/x", "session=1; Path=/");
  EXPECT_EQ(jar.expires(), CookieJar::never);
  const auto again = CookieJar::decode(jar.encode());
  ASSERT_TRUE(again);
  CookieJar copy = *again;
  EXPECT_EQ(copy.encode(), jar.encode());
  EXPECT_EQ(sent(copy, "https://a.com/docs/"), "n=v");
  EXPECT_EQ(sent(copy, "http://a.com/docs/"), "");
  EXPECT_EQ(sent(copy, "https://www.a.com/docs/"), "n=v; session=1");
  EXPECT_EQ(sent(copy, "https://www.a.com/docs/", now + seconds{10}), "session=1");
}

TEST(CookieJar, BytesThatAreNoneAreRefused) {
  CookieJar jar;
  take(jar, "http://a.com/", "n=v; Max-Age=10");
  const std::string bytes = jar.encode();
  for (std::size_t cut = 1; cut < bytes.size(); ++cut) EXPECT_FALSE(CookieJar::decode(bytes.substr(0, cut))) << cut;
  EXPECT_FALSE(CookieJar::decode("\xff" + bytes.substr(1)));
  std::string line_end = bytes;
  line_end[line_end.find('v')] = '\n';
  EXPECT_FALSE(CookieJar::decode(line_end)) << "it would make another header";
  std::string many;
  for (int i = 0; i < 100'000; ++i) many += bytes;
  EXPECT_FALSE(CookieJar::decode(many));
}

TEST(CookieJar, AHostsManyCookiesDoNotPushOutItsNeighbours) {
  CookieJar jar;
  take(jar, "http://quiet.a.com/", "n=v");
  for (int i = 0; i < 1000; ++i) take(jar, "http://loud.a.com/", "n" + std::to_string(i) + "=v");
  EXPECT_EQ(sent(jar, "http://quiet.a.com/"), "n=v");
}

TEST(CookieJar, RubbishIsNotTaken) {
  CookieJar jar;
  for (const char* value : {"", "=v", "novalue",
                            "n=a\x01"
                            "b",
                            "; n=v", "n=a\r\nX: y"})
    EXPECT_FALSE(take(jar, "http://a.com/", value)) << value;
}

TEST(CookieDate, Rfc6265_5_1_1) {
  const auto at = [](const char* text) {
    const auto time = parse_cookie_date(text);
    return time ? std::chrono::duration_cast<seconds>(time->time_since_epoch()).count() : -1;
  };
  EXPECT_EQ(at("Wed, 21 Oct 2015 07:28:00 GMT"), 1445412480);
  EXPECT_EQ(at("Wednesday, 21-Oct-15 07:28:00 GMT"), 1445412480);
  EXPECT_EQ(at("Wed Oct 21 07:28:00 2015"), 1445412480);
  EXPECT_EQ(at("2015 october 21 7:28:0"), 1445412480);
  for (const char* bad : {"", "21 Oct 2015", "07:28:00", "32 Oct 2015 07:28:00", "21 Oct 2015 24:00:00",
                          "21 Oct 1500 07:28:00", "30 Feb 2015 07:28:00", "21 Okt 2015 07:28:00"})
    EXPECT_EQ(at(bad), -1) << bad;
}

}  // namespace
}  // namespace orbweaver
