// Mirrors (docs/how-to/traps.md): which peer gets a report, which host is a mirror, which name is kept.
#include "node/links/mirror_index.h"

#include <gtest/gtest.h>

namespace orbweaver {
namespace {

const MirrorVerdicts::Load nothing = [] { return std::nullopt; };

TEST(PageFingerprintIndex, TellsTheOtherHostAndForgetsTheOldest) {
  PageFingerprintIndex index(2);
  EXPECT_FALSE(index.see(1, "a.test"));
  EXPECT_FALSE(index.see(1, "a.test")) << "the same host";
  EXPECT_EQ(index.see(1, "b.test"), "a.test");
  EXPECT_EQ(index.see(1, "c.test"), "b.test") << "the last that was told";
  EXPECT_FALSE(index.see(2, "a.test"));
  EXPECT_FALSE(index.see(3, "a.test"));
  EXPECT_EQ(index.size(), 2u);
  EXPECT_FALSE(index.see(1, "d.test")) << "made room";
}

TEST(MirrorVerdicts, SoManyPagesAndThreeQuartersOfThoseThatWereTold) {
  MirrorVerdicts verdicts(10, 3);
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(verdicts.tell("m.test", nothing));
  EXPECT_FALSE(verdicts.matched("m.test", "o.test", nothing));
  EXPECT_FALSE(verdicts.matched("m.test", "o.test", nothing));
  EXPECT_FALSE(verdicts.matched("m.test", "o.test", nothing)) << "3 of 5";
  EXPECT_TRUE(verdicts.matched("m.test", "o.test", nothing)) << "4 of 5";
  EXPECT_EQ(verdicts.mirror_of("m.test", nothing), "o.test");
  EXPECT_FALSE(verdicts.matched("m.test", "o.test", nothing)) << "reported once";
  EXPECT_FALSE(verdicts.tell("m.test", nothing)) << "nothing is left to find out";
}

TEST(MirrorVerdicts, AFewPagesInCommonMakeNone) {
  MirrorVerdicts verdicts(10, 3);
  int reported = 0;
  while (verdicts.tell("m.test", nothing)) ++reported;
  EXPECT_EQ(reported, 12) << "bounded";
  for (int i = 0; i < 8; ++i) EXPECT_FALSE(verdicts.matched("m.test", "o.test", nothing));
  EXPECT_TRUE(verdicts.mirror_of("m.test", nothing).empty());
  for (int i = 0; i < 9; ++i) {
    const std::string other = std::string(1, static_cast<char>('a' + i)) + ".test";
    EXPECT_FALSE(verdicts.matched("x.test", other, nothing));
  }
}

TEST(MirrorVerdicts, AVerdictIsReadAgainAndALiftedOneStaysLifted) {
  MirrorVerdicts verdicts(1, 2);
  EXPECT_EQ(verdicts.mirror_of("m.test", [] { return std::optional<std::string>("o.test"); }), "o.test");
  EXPECT_EQ(verdicts.mirror_of("n.test", nothing), "");
  EXPECT_EQ(verdicts.size(), 1u) << "bounded";
  const auto lifted = [] { return std::optional<std::string>(""); };
  EXPECT_EQ(verdicts.mirror_of("m.test", lifted), "");
  EXPECT_FALSE(verdicts.tell("m.test", nothing));
  EXPECT_FALSE(verdicts.matched("m.test", "o.test", nothing));
  EXPECT_FALSE(verdicts.matched("m.test", "o.test", nothing));
  EXPECT_EQ(verdicts.mirror_of("m.test", nothing), "");
}

TEST(Mirrors, TheShorterNameIsKeptThenTheFirst) {
  EXPECT_TRUE(better_name("site.test", "www.site.test"));
  EXPECT_FALSE(better_name("www.site.test", "site.test"));
  EXPECT_TRUE(better_name("a.test", "b.test"));
  EXPECT_FALSE(better_name("a.test", "a.test"));
}

}  // namespace
}  // namespace orbweaver
