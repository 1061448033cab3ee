// SURT keys of web archives.
#include "node/url/surt.h"

#include <gtest/gtest.h>

#include <string>

namespace orbweaver {
namespace {

std::string surt_of(const std::string& text) { return surt(*CanonicalUrl::parse(text)); }
std::string key_of(const std::string& text) { return cdx_key(*CanonicalUrl::parse(text)); }

TEST(Surt, HostLabelsAreReversed) {
  EXPECT_EQ(surt_of("http://example.com/path?query"), "com,example)/path?query");
  EXPECT_EQ(surt_of("https://www.example.co.uk"), "uk,co,example,www)/");
  EXPECT_EQ(surt_of("http://localhost/"), "localhost)/");
}

TEST(Surt, PortStaysWhereTheUrlHasOne) {
  EXPECT_EQ(surt_of("http://example.com:8080/"), "com,example:8080)/");
  EXPECT_EQ(surt_of("https://example.com:443/"), "com,example)/");
}

TEST(Surt, AddressesAreNotReversed) {
  EXPECT_EQ(surt_of("http://192.0.2.1:81/a"), "192.0.2.1:81)/a");
  EXPECT_EQ(surt_of("http://[2001:db8::1]/a"), "[2001:db8::1])/a");
}

TEST(Surt, HostsOfOneDomainSortTogether) {
  EXPECT_TRUE(surt_of("http://a.example.com/").starts_with("com,example,"));
  EXPECT_TRUE(surt_of("http://z.a.example.com/").starts_with("com,example,a,"));
}

TEST(Surt, EmptyLabelsDoNoHarm) { EXPECT_EQ(surt_of("http://a../"), ",,a)/"); }

TEST(CdxKey, InternetArchive_WwwAndCaseAndLastSlashGo) {
  EXPECT_EQ(key_of("http://www.Example.com/A/"), "com,example)/a");
  EXPECT_EQ(key_of("http://www12.example.com/"), "com,example)/");
  EXPECT_EQ(key_of("http://www2foo.com/"), "com,www2foo)/");
  EXPECT_EQ(key_of("http://www/"), "www)/");
  EXPECT_EQ(key_of("http://192.0.2.1/"), "192.0.2.1)/");
}

TEST(CdxKey, InternetArchive_ParametersAreSorted) {
  EXPECT_EQ(key_of("http://h/?b=b&a=b&b=a&a=a"), "h)/?a=a&a=b&b=a&b=b");
  EXPECT_EQ(key_of("http://h/?a=1&"), "h)/?&a=1");
}

TEST(CdxKey, InternetArchive_SessionIdsGo) {
  EXPECT_EQ(key_of("http://h/(S(4hqa0555fwsecu455xqckv45))/mileg.aspx"), "h)/mileg.aspx");
  EXPECT_EQ(key_of("http://h/(4hqa0555fwsecu455xqckv45)/mileg.aspx"), "h)/mileg.aspx");
  EXPECT_EQ(
      key_of("http://h/(a(4hqa0555fwsecu455xqckv45)S(4hqa0555fwsecu455xqckv45)f(4hqa0555fwsecu455xqckv45))/m?p=s"),
      "h)/m?p=s");
  EXPECT_EQ(key_of("http://h/photos/36050182@N05/"), "h)/photos/36050182@n05");
  EXPECT_EQ(key_of("http://h/a;jsessionid=0123456789abcdefghijklemopqrstuv"), "h)/a");
  EXPECT_EQ(key_of("http://h/a?PHPSESSID=0123456789abcdefghijklemopqrstuv&b=c"), "h)/a?b=c");
  EXPECT_EQ(key_of("http://h/a?PHPSESSID=short&b=c"), "h)/a?b=c&phpsessid=short");
}

}  // namespace
}  // namespace orbweaver
