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

// The same keys as surt 0.3.1, the library of the tools that read such indexes.
TEST(CdxKey, Surt_WwwAndCaseAndLastSlashGo) {
  EXPECT_EQ(key_of("http://www.Example.com/A/"), "com,example)/a");
  EXPECT_EQ(key_of("http://www12.example.com/"), "com,example)/");
  EXPECT_EQ(key_of("http://www2foo.com/"), "com,www2foo)/");
  EXPECT_EQ(key_of("http://www/"), "www)/");
  EXPECT_EQ(key_of("https://example.com:8443/a"), "com,example:8443)/a");
}

TEST(CdxKey, Surt_AddressesAndOddHosts) {
  EXPECT_EQ(key_of("http://192.0.2.1:81/a"), "1,2,0,192:81)/a");
  EXPECT_EQ(key_of("http://[2001:db8::1]:81/a"), "2001:db8::1:81)/a");
  EXPECT_EQ(key_of("http://a..b.example./"), "example,b,a)/");
  EXPECT_EQ(key_of("http://(com,example)/"), "(com,example))/");
  EXPECT_EQ(key_of("http://.../a//b"), "http:/a//b");
  EXPECT_EQ(key_of("http://127.1../"), "1,0,0,127)/");
  EXPECT_EQ(key_of("http://h:0/"), "h)/");
}

TEST(CdxKey, Surt_PathsAreNormalisedOnceMore) {
  EXPECT_EQ(key_of("http://h/a//b///c"), "h)/a/b/c");
  EXPECT_EQ(key_of("http://h/a//"), "h)/a");
  EXPECT_EQ(key_of("http://h//"), "h)/");
  EXPECT_EQ(key_of("http://h/http://x.test/"), "h)/http:/x.test");
  EXPECT_EQ(key_of("http://h/a%2F%2E%2E%2Fb"), "h)/b");
}

TEST(CdxKey, Surt_EscapesAreUndoneAndMadeAgain) {
  EXPECT_EQ(key_of("http://h/%7Ea%20%23"), "h)/~a%20%23");
  EXPECT_EQ(key_of("http://h/100%"), "h)/100%25");
  EXPECT_EQ(key_of("http://h/%252541?%C3%89=%"), "h)/a?%c3%89=%25");
  EXPECT_EQ(key_of("http://h/a%3Fb"), "h)/a?b");
}

TEST(CdxKey, Surt_ParametersAreSorted) {
  EXPECT_EQ(key_of("http://h/?b=b&a=b&b=a&a=a"), "h)/?a=a&a=b&b=a&b=b");
  EXPECT_EQ(key_of("http://h/?a=1&"), "h)/?&a=1");
  EXPECT_EQ(key_of("http://h/?a=1&a&a=&ab"), "h)/?a&a=&a=1&ab");
  EXPECT_EQ(key_of("http://h/?"), "h)/");
}

TEST(CdxKey, Surt_SessionIdsGo) {
  EXPECT_EQ(key_of("http://h/(S(4hqa0555fwsecu455xqckv45))/mileg.aspx"), "h)/mileg.aspx");
  EXPECT_EQ(key_of("http://h/(4hqa0555fwsecu455xqckv45)/mileg.aspx"), "h)/mileg.aspx");
  EXPECT_EQ(key_of("http://h/(a(4hqa0555fwsecu455xqckv45)S(4hqa0555fwsecu455xqckv45))/m/x.aspx?p=s"),
            "h)/m/x.aspx?p=s");
  EXPECT_EQ(key_of("http://h/(4hqa0555fwsecu455xqckv45)/m"), "h)/(4hqa0555fwsecu455xqckv45)/m");
  EXPECT_EQ(key_of("http://h/photos/36050182@N05/"), "h)/photos/36050182@n05");
  EXPECT_EQ(key_of("http://h/a?PHPSESSID=0123456789abcdefghijklemopqrstuv&b=c"), "h)/a?b=c");
  EXPECT_EQ(key_of("http://h/a?b=c&xsid=0123456789abcdefghijklemopqrstuv"), "h)/a?b=c&x");
  EXPECT_EQ(key_of("http://h/a?PHPSESSID=short&b=c"), "h)/a?b=c&phpsessid=short");
  EXPECT_EQ(key_of("http://h/?ASPSESSIONIDAQBSDSRT=EOHBLBDDPFCLHKPGGKLILNAM"), "h)/");
  EXPECT_EQ(key_of("http://h/?cfid=1&cftoken=2&x"), "h)/?x");
  EXPECT_EQ(key_of("http://h/?cfid=1"), "h)/?cfid=1");
}

}  // namespace
}  // namespace orbweaver
