// Lines of indexes, and the key that ReplayWeb.page looks for.
#include <gtest/gtest.h>

#include <array>
#include <utility>

#include "node/archive/index_lines.h"
#include "node/archive/replay_key.h"

namespace orbweaver::archive {
namespace {

TEST(ReplayKey, IsWhatTheEngineMakesOfAUrl) {
  const std::array<std::pair<const char*, const char*>, 14> cases = {{
      {"http://example.com/", "com,example)/"},
      {"https://www.example.com/", "com,example)/"},
      {"http://www12.example.com/a", "com,example)/a"},
      {"http://wwwx.example.com/a", "com,example,wwwx)/a"},
      {"http://www/", "www)/"},
      {"http://example.com:8080/A/b/", "com,example:8080)/a/b/"},
      {"http://www.example.com:8080/", "com,example:8080)/"},
      {"http://example.com/?b=2&a=1", "com,example)/?a=1&b=2"},
      {"http://example.com/x?a=2&a=1&a", "com,example)/x?a&a=1&a=2"},
      {"http://example.com/x?", "com,example)/x"},
      {"http://example.com?q", "com,example)/?q"},
      {"http://127.0.0.1:80/x#part", "1,0,0,127:80)/x"},
      {"http://[::1]:81/x", "[::1]:81)/x"},
      {"mailto:A@example.com", "mailto:A@example.com"},
  }};
  for (const auto& [url, key] : cases) EXPECT_EQ(replay_key(url), key) << url;
}

Capture example() {
  Capture capture;
  capture.url = "http://example.com/a b";
  capture.timestamp = "20261127120000";
  capture.mime = "text/html";
  capture.status = "301";
  capture.digest = "sha1:ABC";
  capture.location = "/next page";
  capture.file = "x.warc.gz";
  capture.offset = 5;
  capture.length = 70;
  return capture;
}

TEST(IndexLines, AreCdxjAndCdx11) {
  const Capture capture = example();
  EXPECT_EQ(cdxj_line(capture, "com,example)/a"),
            R"(com,example)/a 20261127120000 {"url":"http://example.com/a b","mime":"text/html","status":"301",)"
            R"("digest":"sha1:ABC","length":"70","offset":"5","filename":"x.warc.gz"})");
  EXPECT_EQ(cdx11_line(capture, "com,example)/a"),
            "com,example)/a 20261127120000 http://example.com/a%20b text/html 301 ABC /next%20page - 70 5 x.warc.gz");
  for (const char* key : {"", "a b", "a\nb"}) {
    EXPECT_TRUE(cdxj_line(capture, key).empty());
    EXPECT_TRUE(cdx11_line(capture, key).empty());
  }
}

TEST(IndexLines, BytesThatAreNoUtf8StayOutOfTheJson) {
  Capture capture = example();
  capture.url = "http://example.com/\xff";
  EXPECT_NE(cdxj_line(capture, "k").find("\xef\xbf\xbd"), std::string::npos);
}

TEST(BlockWriter, WritesBlocksOfSoManyLines) {
  std::vector<std::string> firsts;
  std::uint64_t end = 0;
  BlockWriter blocks(2, [&](const BlockWriter::Block& block) -> Result<void> {
    EXPECT_EQ(block.offset, end);
    EXPECT_TRUE(block.bytes.starts_with("\x1f\x8b"));
    end += block.bytes.size();
    firsts.push_back(block.first);
    return {};
  });
  for (const char* line : {"a 1 {}", "b 2 {}", "c 3 {}"}) ASSERT_TRUE(blocks.add(line));
  ASSERT_TRUE(blocks.finish());
  EXPECT_EQ(firsts, (std::vector<std::string>{"a 1", "c 3"}));
}

}  // namespace
}  // namespace orbweaver::archive
