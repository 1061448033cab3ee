// The URL parser and serialiser by the WHATWG URL standard: cases that the outside suites leave open.
#include "node/url/url.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "node/url/percent_encode.h"
#include "node/url/url_host.h"

namespace orbweaver {
namespace {

using namespace url_text;

std::string href(std::string_view input, std::string_view base = {}) {
  Result<Url> base_url;
  if (!base.empty()) base_url = Url::parse(base);
  EXPECT_TRUE(base_url) << base;
  const Result<Url> url = Url::parse(input, base.empty() ? nullptr : &*base_url);
  return url ? url->href() : "failure";
}

std::string failure(std::string_view input) {
  const Result<Url> url = Url::parse(input);
  return url ? "parsed as " + url->href() : url.error().message;
}

TEST(Url, Whatwg_PartsOfAUrl) {
  const Result<Url> url = Url::parse("HTTPS://us%65r:p@ss@WWW.Example.COM:8443/a/./b/../c d?x='y'#z`");
  ASSERT_TRUE(url);
  EXPECT_EQ(url->scheme(), "https");
  EXPECT_EQ(url->username(), "us%65r");
  EXPECT_EQ(url->password(), "p%40ss");
  EXPECT_EQ(url->host(), "www.example.com");
  EXPECT_EQ(url->port(), 8443);
  EXPECT_EQ(url->path(), "/a/c%20d");
  EXPECT_EQ(url->query(), "x=%27y%27");
  EXPECT_EQ(url->fragment(), "z%60");
  EXPECT_TRUE(url->is_http());
  EXPECT_FALSE(url->has_opaque_path());
  EXPECT_EQ(url->href(), "https://us%65r:p%40ss@www.example.com:8443/a/c%20d?x=%27y%27#z%60");
  EXPECT_EQ(url->href(false), "https://us%65r:p%40ss@www.example.com:8443/a/c%20d?x=%27y%27");
}

TEST(Url, Whatwg_OpaquePathTakesNoRelativeUrls) {
  const Result<Url> mail = Url::parse("mailto:a@example.com");
  ASSERT_TRUE(mail);
  EXPECT_TRUE(mail->has_opaque_path());
  EXPECT_FALSE(mail->host());
  EXPECT_FALSE(Url::parse("/b", &*mail));
  ASSERT_TRUE(Url::parse("#top", &*mail));
  EXPECT_EQ(Url::parse("#top", &*mail)->href(), "mailto:a@example.com#top");
}

TEST(Url, Whatwg_DefaultPortsAreNotKept) {
  EXPECT_EQ(href("http://h:80/"), "http://h/");
  EXPECT_EQ(href("https://h:443/"), "https://h/");
  EXPECT_EQ(href("https://h:80/"), "https://h:80/");
  EXPECT_EQ(href("http://h:/"), "http://h/");
  EXPECT_EQ(href("http://h:00080/"), "http://h/");
  EXPECT_EQ(href("http://h:0/"), "http://h:0/");
}

TEST(Url, ErrorsNameTheInputAndTheFault) {
  EXPECT_EQ(failure("a/b"), "URL 'a/b': it has no scheme, and there is no base URL");
  EXPECT_EQ(failure("http://h:65536/"), "URL 'http://h:65536/': a port above 65535");
  EXPECT_EQ(failure("http://h:8o/"), "URL 'http://h:8o/': a port that is not a number");
  EXPECT_EQ(failure("http://a b/"), "URL 'http://a b/': a character that no host name may have");
  EXPECT_EQ(failure("http:///"), "URL 'http:///': it has no host");
  EXPECT_EQ(failure("http://u@/"), "URL 'http://u@/': it has credentials but no host");
  EXPECT_EQ(failure("http://[::1/"), "URL 'http://[::1/': an IPv6 address without ']'");
  EXPECT_EQ(failure("http://1.2.3.256/"), "URL 'http://1.2.3.256/': an IPv4 address out of range");
}

// The input has a bound, so that a page whose base is enormous cannot make every link of it enormous.
TEST(Url, InputBeyondItsBoundIsRefused) {
  const std::string at_bound = "http://h/" + std::string(max_url_input_bytes - 9, 'a');
  EXPECT_TRUE(Url::parse(at_bound));
  const Result<Url> beyond = Url::parse(at_bound + "a");
  ASSERT_FALSE(beyond);
  EXPECT_EQ(beyond.error().code, ErrorCode::invalid_input);
  EXPECT_LT(beyond.error().message.size(), 300u);
}

TEST(Url, Encoding_IllFormedUtf8IsReadAsReplacementCharacters) {
  EXPECT_EQ(href("http://h/\xff"), "http://h/%EF%BF%BD");
  EXPECT_EQ(href("http://h/\xe2\x82"), "http://h/%EF%BF%BD");                        // one for a truncated character
  EXPECT_EQ(href("http://h/\xed\xa0\x80"), "http://h/%EF%BF%BD%EF%BF%BD%EF%BF%BD");  // surrogates are not UTF-8
  EXPECT_EQ(href("http://h/\xf4\x90\x80\x80"
                 "a"),
            "http://h/%EF%BF%BD%EF%BF%BD%EF%BF%BD%EF%BF%BDa");
  EXPECT_EQ(href("http://h\xff/"), "failure");
}

// Windows-1252-like: the encoder's output is percent-encoded byte by byte.
class MarkingEncoder : public QueryEncoder {
 public:
  std::string encode(std::string_view utf8) const override { return "\xe9'" + std::string(utf8); }
};

TEST(Url, Whatwg_QueryEncoderIsForSpecialSchemesButWebSockets) {
  const MarkingEncoder encoder;
  const auto query = [&](std::string_view text) { return *Url::parse(text, nullptr, &encoder)->query(); };
  EXPECT_EQ(query("http://h/\xc3\xa9?a"), "%E9%27a");
  EXPECT_EQ(query("ftp://h/?a#\xc3\xa9"), "%E9%27a");
  EXPECT_EQ(query("ws://h/?a"), "a");
  EXPECT_EQ(query("wss://h/?a"), "a");
  EXPECT_EQ(query("other://h/?'a"), "'a");
}

// URL standard, "domain parser": ASCII names are kept as they are, whatever UTS #46 says about their labels.
TEST(Url, Whatwg_AsciiNamesAreNotCheckedByIdna) {
  EXPECT_EQ(href("http://XN--8I7CAA.example/"), "http://xn--8i7caa.example/");
  EXPECT_EQ(href("http://xn--a.example/"), "http://xn--a.example/");
  EXPECT_EQ(href("http://a_b-.example/"), "http://a_b-.example/");
}

TEST(Url, Uts46_InternationalNames) {
  EXPECT_EQ(href("http://B\xc3\xbc"
                 "cher.example/"),
            "http://xn--bcher-kva.example/");
  EXPECT_EQ(href("http://b%C3%BCcher.example/"), "http://xn--bcher-kva.example/");
  EXPECT_EQ(href("http://fa\xc3\x9f.example/"), "http://xn--fa-hia.example/");             // nontransitional
  EXPECT_EQ(href("http://xn--a.\xc3\x9f/"), "failure");                                    // here labels are checked
  EXPECT_EQ(href("http://\xef\xbc\x91\xef\xbc\x92\xef\xbc\x97.1/"), "http://127.0.0.1/");  // full-width digits
  EXPECT_EQ(href("http://\xc2\xad/"), "failure");                                          // maps to nothing
}

TEST(Url, Uts46_Unicode16_TheMongolianTodoHyphenIsValid) {
  const std::vector<std::pair<std::string, std::string>> hosts = {{"a\u1806b.test", "xn--ab-h0o.test"},
                                                                  {"\u1806", "xn--c6e"},
                                                                  {"x.\u1806\u1806.test", "x.xn--c6ea.test"},
                                                                  {"\u05D0\u1806\u05D0", "xn--4dba990l"},
                                                                  {"ab\u1806\u0301c", "xn--abc-ldc810y"},
                                                                  {"\u1806A.\u00DF.test", "xn--a-e3j.xn--zca.test"},
                                                                  {"\u1806xn--", "xn--xn---kuy"}};
  for (const auto& [host, ascii] : hosts) EXPECT_EQ(href("http://" + host + "/"), "http://" + ascii + "/") << host;
  for (const char* bad : {"1\u1806\u05D0", "\u1806\u05D0", "\u0628\u1806\u200C\u0628", "xn--\u1806"})
    EXPECT_EQ(href(std::string("http://") + bad + "/"), "failure") << bad;
}

TEST(Url, HugeInternationalNamesAreRefusedQuickly) {
  std::string name;
  while (name.size() < 12000) name += "\xc3\xbc";
  EXPECT_EQ(href("http://" + name + "/"), "failure");
}

TEST(Url, IpAddressesAreToldFromNames) {
  for (const char* address : {"192.0.2.1", "[::1]", "0.0.0.0"}) EXPECT_TRUE(is_ip_address(address)) << address;
  for (const char* name : {"example.com", "1.2.3.example", "localhost", "x1", "0xg.com"}) {
    EXPECT_FALSE(is_ip_address(name)) << name;
  }
}

// The tables, against the standard's definitions written out (URL standard, 1.3).
TEST(PercentEncode, Whatwg_EncodeSetsIncludeOneAnother) {
  for (unsigned i = 0; i < 256; ++i) {
    const char c = static_cast<char>(i);
    const bool c0 = i < 0x20 || i > 0x7e;
    EXPECT_EQ(is(c, c0_control_set), c0) << i;
    for (const CharClass set : {fragment_set, query_set, special_query_set, path_set, userinfo_set}) {
      EXPECT_TRUE(is(c, set) || !c0) << i;
      EXPECT_FALSE(is(c, set) && is(c, unreserved)) << i;
    }
    EXPECT_EQ(is(c, special_query_set), is(c, query_set) || c == '\'') << i;
    EXPECT_TRUE(!is(c, query_set) || is(c, path_set)) << i;
    EXPECT_TRUE(!is(c, path_set) || is(c, userinfo_set)) << i;
    EXPECT_TRUE(!is(c, forbidden_host) || is(c, forbidden_domain)) << i;
  }
  EXPECT_FALSE(is('%', userinfo_set));
  EXPECT_TRUE(is('%', forbidden_domain));
  EXPECT_FALSE(is('%', forbidden_host));
}

TEST(PercentEncode, DecodingUndoesEncoding) {
  std::string bytes;
  for (int i = 0; i < 256; ++i) {
    if (i != '%') bytes.push_back(static_cast<char>(i));
  }
  std::string encoded;
  append_percent_encoded(encoded, bytes, userinfo_set);
  EXPECT_EQ(percent_decode(encoded), bytes);
  EXPECT_EQ(percent_decode("%25%s%1G%"), "%%s%1G%");  // the standard's example, and a '%' at the end
}

// The slow obvious twin of path(): segments on a list, as the standard words it.
std::string slow_path(std::string_view text) {
  std::vector<std::string> segments;
  std::string buffer;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    const bool end = i == text.size();
    if (!end && text[i] != '/' && text[i] != '\\') {
      append_percent_encoded(buffer, text.substr(i, 1), path_set);
      continue;
    }
    std::string dots;
    for (std::size_t k = 0; k < buffer.size(); ++k) {
      const bool escaped = buffer.compare(k, 3, "%2e") == 0 || buffer.compare(k, 3, "%2E") == 0;
      dots += escaped ? '.' : buffer[k];
      k += escaped ? 2 : 0;
    }
    if (dots == "..") {
      if (!segments.empty()) segments.pop_back();
      if (end) segments.emplace_back();
    } else if (dots == ".") {
      if (end) segments.emplace_back();
    } else {
      segments.push_back(buffer);
    }
    buffer.clear();
  }
  std::string out;
  for (const std::string& segment : segments) out += "/" + segment;
  return out;
}

TEST(Url, Property_PathsAsTheSlowTwinHasThem) {
  std::mt19937 random(20260801);
  const std::vector<std::string> pieces = {"/", "/",  "\\",  ".", "..", "%2e",      "%2E",
                                           "a", "b%", "%41", " ", "{",  "\xc3\xa9", "~"};
  for (int round = 0; round < 20000; ++round) {
    std::string path;
    for (auto left = random() % 12; left > 0; --left) path += pieces[random() % pieces.size()];
    const Result<Url> url = Url::parse("http://h/" + path + "?q");
    ASSERT_TRUE(url);
    ASSERT_EQ(url->path(), slow_path(path)) << path;
  }
}

// URL standard, 4.5: parsing a serialised URL gives the same URL; for any bytes at all.
TEST(Url, Property_SerialisationParsesToItself) {
  std::mt19937 random(7);
  const std::vector<std::string> pieces = {"http:", "file:", "x:", "//", "/",   "\\",       "@",    ":", "[",  "]",
                                           "?",     "#",     ".",  "..", "%2e", "C:",       "C|",   " ", "\t", "h",
                                           "1",     "0x",    "::", "%",  "%41", "\xc3\xbc", "\xff", "'", "^",  "|"};
  int parsed = 0;
  for (int round = 0; round < 100000; ++round) {
    std::string text;
    for (auto left = random() % 14; left > 0; --left) text += pieces[random() % pieces.size()];
    const Result<Url> url = Url::parse(text);
    if (!url) continue;
    ++parsed;
    const Result<Url> again = Url::parse(url->href());
    ASSERT_TRUE(again) << text << " gave " << url->href();
    ASSERT_EQ(again->href(), url->href()) << text;
  }
  EXPECT_GT(parsed, 10000);
}

}  // namespace
}  // namespace orbweaver
