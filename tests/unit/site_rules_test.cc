// Settings of single sites: which entry applies to a host, and the hours in which it is asked.
#include "node/scope/site_rules.h"

#include <gtest/gtest.h>

namespace orbweaver {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

std::string pattern_of(const SiteRules& rules, std::string_view host) {
  const SiteRule* rule = rules.find(host);
  return rule == nullptr ? "" : rule->pattern;
}

TEST(SiteRules, TheMostSpecificEntryCounts) {
  const SiteRules rules(
      {"*.example.org delay=3s", "a.example.org delay=4s", "*.b.example.org", "*.example.org delay=9s"});
  EXPECT_EQ(pattern_of(rules, "a.example.org"), "a.example.org");
  EXPECT_EQ(pattern_of(rules, "b.example.org"), "*.b.example.org");
  EXPECT_EQ(pattern_of(rules, "x.b.example.org"), "*.b.example.org");
  EXPECT_EQ(pattern_of(rules, "c.example.org"), "*.example.org");
  EXPECT_EQ(pattern_of(rules, "example.org"), "*.example.org");
  EXPECT_EQ(rules.find("example.org")->delay, seconds{3}) << "of equal ones the first";
  EXPECT_EQ(pattern_of(rules, "notexample.org"), "");
  EXPECT_EQ(pattern_of(rules, "org"), "");
  EXPECT_EQ(pattern_of(rules, ""), "");
  EXPECT_EQ(pattern_of(SiteRules(), "a"), "");
}

TEST(SiteRules, AnEntryIsReadWord_ByWord) {
  const auto rule = parse_site_rule("  *.example.org   delay=1500ms hours=22:30-6 factor=0 ");
  ASSERT_TRUE(rule) << rule.error().message;
  EXPECT_EQ(rule->pattern, "*.example.org");
  EXPECT_EQ(rule->delay, std::chrono::milliseconds{1500});
  EXPECT_EQ(rule->delay_factor, 0u);
  EXPECT_EQ(rule->hours->from, hours{22} + minutes{30});
  EXPECT_EQ(rule->hours->to, hours{6});
}

TEST(SiteRules, BadInput_IsRefusedWithWhatIsAllowed) {
  for (const char* entry : {"", "*", "*.", "http://example.org", "a.*", "a delay", "a delay=5", "a delay=25h",
                            "a hours=5", "a hours=25-3", "a hours=3:60-4", "a factor=101", "a speed=3", "a b"}) {
    EXPECT_FALSE(parse_site_rule(entry)) << entry;
  }
}

TEST(Hours, TheFirstMomentWithin) {
  const Time midnight{std::chrono::days{19'000}};
  const auto at = [&](int hour, int minute = 0) { return midnight + hours{hour} + minutes{minute}; };
  const Hours night{hours{22}, hours{6}};
  EXPECT_EQ(night.first_from(at(23)), at(23));
  EXPECT_EQ(night.first_from(at(5, 59)), at(5, 59));
  EXPECT_EQ(night.first_from(at(6)), at(22));
  EXPECT_EQ(night.first_from(at(12)), at(22));
  const Hours lunch{hours{12}, hours{13}};
  EXPECT_EQ(lunch.first_from(at(11)), at(12));
  EXPECT_EQ(lunch.first_from(at(12, 30)), at(12, 30));
  EXPECT_EQ(lunch.first_from(at(13)), at(36));
  const Hours always{hours{4}, hours{4}};
  EXPECT_EQ(always.first_from(at(9)), at(9));
}

}  // namespace
}  // namespace orbweaver
