// X-Robots-Tag and <meta name=robots>: every word, for all crawlers and for one crawler.
#include "node/robots/robots_meta.h"

#include <gtest/gtest.h>

namespace orbweaver {
namespace {

using namespace std::chrono_literals;
using std::chrono::sys_days;
using Words = std::vector<std::string>;

RobotsMeta header(std::string_view value, std::string_view agent = "orbweaver") {
  RobotsMeta meta;
  meta.add_header(value, agent);
  return meta;
}

RobotsMeta tag(std::string_view name, std::string_view content) {
  RobotsMeta meta;
  meta.add_meta(name, content, "orbweaver");
  return meta;
}

TEST(RobotsMeta, Words_EachSaysWhatItSays) {
  EXPECT_EQ(header("noindex").words(), (Words{"noindex"}));
  EXPECT_EQ(header("NoFollow , noSnippet").words(), (Words{"nofollow", "nosnippet"}));
  EXPECT_EQ(header("none").words(), (Words{"noindex", "nofollow"}));
  EXPECT_EQ(header("noarchive").words(), (Words{"noarchive"}));
  EXPECT_EQ(header("nocache").words(), (Words{"noarchive"}));
  EXPECT_EQ(header("max-snippet:0").words(), (Words{"nosnippet"}));
  EXPECT_EQ(header("max-snippet: 20, max-image-preview: large").words(), Words{});
  for (const std::string_view nothing : {"", ",,,", "all", "index, follow", "noindexed", "no index", ":", "::noindex:"})
    EXPECT_EQ(header(nothing).words(), Words{}) << nothing;
}

TEST(RobotsMeta, XRobotsTag_AUserAgentsNameNarrowsWhatFollows) {
  EXPECT_EQ(header("otherbot: noindex, nofollow").words(), Words{});
  EXPECT_EQ(header("orbweaver: noindex, nofollow").words(), (Words{"noindex", "nofollow"}));
  EXPECT_EQ(header("ORBWEAVER: none").words(), (Words{"noindex", "nofollow"}));
  EXPECT_EQ(header("otherbot: noindex, nofollow, orbweaver: nosnippet, noarchive").words(),
            (Words{"nosnippet", "noarchive"}))
      << "fields that a proxy joined (RFC 9110, 5.3)";
  EXPECT_EQ(header("noarchive, otherbot: noindex").words(), (Words{"noarchive"}));
  EXPECT_EQ(header("otherbot: unavailable_after: 25 Jun 2010 15:00:00 PST").noindex_at(Time(sys_days{2020y / 1 / 1})),
            false);
}

TEST(RobotsMeta, MetaTag_RobotsAndOurOwnNameOnly) {
  EXPECT_EQ(tag("robots", "noindex").words(), (Words{"noindex"}));
  EXPECT_EQ(tag(" ROBOTS ", "noindex nofollow").words(), (Words{"noindex", "nofollow"}));
  EXPECT_EQ(tag("OrbWeaver", "nofollow").words(), (Words{"nofollow"}));
  EXPECT_EQ(tag("googlebot", "none").words(), Words{});
  EXPECT_EQ(tag("description", "none").words(), Words{});
  EXPECT_EQ(tag("robots", "otherbot: noindex").words(), Words{}) << "names are for headers";
}

TEST(RobotsMeta, Several_TheStricterWordHolds) {
  RobotsMeta meta;
  meta.add_header("nofollow", "orbweaver");
  meta.add_meta("robots", "all", "orbweaver");
  meta.add_meta("orbweaver", "index, follow", "orbweaver");
  meta.add_meta("robots", "noarchive", "orbweaver");
  EXPECT_EQ(meta.words(), (Words{"nofollow", "noarchive"}));
}

TEST(RobotsMeta, UnavailableAfter_InEveryFormThatIsInUse) {
  const Time when = Time(sys_days{2010y / 6 / 25}) + 23h;
  for (const std::string_view value :
       {"unavailable_after: 25 Jun 2010 15:00:00 PST", "unavailable_after: Friday, 25 Jun 2010 15:00:00 PST, nosnippet",
        "unavailable_after: 25-Jun-2010 15:00:00 PST", "nosnippet, unavailable_after: 2010-06-25T15:00:00-08:00",
        "orbweaver: unavailable_after: 25 Jun 10 23:00:00 GMT"}) {
    const RobotsMeta meta = header(value);
    ASSERT_TRUE(meta.unavailable_after) << value;
    EXPECT_EQ(*meta.unavailable_after, when) << value;
    EXPECT_FALSE(meta.noindex_at(when - 1us));
    EXPECT_TRUE(meta.noindex_at(when));
    EXPECT_EQ(meta.nosnippet, value.find("nosnippet") != std::string_view::npos) << value;
  }
  EXPECT_FALSE(header("unavailable_after: some day").unavailable_after);
  RobotsMeta two = header("unavailable_after: 2010-06-26");
  two.add_meta("robots", "unavailable_after: 2010-06-25", "orbweaver");
  EXPECT_EQ(*two.unavailable_after, Time(sys_days{2010y / 6 / 25}));
}

TEST(RobotsMeta, HasRobotsWord_TellsTagsApart) {
  for (const std::string_view yes : {"noindex", "x, NOFOLLOW", "max-snippet:0", "index;follow", "\tall"})
    EXPECT_TRUE(has_robots_word(yes)) << yes;
  for (const std::string_view no : {"", "width=device-width, initial-scale=1", "a page about spiders", ",;: "})
    EXPECT_FALSE(has_robots_word(no)) << no;
}

}  // namespace
}  // namespace orbweaver
