// Header fields, chunked framing, content codings and HTTP dates.
#include "node/http/http_message.h"

#include <gtest/gtest.h>
#include <libdeflate.h>
#include <zstd.h>

#include <random>

#include "tests/unit/suites.h"

namespace orbweaver {
namespace {

constexpr std::size_t no_limit = 1u << 30;

std::string gzip(const std::string& text) {
  libdeflate_compressor* compressor = libdeflate_alloc_compressor(6);
  std::string out(libdeflate_gzip_compress_bound(compressor, text.size()), '\0');
  out.resize(libdeflate_gzip_compress(compressor, text.data(), text.size(), out.data(), out.size()));
  libdeflate_free_compressor(compressor);
  return out;
}

std::string noise(std::size_t bytes) {
  std::mt19937 random(11);
  std::string text(bytes, '\0');
  for (char& c : text) c = static_cast<char>(random() % 64 + 32);
  return text;
}

TEST(HttpMessage, MediaTypeIsLowerCaseWithoutParameters) {
  EXPECT_EQ(media_type("Text/HTML; charset=x"), "text/html");
  EXPECT_EQ(media_type(" text/plain\t"), "text/plain");
  EXPECT_EQ(media_type(""), "");
}

TEST(HttpHeader, Rfc9110_5_1_NamesIgnoreCase) {
  const char* head = "HTTP/1.1 200 OK\r\nContent-Type:  text/html \r\nX: a\r\nx: b\r\n\r\nY: body\r\n";
  EXPECT_EQ(header_value(head, "content-TYPE"), "text/html");
  EXPECT_EQ(header_value(head, "x"), "a");
  EXPECT_EQ(header_values(head, "X"), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(header_value(head, "y"), std::nullopt);
  EXPECT_EQ(header_value("", "y"), std::nullopt);
  EXPECT_EQ(header_value("HTTP/1.1 200 x: y\r\n\r\n", "HTTP/1.1 200 x"), std::nullopt);
}

TEST(HttpHeader, Rfc9112_5_2_ObsFoldIsUnfolded) {
  EXPECT_EQ(header_value("HTTP/1.1 200 OK\r\nA: one\r\n  two\r\n\tthree\r\nB: x\r\n\r\n", "a"), "one two three");
  EXPECT_EQ(header_value("HTTP/1.1 200 OK\nA:\n b\nC: d\n\n", "c"), "d");
}

TEST(HttpChunked, Rfc9112_7_1_Decodes) {
  const Decoded d = decode_chunked("4;ext=\"v\"\r\nWiki\r\n5\r\npedia\r\n0\r\nTrailer: x\r\n\r\n", no_limit);
  EXPECT_EQ(d.bytes, "Wikipedia");
  EXPECT_FALSE(d.damaged || d.cut);
}

TEST(HttpChunked, DamageIsToldAndWhatCameIsKept) {
  for (const char* body : {"4\r\nWi", "4\r\nWikiX", "zz\r\nWiki", "4\r\nWiki\r\n", "", "-4\r\nWiki\r\n0\r\n\r\n",
                           "ffffffffffffffffff\r\nx", "fffffffffffffff\r\nWiki"}) {
    const Decoded d = decode_chunked(body, no_limit);
    EXPECT_TRUE(d.damaged) << body;
    EXPECT_FALSE(d.problem.empty()) << body;
    EXPECT_TRUE(std::string_view("Wiki").starts_with(d.bytes) || d.bytes == "x") << body;
  }
}

TEST(HttpChunked, StopsAtTheLimit) {
  const Decoded d = decode_chunked("4\r\nWiki\r\n5\r\npedia\r\n0\r\n\r\n", 6);
  EXPECT_EQ(d.bytes, "Wikipe");
  EXPECT_TRUE(d.cut);
  EXPECT_FALSE(decode_chunked("4\r\nWiki\r\n0\r\n\r\n", 4).cut);
}

TEST(HttpChunked, EveryCutIsDamage) {
  const std::string whole = "4\r\nWiki\r\n5;x\r\npedia\r\n0\r\n";
  for (std::size_t i = 0; i + 1 < whole.size(); ++i) {
    EXPECT_TRUE(decode_chunked(whole.substr(0, i), no_limit).damaged) << i;
  }
}

TEST(HttpContent, GzipWholeInMembersAndPadded) {
  const std::string text = noise(100'000);
  EXPECT_EQ(decode_content(gzip(text), "gzip", no_limit).bytes, text);
  EXPECT_EQ(decode_content(gzip(text), " X-GZIP ", no_limit).bytes, text);
  EXPECT_EQ(decode_content(gzip(text) + gzip("more") + gzip(""), "gzip", no_limit).bytes, text + "more");
  const Decoded padded = decode_content(gzip(text) + std::string(16, '\0'), "gzip", no_limit);
  EXPECT_EQ(padded.bytes, text);
  EXPECT_FALSE(padded.damaged);
}

TEST(HttpContent, ListsAreUndoneInReverse) {
  EXPECT_EQ(decode_content(gzip(gzip("x")), "gzip, gzip", no_limit).bytes, "x");
  EXPECT_EQ(decode_content(gzip("x"), "identity, gzip,", no_limit).bytes, "x");
}

TEST(HttpContent, UnknownCodingLeavesBytes) {
  const Decoded d = decode_content("abc", "gzip, sdch", no_limit);
  EXPECT_EQ(d.bytes, "abc");
  EXPECT_TRUE(d.damaged);
  EXPECT_NE(d.problem.find("sdch"), std::string::npos);
  EXPECT_TRUE(decode_content("abc", "gzip,gzip,gzip,gzip,gzip,gzip", no_limit).damaged);
}

TEST(HttpContent, IdentityIsBounded) {
  EXPECT_EQ(decode_content("abc", "", no_limit).bytes, "abc");
  EXPECT_EQ(decode_content("abc", "none", 2).bytes, "ab");
  EXPECT_TRUE(decode_content("abc", "identity", 2).cut);
  EXPECT_FALSE(decode_content("abc", "identity", 3).cut);
}

TEST(HttpContent, LimitCutsAtTheByte) {
  const std::string text = noise(50'000);
  std::string zstd(ZSTD_compressBound(text.size()), '\0');
  zstd.resize(ZSTD_compress(zstd.data(), zstd.size(), text.data(), text.size(), 3));
  for (const std::size_t limit : {0u, 1u, 16'384u, 49'999u, 50'000u, 50'001u}) {
    for (const auto& [body, coding] : {std::pair(gzip(text), "gzip"), std::pair(zstd, "zstd")}) {
      const Decoded d = decode_content(body, coding, limit);
      EXPECT_EQ(d.bytes, text.substr(0, limit)) << coding << limit;
      EXPECT_EQ(d.cut, limit < text.size()) << coding << limit;
      EXPECT_FALSE(d.damaged) << coding << limit;
    }
  }
}

TEST(HttpContent, GzipTrailerThatLiesAboutItsSize) {
  std::string body = gzip("hello");
  body[body.size() - 1] = '\x7F';  // claims 2 GB
  const Decoded d = decode_content(body, "gzip", no_limit);
  EXPECT_EQ(d.bytes, "hello");
  EXPECT_TRUE(d.damaged);
}

TEST(HttpContent, EveryCutOfEveryCodingIsDamage) {
  const std::string text = noise(300);
  std::string zstd(ZSTD_compressBound(text.size()), '\0');
  zstd.resize(ZSTD_compress(zstd.data(), zstd.size(), text.data(), text.size(), 3));
  for (const auto& [body, coding] : {std::pair(gzip(text), "gzip"), std::pair(zstd, "zstd")}) {
    for (std::size_t i = 0; i < body.size(); ++i) {
      const Decoded d = decode_content(body.substr(0, i), coding, no_limit);
      EXPECT_TRUE(d.damaged) << coding << i;
      EXPECT_TRUE(text.starts_with(d.bytes)) << coding << i;
    }
  }
}

TEST(HttpSuites, ScrapyCompressed_RightOrRecorded) {
  const std::string folder = "http/scrapy_compressed/";
  if (!test::suite_exists(folder)) GTEST_SKIP() << "no " << test::suite_path(folder) << " (set ORBWEAVER_SUITES)";
  const auto decode = [&folder](const std::string& name, const char* coding, std::size_t limit) {
    return decode_content(test::read_file(test::suite_path(folder + name)), coding, limit);
  };
  const std::string page = decode("html-gzip.bin", "gzip", no_limit).bytes;
  EXPECT_GT(page.size(), 10'000u);
  const std::pair<const char*, const char*> good[] = {{"html-br.bin", "br"},
                                                      {"html-rawdeflate.bin", "deflate"},
                                                      {"html-zlibdeflate.bin", "deflate"},
                                                      {"html-gzip-deflate.bin", "gzip, deflate"},
                                                      {"html-gzip-deflate-gzip.bin", "gzip, deflate, gzip"},
                                                      {"html-zstd-static-content-size.bin", "zstd"},
                                                      {"html-zstd-static-no-content-size.bin", "zstd"},
                                                      {"html-zstd-streaming-no-content-size.bin", "zstd"}};
  for (const auto& [name, coding] : good) {
    const Decoded d = decode(name, coding, no_limit);
    EXPECT_FALSE(d.damaged || d.cut) << name << d.problem;
    EXPECT_GT(d.bytes.size(), 10'000u) << name;
  }
  EXPECT_EQ(decode("feed-sample1.xml.gz", "gzip", no_limit).bytes,
            test::read_file(test::suite_path(folder + "feed-sample1.xml")));

  const std::pair<const char*, const char*> bombs[] = {
      {"bomb-br.bin", "br"}, {"bomb-deflate.bin", "deflate"}, {"bomb-gzip.bin", "gzip"}, {"bomb-zstd.bin", "zstd"}};
  for (const auto& [name, coding] : bombs) {
    const Decoded d = decode(name, coding, 1 << 20);
    EXPECT_EQ(d.bytes.size(), 1u << 20) << name;
    EXPECT_LE(d.bytes.capacity(), 4u << 20) << name;
    EXPECT_TRUE(d.cut) << name;
  }
  for (const char* name : {"truncated-crc-error-short.gz", "truncated-crc-error.gz", "unexpected-eof.gz"}) {
    const Decoded d = decode(name, "gzip", no_limit);
    EXPECT_TRUE(d.damaged) << name;
    EXPECT_FALSE(d.bytes.empty()) << name;
    EXPECT_FALSE(d.problem.empty()) << name;
  }
  // The recorded text is these bytes read as Latin-1 and written as UTF-8.
  std::string utf8;
  for (const char c : decode("unexpected-eof.gz", "gzip", no_limit).bytes) {
    const auto octet = static_cast<unsigned char>(c);
    if (octet >= 0x80) utf8 += static_cast<char>(0xC0 | (octet >> 6));
    utf8 += octet < 0x80 ? c : static_cast<char>(0x80 | (octet & 0x3F));
  }
  EXPECT_TRUE(utf8 == test::read_file(test::suite_path(folder + "unexpected-eof-output.txt")));
}

TEST(HttpSuites, ScrapyCompressed_WrongCodingNeverHurts) {
  const std::string folder = test::suite_path("http/scrapy_compressed");
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "no " << folder << " (set ORBWEAVER_SUITES)";
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    ++files;
    const std::string body = test::read_file(entry.path().string());
    for (const char* coding : {"gzip", "deflate", "br", "zstd", "gzip, br", "zstd, deflate"}) {
      const Decoded d = decode_content(body, coding, 1 << 20);
      EXPECT_LE(d.bytes.size(), 1u << 20) << entry.path() << coding;
      EXPECT_EQ(d.problem.empty(), !d.damaged && !d.cut) << entry.path() << coding;
    }
  }
  EXPECT_EQ(files, 22u);
}

Time at(std::chrono::sys_days day, std::chrono::seconds clock) { return Time(day) + clock; }

TEST(HttpDate, Rfc9110_5_6_7_ThreeForms) {
  using namespace std::chrono;
  const Time want = at(sys_days(1994y / November / 6), 8h + 49min + 37s);
  EXPECT_EQ(parse_http_date("Sun, 06 Nov 1994 08:49:37 GMT"), want);
  EXPECT_EQ(parse_http_date("Sunday, 06-Nov-94 08:49:37 GMT"), want);
  EXPECT_EQ(parse_http_date("Sun Nov  6 08:49:37 1994"), want);
  EXPECT_EQ(parse_http_date("Sunday, 06-Nov-24 08:49:37 GMT"), at(sys_days(2024y / November / 6), 8h + 49min + 37s));
}

TEST(HttpDate, BadDatesAreNothing) {
  for (const char* text :
       {"", "0", "-1", "Sun, 31 Feb 2024 00:00:00 GMT", "Sun, 06 Nov 1994 24:00:00 GMT", "Sun, 06 Nov 1994 08:49:37",
        "Sun, 06 Foo 1994 08:49:37 GMT", "Sun, 06-Nov-94-1 08:49:37 GMT", "a b c d e f g h",
        "Sun, -6 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 99999999999 08:49:37 GMT", "Sun, 06 Nov 1994 08-49:37 GMT"}) {
    EXPECT_EQ(parse_http_date(text), std::nullopt) << text;
  }
}

TEST(HttpRetryAfter, Rfc9110_10_2_3_SecondsAndDates) {
  using namespace std::chrono;
  const Time now = at(sys_days(1994y / November / 6), 8h);
  const auto wait = [now](const std::string& value) {
    return retry_after("HTTP/1.1 503 x\r\nRetry-After: " + value + "\r\n\r\n", now);
  };
  EXPECT_EQ(wait("120"), Duration(seconds(120)));
  EXPECT_EQ(wait("Sun, 06 Nov 1994 08:49:37 GMT"), Duration(49min + 37s));
  EXPECT_EQ(wait("Sun, 06 Nov 1994 07:49:37 GMT"), Duration::zero());
  EXPECT_EQ(wait("soon"), std::nullopt);
  EXPECT_EQ(wait("-5"), std::nullopt);
  EXPECT_EQ(retry_after("HTTP/1.1 503 x\r\n\r\n", now), std::nullopt);
  ASSERT_TRUE(wait("99999999999999999999999"));
  EXPECT_GT(*wait("99999999999999999999999"), Duration(hours(24 * 365)));
  EXPECT_LT(*wait("99999999999999999999999"), Duration(hours(24 * 366 * 11)));
}

TEST(HttpMessage, Fetch_ExtractAMimeType) {
  const auto type = [](const std::string& fields) { return content_type_of("HTTP/1.1 200 OK\r\n" + fields + "\r\n"); };
  EXPECT_EQ(type(""), "");
  EXPECT_EQ(type("Content-Type: Text/HTML ; Charset = utf-8\r\n"), "Text/HTML ; Charset = utf-8");
  EXPECT_EQ(type("Content-Type: text/plain\r\nContent-Type: text/html;charset=koi8-r\r\n"), "text/html;charset=koi8-r");
  EXPECT_EQ(type("Content-Type: text/html, bogus\r\n"), "text/html");
  EXPECT_EQ(type("Content-Type: text/plain, text/html\r\n"), "text/html");
  EXPECT_EQ(type("Content-Type: text/html;charset=gbk, text/html\r\n"), "text/html; charset=gbk");
  EXPECT_EQ(type("Content-Type: text/html;charset=gbk, x/x, text/html\r\n"), "text/html");
  EXPECT_EQ(type("Content-Type: text/html;charset=gbk, text/html;charset=koi8-r, */*\r\n"), "text/html;charset=koi8-r");
  EXPECT_EQ(type("Content-Type: text/html;x=\"a,b/c\";charset=gbk\r\n"), "text/html;x=\"a,b/c\";charset=gbk");
  EXPECT_EQ(type("Content-Type: nothing\r\nContent-Type: at all\r\n"), "nothing");
}

}  // namespace
}  // namespace orbweaver
