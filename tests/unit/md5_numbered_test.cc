// Numbered digests are what md5() gives for the same bytes: the ring's points depend on them.
#include "ring/md5_numbered.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace orbweaver::ring {
namespace {

std::string numbered(std::string bytes, std::uint32_t number) {
  for (int shift = 24; shift >= 0; shift -= 8) bytes.push_back(static_cast<char>((number >> shift) & 0xff));
  return bytes;
}

TEST(Md5Numbered, EachIsTheDigestOfItsPrefixAndNumber) {
  std::string prefix;
  for (; prefix.size() <= max_numbered_prefix; prefix.push_back(static_cast<char>(prefix.size() * 37 + 200))) {
    for (const std::uint32_t first : {0u, 0x01fffffeu, 0xfffffffdu}) {
      std::vector<Md5> digests(7);
      md5_numbered(prefix, first, digests);
      for (std::uint32_t i = 0; i < digests.size(); ++i)
        ASSERT_EQ(digests[i], md5(numbered(prefix, first + i))) << prefix.size() << " bytes, number " << first + i;
    }
  }
}

TEST(Md5Numbered, AnyCountFillsThatManyAndNoMore) {
  for (std::size_t count = 0; count <= 9; ++count) {
    std::vector<Md5> digests(10);
    md5_numbered("partition", 5, std::span(digests).first(count));
    for (std::size_t i = 0; i < digests.size(); ++i)
      EXPECT_EQ(digests[i], i < count ? md5(numbered("partition", 5 + static_cast<std::uint32_t>(i))) : Md5{});
  }
}

TEST(Md5NumberedDeathTest, APrefixOfMoreThanOneBlockIsABrokenPromise) {
  std::vector<Md5> digests(1);
  EXPECT_DEATH(md5_numbered(std::string(max_numbered_prefix + 1, 'x'), 0, digests), "more than one block");
}

}  // namespace
}  // namespace orbweaver::ring
