// Mirrors (docs/how-to/traps.md): who is told, who is one, which name is kept.
#include "node/crawl/mirrors.h"

#include <gtest/gtest.h>

namespace orbweaver {
namespace {

const MirrorBook::Load nothing = [] { return std::nullopt; };

TEST(SightingIndex, TellsTheOtherHostAndForgetsTheOldest) {
  SightingIndex index(2);
  EXPECT_FALSE(index.see(1, "a.test"));
  EXPECT_FALSE(index.see(1, "a.test")) << "the same host";
  EXPECT_EQ(index.see(1, "b.test"), "a.test");
  EXPECT_EQ(index.see(1, "c.test"), "b.test") << "the last that was told";
  EXPECT_FALSE(index.see(2, "a.test"));
  EXPECT_FALSE(index.see(3, "a.test"));
  EXPECT_EQ(index.size(), 2u);
  EXPECT_FALSE(index.see(1, "d.test")) << "made room";
}

TEST(MirrorBook, SoManyPagesAndThreeQuartersOfThoseThatWereTold) {
  MirrorBook book(10, 3);
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(book.tell("m.test", nothing));
  EXPECT_FALSE(book.matched("m.test", "o.test", nothing));
  EXPECT_FALSE(book.matched("m.test", "o.test", nothing));
  EXPECT_FALSE(book.matched("m.test", "o.test", nothing)) << "3 of 5";
  EXPECT_TRUE(book.matched("m.test", "o.test", nothing)) << "4 of 5";
  EXPECT_EQ(book.mirror_of("m.test", nothing), "o.test");
  EXPECT_FALSE(book.matched("m.test", "o.test", nothing)) << "told once";
  EXPECT_FALSE(book.tell("m.test", nothing)) << "nothing is left to find out";
}

TEST(MirrorBook, AFewPagesInCommonMakeNone) {
  MirrorBook book(10, 3);
  int told = 0;
  while (book.tell("m.test", nothing)) ++told;
  EXPECT_EQ(told, 12) << "bounded";
  for (int i = 0; i < 8; ++i) EXPECT_FALSE(book.matched("m.test", "o.test", nothing));
  EXPECT_TRUE(book.mirror_of("m.test", nothing).empty());
  for (int i = 0; i < 9; ++i) {
    const std::string other = std::string(1, static_cast<char>('a' + i)) + ".test";
    EXPECT_FALSE(book.matched("x.test", other, nothing));
  }
}

TEST(MirrorBook, AVerdictIsReadAgainAndALiftedOneStaysLifted) {
  MirrorBook book(1, 2);
  EXPECT_EQ(book.mirror_of("m.test", [] { return std::optional<std::string>("o.test"); }), "o.test");
  EXPECT_EQ(book.mirror_of("n.test", nothing), "");
  EXPECT_EQ(book.size(), 1u) << "bounded";
  const auto lifted = [] { return std::optional<std::string>(""); };
  EXPECT_EQ(book.mirror_of("m.test", lifted), "");
  EXPECT_FALSE(book.tell("m.test", nothing));
  EXPECT_FALSE(book.matched("m.test", "o.test", nothing));
  EXPECT_FALSE(book.matched("m.test", "o.test", nothing));
  EXPECT_EQ(book.mirror_of("m.test", nothing), "");
}

TEST(Mirrors, TheShorterNameIsKeptThenTheFirst) {
  EXPECT_TRUE(better_name("site.test", "www.site.test"));
  EXPECT_FALSE(better_name("www.site.test", "site.test"));
  EXPECT_TRUE(better_name("a.test", "b.test"));
  EXPECT_FALSE(better_name("a.test", "a.test"));
}

}  // namespace
}  // namespace orbweaver
