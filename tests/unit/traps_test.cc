// The trap rules of docs/how-to/traps.md: what each one suspects, what it leaves alone, and the budget.
#include "node/scope/traps.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "node/config/settings_table.h"
#include "node/sampleweb/sample_web.h"
#include "node/text/content_fingerprint.h"
#include "node/url/canonical_url.h"

namespace orbweaver {
namespace {

// 2024-06-15
const Time now = Time(std::chrono::sys_days(std::chrono::year(2024) / 6 / 15).time_since_epoch());

std::string verdict(const std::string& path, std::uint16_t depth = 1) {
  static const TrapRules rules(default_settings());
  const auto rule = rules.suspect(path, depth, now);
  return rule ? std::string(trap_rule_name(*rule)) : "";
}

TEST(RepeatedSegments, ThreeTimesInARowOrSixTimesAnywhere) {
  for (const char* path : {"/a/a/a", "/x/a/a/a/y.html", "/a/b/a/b/a/b/", "/a/b/c/d/a/b/c/d/a/b/c/d/e",
                           "/x/a/1/a/2/a/3/a/4/a/5/a", "//a//a/a//"})
    EXPECT_EQ(verdict(path), "repeated_segments") << path;
  for (const char* path :
       {"/", "/a/a/", "/a/a/b/a/a", "/a/b/a/b/a", "/libs/a/libs/b/libs/c/libs/d/libs", "/1/2/3/4/5/6/7", "/?a/a/a/a"})
    EXPECT_EQ(verdict(path), "") << path;
  EXPECT_EQ(verdict("/" + std::string(300, '/') + "a"), "");
  std::string deep;
  for (int i = 0; i < 200; ++i) deep += "/" + std::to_string(i);
  EXPECT_EQ(verdict(deep), "repeated_segments") << "more segments than are looked at";
}

TEST(Calendar, DatesOutsideTheYearsAndPagesThatAreNoDates) {
  for (const char* path :
       {"/2031/05", "/events/2031/5/17/", "/1850/12", "/a/2027-01", "/2999-12-31.html", "/e?date=2031-05-17",
        "/e?y=2031&m=5", "/e?month=12&year=1969", "/e?d=20310517", "/e?from=203105", "/calendar/24312",
        "/Kalender/2031", "/cal/203101", "/e?x=1;year=2031;day=3"})
    EXPECT_EQ(verdict(path), "calendar") << path;
  for (const char* path : {"/2024/05",       "/2026/12/31",      "/1970/01",          "/2031",
                           "/2031/page",     "/rfc/2119/",       "/iso-8859-10.html", "/a/12031-05",
                           "/v2031-05b",     "/e?year=2031",     "/e?id=20310517",    "/e?date=2024-05-17",
                           "/calendar/2024", "/calendar/202405", "/calendar/",        "/calendar/index.html",
                           "/2031/13",       "/x-2031-00",       "/view-2031-05-x",   "/9999/05",
                           "/0999/05",       "/events/24312"})
    EXPECT_EQ(verdict(path), "") << path;
}

TEST(LongQuery, MoreParametersOrBytesThanAFormHas) {
  std::string query = "/f?";
  for (int i = 0; i < 16; ++i) query += "p" + std::to_string(i) + "=1&";
  EXPECT_EQ(verdict(query), "") << "sixteen, and an empty one that does not count";
  EXPECT_EQ(verdict(query + "q"), "long_query");
  EXPECT_EQ(verdict("/f?" + std::string(1024, 'a')), "");
  EXPECT_EQ(verdict("/f?" + std::string(1025, 'a')), "long_query");
  EXPECT_EQ(verdict("/" + std::string(2000, 'a')), "");
}

TEST(SessionId, InMidPathOrAsAParameterOfASegment) {
  for (const char* path : {"/s/0123456789abcdef/page", "/(S(4hqa0555fwsecu455xqckv45))/a.aspx",
                           "/page;jsessionid=0123456789ABCDEF0123456789ABCDEF", "/a;v=1;sid=a1b2c3d4e5f6a7b8/b",
                           "/k3J9xQ2mZ8vT4bN7wR5p/list"})
    EXPECT_EQ(verdict(path), "session_id") << path;
  for (const char* path :
       {"/commit/0123456789abcdef0123456789abcdef01234567", "/classdebian_1_1foo.html", "/0123456789012345/page",
        "/deadbeefdeadbeef/page", "/item/123e4567-e89b-12d3-a456-426614174000/view", "/internationalization2/page",
        "/a;v=1/b", "/d3/d8f/group.html", "/html/_downloads/6dc1f3f4f0e6ca13cb42ddf4d6cbc8af/tzinfo.py",
        "/iso8859charactersets2000/a"})
    EXPECT_EQ(verdict(path), "") << path;
}

TEST(DeepChain, MoreLinksFromASeedThanTrapDepth) {
  EXPECT_EQ(verdict("/a", 200), "");
  EXPECT_EQ(verdict("/a", 201), "deep_chain");
}

TEST(TrapRules, EachIsSwitchedOffByItself) {
  const std::vector<std::pair<std::string, std::string>> samples = {{"repeated_segments", "/a/a/a"},
                                                                    {"calendar", "/2031/05"},
                                                                    {"long_query", "/?" + std::string(2000, 'a')},
                                                                    {"session_id", "/s/0123456789abcdef/x"}};
  for (const auto& [off, path] : samples) {
    Settings settings = default_settings();
    std::erase(settings.trap_rules, off);
    EXPECT_FALSE(TrapRules(settings).suspect(path, 1, now)) << off;
    settings.trap_rules = {off};
    EXPECT_TRUE(TrapRules(settings).suspect(path, 1, now)) << off;
    settings.trap_rules = {};
    EXPECT_FALSE(TrapRules(settings).any());
    EXPECT_FALSE(TrapRules(settings).suspect(path, 999, now));
  }
}

TEST(TrapRules, TheBoundsAreSettings) {
  Settings settings = default_settings();
  settings.trap_repeats = 2;
  settings.trap_year_first = 1800;
  settings.trap_years_ahead = 10;
  settings.trap_parameters = 2;
  settings.trap_depth = 5;
  const TrapRules rules(settings);
  EXPECT_TRUE(rules.suspect("/a/a", 1, now));
  EXPECT_FALSE(rules.suspect("/1850/12", 1, now));
  EXPECT_FALSE(rules.suspect("/2034/12", 1, now));
  EXPECT_TRUE(rules.suspect("/2035/12", 1, now));
  EXPECT_TRUE(rules.suspect("/?a&b&c", 1, now));
  EXPECT_TRUE(rules.suspect("/x", 6, now));
}

// The URLs of the trees under /usr/share/doc, as a web server would serve them.
TEST(TrapRules, NoFileOfTheDocumentationOfDebianIsSuspect) {
  std::size_t seen = 0;
  std::vector<std::string> suspects;
  std::error_code error;
  const auto options = std::filesystem::directory_options::skip_permission_denied;
  for (auto at = std::filesystem::recursive_directory_iterator("/usr/share/doc", options, error);
       at != std::filesystem::recursive_directory_iterator(); at.increment(error)) {
    const auto url =
        CanonicalUrl::parse("http://doc.test" + at->path().string() + (at->is_directory(error) ? "/" : ""));
    if (!url) continue;
    ++seen;
    if (!verdict(std::string(url->path_and_query())).empty()) suspects.push_back(url->text());
  }
  if (seen == 0) GTEST_SKIP() << "no documentation is installed here";
  EXPECT_TRUE(suspects.empty()) << suspects.size() << " of " << seen << ", such as " << suspects.front();
  RecordProperty("urls", static_cast<int>(seen));
}

TEST(TrapRules, NoPageOfTheSampleWebIsSuspectAndItsCalendarIs) {
  sample::SampleWebShape shape;
  const sample::SampleWeb web(shape);
  for (const std::string& text : web.expected()) {
    const auto url = CanonicalUrl::parse(text);
    ASSERT_TRUE(url);
    ASSERT_EQ(verdict(std::string(url->path_and_query())), "") << text;
  }
  EXPECT_EQ(verdict("/calendar/24313"), "calendar");
}

TEST(TrapBudgets, ABudgetForEachRuleAndHostReadAgainWhenForgotten) {
  TrapBudgets budgets(2);
  const auto host = [](std::uint8_t number) { return storage::HostKey{1, {number}}; };
  int loads = 0;
  const auto load = [&] {
    ++loads;
    TrapBudgets::Counts counts{};
    counts[static_cast<std::size_t>(TrapRule::calendar)] = 2;
    return counts;
  };
  EXPECT_TRUE(budgets.admit(host(1), TrapRule::calendar, 3, load)) << "two were admitted before";
  EXPECT_FALSE(budgets.admit(host(1), TrapRule::calendar, 3, load));
  EXPECT_TRUE(budgets.admit(host(1), TrapRule::long_query, 1, load)) << "another rule, another budget";
  EXPECT_FALSE(budgets.admit(host(1), TrapRule::long_query, 1, load));
  EXPECT_EQ(loads, 1);
  EXPECT_TRUE(budgets.admit(host(2), TrapRule::calendar, 3, load));
  EXPECT_TRUE(budgets.admit(host(3), TrapRule::calendar, 3, load));
  EXPECT_EQ(budgets.hosts(), 2u) << "bounded";
  EXPECT_EQ(loads, 3);
  EXPECT_FALSE(budgets.admit(host(3), TrapRule::calendar, 0, load)) << "budget 0: none at all";
}

TEST(ContentFingerprint, TheSiteUnderAnotherNameGivesTheSame) {
  const auto page = [](const std::string& host) {
    const std::string link = "<a href=\"http://" + host + "/a/b.html\">";
    return content_fingerprint(link + "text" + link + "/a/b.html", "/a/b.html", host);
  };
  EXPECT_EQ(page("site.test"), page("mirror.example"));
}

TEST(ContentFingerprint, ThePagesOwnAddressDoesNotCount) {
  const std::string head = "<html><p>There is no ";
  const std::string tail = " here. <a href=\"next/\">next</a>";
  const auto page = [&](const std::string& path) { return content_fingerprint(head + path + tail + path, path, ""); };
  EXPECT_EQ(page("/nowhere"), page("/some/other/address"));
  EXPECT_NE(content_fingerprint(head + "a", "/x/y", ""), content_fingerprint(head + "b", "/x/y", ""));
  EXPECT_NE(content_fingerprint("", "/", ""), 0u);
  for (std::size_t size = 1; size < 40; ++size)
    EXPECT_NE(content_fingerprint(std::string(size, 'x'), "/", ""),
              content_fingerprint(std::string(size - 1, 'x'), "/", ""));
}

}  // namespace
}  // namespace orbweaver
