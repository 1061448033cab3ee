// Ranges of a body (RFC 9110, 14), and a body that is read as the client takes it.
#include "node/http_server/byte_range.h"

#include <gtest/gtest.h>

#include <array>

#include "tests/unit/http_client.h"

namespace orbweaver {
namespace {

TEST(ByteRange, IsReadAsTheRfcSays) {
  struct Case {
    const char* field;
    RangeKind kind;
    std::uint64_t first = 0;
    std::uint64_t bytes = 0;
  };
  const std::array cases = {
      Case{"", RangeKind::whole},
      Case{"bytes=0-9", RangeKind::part, 0, 10},
      Case{"bytes=90-", RangeKind::part, 90, 10},
      Case{"bytes=90-1000", RangeKind::part, 90, 10},
      Case{"bytes=99-99", RangeKind::part, 99, 1},
      Case{"bytes=-10", RangeKind::part, 90, 10},
      Case{"bytes=-1000", RangeKind::part, 0, 100},
      Case{"bytes=-0", RangeKind::unsatisfiable},
      Case{"bytes=100-", RangeKind::unsatisfiable},
      Case{"bytes=18446744073709551615-", RangeKind::unsatisfiable},
      // Not understood, so the whole body is the answer.
      Case{"bytes=18446744073709551616-", RangeKind::whole},
      Case{"bytes=9-0", RangeKind::whole},
      Case{"bytes=0-1,5-6", RangeKind::whole},
      Case{"bytes=-", RangeKind::whole},
      Case{"bytes=a-b", RangeKind::whole},
      Case{"bytes=+1-2", RangeKind::whole},
      Case{"bytes=1", RangeKind::whole},
      Case{"lines=0-9", RangeKind::whole},
  };
  for (const Case& one : cases) {
    ByteRange range;
    EXPECT_EQ(read_range(one.field, 100, range), one.kind) << one.field;
    EXPECT_EQ(range.first, one.first) << one.field;
    EXPECT_EQ(range.bytes, one.bytes) << one.field;
  }
  ByteRange none;
  EXPECT_EQ(read_range("bytes=0-0", 0, none), RangeKind::unsatisfiable);
  EXPECT_EQ(read_range("bytes=-1", 0, none), RangeKind::unsatisfiable);
}

HttpContent letters(std::uint64_t count) {
  return {.bytes = count, .read = [count](std::uint64_t offset, std::size_t bytes) -> Result<std::string> {
            std::string out;
            while (out.size() < bytes && offset < count) out += static_cast<char>('a' + offset++ % 26);
            return out;
          }};
}

TEST(ContentAnswer, IsTheWholeAPartOrRefused) {
  RequestHead head;
  head.range = "bytes=26-28";
  const HttpAnswer part = content_answer(head, letters(100), "text/plain");
  EXPECT_EQ(part.status, 206u);
  EXPECT_EQ(part.content->bytes, 3u);
  EXPECT_EQ(*part.content->read(1, 2), "bc");
  head.range = "bytes=100-";
  const HttpAnswer refused = content_answer(head, letters(100), "text/plain");
  EXPECT_EQ(refused.status, 416u);
  EXPECT_FALSE(refused.content);
  head.range.clear();
  EXPECT_EQ(content_answer(head, letters(100), "text/plain").status, 200u);
}

}  // namespace
}  // namespace orbweaver
