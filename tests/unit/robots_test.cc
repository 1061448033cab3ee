// RobotsRules: the rules of RFC 9309, the tolerance of Google's parser, and the bounds.
#include "node/robots/robots.h"

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <map>
#include <random>
#include <sstream>

#include "node/robots/robots_pattern.h"
#include "node/tools/robots_command.h"

namespace orbweaver {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

bool allowed(std::string_view body, std::string_view path, std::string_view agent = "orbweaver") {
  return RobotsRules::parse(body, agent).allowed(path);
}

// The obvious matcher: tries every length for every star. Exponential, so only for short texts.
bool slow_matches(std::string_view pattern, std::string_view text) {
  if (pattern.empty()) return true;
  if (pattern == "$") return text.empty();
  if (pattern.front() == '*') {
    for (std::size_t skip = 0; skip <= text.size(); ++skip) {
      if (slow_matches(pattern.substr(1), text.substr(skip))) return true;
    }
    return false;
  }
  return !text.empty() && text.front() == pattern.front() && slow_matches(pattern.substr(1), text.substr(1));
}

TEST(RobotsPattern, MatchesItsSlowTwin) {
  std::mt19937 random(20240901);
  const auto draw = [&random](std::string_view letters, unsigned longest) {
    std::string text(random() % (longest + 1), ' ');
    for (char& c : text) c = letters[random() % letters.size()];
    return text;
  };
  std::size_t hits = 0;
  for (int i = 0; i < 200'000; ++i) {
    std::string pattern = draw("aab*", 7);
    if (random() % 3 == 0) pattern += '$';
    const std::string text = draw("ab", 9);
    ASSERT_EQ(robots::matches(pattern, text), slow_matches(pattern, text)) << pattern << " on " << text;
    hits += robots::matches(pattern, text) ? 1 : 0;
  }
  EXPECT_GT(hits, 20'000u);
  EXPECT_LT(hits, 180'000u);
}

TEST(RobotsPattern, ManyStarsCostNoBacktracking) {
  std::string pattern = "/";
  for (int i = 0; i < 2000; ++i) pattern += "*a";
  pattern += "*b$";
  const std::string path = "/" + std::string(60'000, 'a');
  EXPECT_FALSE(robots::matches(pattern, path));
  EXPECT_TRUE(robots::matches(pattern, path + "b"));
}

TEST(RobotsPattern, ManyAlmostMatchingRulesStayFast) {
  // Each rule searches for a part that almost matches everywhere: a naive search takes path * pattern steps, 50 times.
  std::string body = "User-agent: *\n";
  for (int i = 0; i < 50; ++i) body += "Disallow: /*" + std::string(9000, 'a') + "b\n";
  const RobotsRules rules = RobotsRules::parse(body, "orbweaver");
  const std::string path = "/" + std::string(200'000, 'a');
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_TRUE(rules.allowed(path));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, seconds(5));
}

TEST(Robots, Rfc9309_2_2_2_LongestMatchWins) {
  const char* body = "User-agent: *\nDisallow: /a\nAllow: /a/b\nDisallow: /a/b/c\n";
  EXPECT_FALSE(allowed(body, "/a"));
  EXPECT_TRUE(allowed(body, "/a/b"));
  EXPECT_FALSE(allowed(body, "/a/b/c/d"));
  EXPECT_TRUE(allowed(body, "/b"));
}

TEST(Robots, Rfc9309_2_2_2_AllowWinsATie) {
  EXPECT_TRUE(allowed("User-agent: *\nDisallow: /page\nAllow: /page\n", "/page"));
  EXPECT_TRUE(allowed("User-agent: *\nAllow: /page\nDisallow: /page\n", "/page"));
}

TEST(Robots, Rfc9309_2_2_2_LengthIsInOctets) {
  // "/ü" has 7 bytes when escaped and 3 when not, "/*xyz" has 5: the escaped length decides.
  EXPECT_FALSE(allowed("User-agent: *\nAllow: /*xyz\nDisallow: /\xC3\xBC\n", "/%C3%BCxyz"));
}

TEST(Robots, Rfc9309_2_2_2_EmptyRuleMatchesNothing) {
  EXPECT_TRUE(allowed("User-agent: *\nDisallow:\n", "/x"));
  EXPECT_FALSE(allowed("User-agent: *\nDisallow: /\nAllow:\n", "/x"));
}

TEST(Robots, Rfc9309_2_2_2_RobotsTxtIsAlwaysAllowed) {
  EXPECT_TRUE(allowed("User-agent: *\nDisallow: /\n", "/robots.txt"));
  EXPECT_FALSE(allowed("User-agent: *\nDisallow: /\n", "/robots.txt2"));
  EXPECT_TRUE(RobotsRules::disallow_all().allowed("/robots.txt"));
}

TEST(Robots, Rfc9309_2_2_1_GroupsThatNameTheSameAgentAreMerged) {
  const char* body =
      "User-agent: orbweaver\nDisallow: /a\n\nUser-agent: other\nDisallow: /b\n\nUser-agent: ORBWEAVER\nDisallow: /c\n";
  EXPECT_FALSE(allowed(body, "/a"));
  EXPECT_TRUE(allowed(body, "/b"));
  EXPECT_FALSE(allowed(body, "/c"));
}

TEST(Robots, Rfc9309_2_2_1_OwnGroupHidesStarGroup) {
  const char* body = "User-agent: *\nDisallow: /\nUser-agent: orbweaver\nDisallow: /x\n";
  EXPECT_TRUE(allowed(body, "/y"));
  EXPECT_FALSE(allowed(body, "/x"));
  EXPECT_FALSE(allowed(body, "/y", "other"));
}

TEST(Robots, Rfc9309_2_2_1_AnOwnGroupWithoutRulesAllowsAll) {
  EXPECT_TRUE(allowed("User-agent: *\nDisallow: /\n\nUser-agent: orbweaver\n", "/y"));
}

TEST(Robots, Rfc9309_2_2_4_OtherRecordsDoNotEndAGroup) {
  EXPECT_FALSE(allowed("User-agent: orbweaver\nSitemap: http://e/s.xml\nFoo: bar\nUser-agent: x\nDisallow: /\n", "/y"));
}

TEST(Robots, RulesBeforeAnyGroupCountForNobody) { EXPECT_TRUE(allowed("Disallow: /\nUser-agent: x\n", "/y")); }

TEST(Robots, Rfc9309_2_2_1_ProductTokenOfAFullUserAgent) {
  const char* body = "User-agent: Orbweaver/2.0\nDisallow: /\n";
  EXPECT_FALSE(allowed(body, "/", "orbweaver/1.0 (+https://example.org)"));
  EXPECT_FALSE(allowed(body, "/", "orbweaver (+https://example.org)"));
  EXPECT_TRUE(allowed(body, "/", "orbweaverbot"));
  EXPECT_TRUE(allowed(body, "/", "orb"));
  EXPECT_EQ(product_token("Orb-weaver_x/1.0"), "Orb-weaver_x");
  for (const char* agent : {"mybot", "mybot/1.0", "mybot/1.0 (+http://x.test/)", "mybot (http://x.test/)",
                            "mybot crawler/1.0", "mybot crawler/1.0 (+http://x.test/)", "mybot / 1.0", "MyBot\tx"}) {
    EXPECT_FALSE(RobotsRules::parse("User-agent: mybot\nDisallow: /a\n", agent).allowed("/a")) << agent;
  }
  for (const char* other : {"my bot", "xmybot", "mybot\u00E9", "other mybot"})
    EXPECT_TRUE(RobotsRules::parse("User-agent: mybot\nDisallow: /a\n", other).allowed("/a")) << other;
  EXPECT_EQ(product_token("9bot"), "");
}

TEST(Robots, AgentsWithDigitsAreTheirOwn) {
  const char* body = "User-agent: bot1\nDisallow: /a\n\nUser-agent: bot2\nDisallow: /b\n";
  EXPECT_TRUE(allowed(body, "/a", "bot2"));
  EXPECT_FALSE(allowed(body, "/b", "bot2"));
}

TEST(Robots, Rfc9309_2_2_3_DollarEndsAndIsLiteralElsewhere) {
  EXPECT_FALSE(allowed("User-agent: *\nDisallow: /*.gif$\n", "/a/b.gif"));
  EXPECT_TRUE(allowed("User-agent: *\nDisallow: /*.gif$\n", "/a/b.gif?x"));
  EXPECT_FALSE(allowed("User-agent: *\nDisallow: /a$b\n", "/a$bc"));
  EXPECT_FALSE(allowed("User-agent: *\nDisallow: /%24\n", "/$1"));
  EXPECT_FALSE(allowed("User-agent: *\nDisallow: /%2A/\n", "/*/"));
  EXPECT_TRUE(allowed("User-agent: *\nDisallow: /%2A/\n", "/x/"));
}

TEST(Robots, Rfc9309_2_2_2_PercentEncodingIsNormalised) {
  EXPECT_FALSE(allowed("User-agent: *\nDisallow: /\xE3\x83\x84\n", "/%E3%83%84"));
  EXPECT_FALSE(allowed("User-agent: *\nDisallow: /%e3%83%84\n", "/%E3%83%84"));
  EXPECT_FALSE(allowed("User-agent: *\nDisallow: /%62%61%7A\n", "/baz"));
  EXPECT_FALSE(allowed("User-agent: *\nDisallow: /baz\n", "/%62%61%7A"));
  EXPECT_FALSE(allowed("User-agent: *\nDisallow: /a%2Fb\n", "/a%2fb"));
  EXPECT_TRUE(allowed("User-agent: *\nDisallow: /a%2Fb\n", "/a/b"));
  EXPECT_TRUE(allowed("User-agent: *\nDisallow: /\nAllow: /%7Ejoe\n", "/~joe"));
  EXPECT_TRUE(allowed("User-agent: *\nDisallow: /a%4\n", "/aD"));  // a broken escape is three bytes
}

TEST(Robots, GoogleParser_NeedlessEscapesInAllowAreTakenAsWritten) {
  const char* body = "User-agent: *\nDisallow: /\nAllow: /%62%61%7A\n";
  EXPECT_FALSE(allowed(body, "/baz"));
  EXPECT_TRUE(allowed(body, "/%62%61%7A"));
}

TEST(Robots, GoogleParser_LineEnds) {
  for (const char* end : {"\n", "\r", "\r\n"}) {
    const std::string body = std::string("User-agent: *") + end + end + "Disallow: /x" + end + "Disallow: /y";
    const RobotsRules rules = RobotsRules::parse(body, "orbweaver");
    EXPECT_EQ(rules.decide("/x").line, 3u);
    EXPECT_EQ(rules.decide("/y").line, 4u);
  }
}

TEST(Robots, GoogleParser_ByteOrderMarks) {
  EXPECT_FALSE(allowed("\xEF\xBB\xBFUser-agent: *\nDisallow: /\n", "/x"));
  EXPECT_FALSE(allowed("\xEF\xBBUser-agent: *\nDisallow: /\n", "/x"));
}

TEST(Robots, Utf16WithAMarkIsRead) {
  const std::string_view text = "User-agent: *\nDisallow: /x\n";
  std::string little = "\xFF\xFE";
  std::string big = "\xFE\xFF";
  for (const char c : text) {
    little += c;
    little += '\0';
    big += '\0';
    big += c;
  }
  EXPECT_FALSE(allowed(little, "/x"));
  EXPECT_FALSE(allowed(big, "/x"));
  EXPECT_TRUE(allowed(big, "/y"));
  EXPECT_FALSE(allowed(big + "\x01", "/x"));  // an odd byte at the end
}

TEST(Robots, GoogleParser_MisspeltKeysAndMissingColons) {
  for (const char* key : {"Dissallow:", "disalow :", "DIASLLOW:", "disallaw:", "dissalow:", "Disallow"}) {
    EXPECT_FALSE(allowed(std::string("useragent: *\n") + key + " /x\n", "/x")) << key;
  }
  EXPECT_TRUE(allowed("User-agent: *\nDisallow /x y\n", "/x y"));
}

TEST(Robots, GoogleParser_CommentsAreCut) {
  EXPECT_FALSE(allowed("User-agent: * # all\nDisallow: /x # not\n", "/x"));
  EXPECT_TRUE(allowed("User-agent: *\n#Disallow: /x\n", "/x"));
}

TEST(Robots, GoogleParser_IndexPageAllowsItsDirectory) {
  const char* body = "User-agent: *\nAllow: /d/index.html\nDisallow: /\n";
  EXPECT_TRUE(allowed(body, "/d/"));
  EXPECT_FALSE(allowed(body, "/d/x"));
}

TEST(Robots, GoogleParser_OverlongLineIsCut) {
  const std::string path = "/" + std::string(40'000, 'a');
  EXPECT_FALSE(allowed("User-agent: *\nDisallow: " + path + "\n", path.substr(0, 17'000)));
}

TEST(Robots, Rfc9309_2_5_OnlyTheFirst500KiBCount) {
  const std::string filler = std::string(max_robots_bytes - 100, '#') + "\n";
  EXPECT_FALSE(allowed(filler + "User-agent: *\nDisallow: /\n", "/x"));
  EXPECT_TRUE(allowed(filler + std::string(100, '#') + "\nUser-agent: *\nDisallow: /\n", "/x"));
}

TEST(Robots, DecisionNamesRuleLineAndGroup) {
  const RobotsRules rules = RobotsRules::parse("# hello\nUser-agent: OrbWeaver/1\nDisallow: /private*\n", "orbweaver");
  const RobotsRules::Decision decision = rules.decide("/private/x");
  EXPECT_FALSE(decision.allowed);
  EXPECT_EQ(decision.line, 3u);
  EXPECT_EQ(decision.rule, "Disallow: /private*");
  EXPECT_EQ(rules.group(), "OrbWeaver");
  EXPECT_EQ(rules.decide("/other").line, 0u);
  EXPECT_EQ(rules.decide("/other").rule, "");
  EXPECT_EQ(RobotsRules::parse("User-agent: *\n", "orbweaver").group(), "*");
  EXPECT_EQ(RobotsRules::parse("", "orbweaver").group(), "");
}

TEST(Robots, CrawlDelayBelongsToItsAgents) {
  const char* body = "User-agent: a\nCrawl-delay: 10\nUser-agent: b\nCrawl-delay: 0.5\nUser-agent: *\nDisallow: /x\n";
  EXPECT_EQ(RobotsRules::parse(body, "a").crawl_delay(), Duration(seconds(10)));
  EXPECT_EQ(RobotsRules::parse(body, "b").crawl_delay(), Duration(milliseconds(500)));
  EXPECT_EQ(RobotsRules::parse(body, "c").crawl_delay(), std::nullopt);
}

TEST(Robots, CrawlDelayBadValues) {
  const auto delay = [](const std::string& value) {
    return RobotsRules::parse("User-agent: *\nCrawl-delay: " + value + "\n", "a").crawl_delay();
  };
  EXPECT_EQ(delay("ten"), std::nullopt);
  EXPECT_EQ(delay("-3"), std::nullopt);
  EXPECT_EQ(delay("nan"), std::nullopt);
  EXPECT_EQ(delay(""), std::nullopt);
  EXPECT_EQ(delay("10 seconds"), Duration(seconds(10)));
  EXPECT_LE(delay("999999999999999999999"), Duration(std::chrono::hours(24 * 366)));
  EXPECT_LE(delay(std::string(400, '9')), Duration(std::chrono::hours(24 * 366)));
}

TEST(Robots, SitemapsOfTheWholeFileOnce) {
  const RobotsRules rules = RobotsRules::parse(
      "Sitemap: http://e/1.xml\nUser-agent: x\nDisallow: /\nsite-map: /2.xml\nsitemap: http://e/1.xml\n", "orbweaver");
  EXPECT_EQ(rules.sitemaps(), (std::vector<std::string>{"http://e/1.xml", "/2.xml"}));
}

TEST(RobotsCommand, ReportEncodesWhatAUrlMayNotHold) {
  const char* body = "User-agent: *\nDisallow: /\nAllow: /\xE3\x83\x84\nCrawl-delay: 2\nSitemap: http://e/s\n";
  const nlohmann::json report = robots_report(body, "orbweaver", "http://e.org/\xE3\x83\x84?q#f");
  EXPECT_EQ(report.at("allowed"), true);
  EXPECT_EQ(report.at("line"), 3);
  EXPECT_EQ(report.at("group"), "*");
  EXPECT_EQ(report.at("crawl_delay_seconds"), 2.0);
  EXPECT_EQ(report.at("sitemaps").size(), 1u);
}

TEST(RobotsCommand, ReportTakesPathsToo) {
  const char* body = "User-agent: *\nDisallow: /a\n";
  for (const char* url : {"/a", "http://e/a", "https://e:8080/a?x=http://y", "//e/a", "e.org/a"}) {
    EXPECT_EQ(robots_report(body, "x", url).at("allowed"), false) << url;
  }
  for (const char* url : {"", "/", "http://e", "http://e?/a", "http://e/b#/a", "/b?c=http://e/a"}) {
    EXPECT_EQ(robots_report(body, "x", url).at("allowed"), true) << url;
  }
}

TEST(RobotsCommand, BatchAnswersEveryLine) {
  std::istringstream in(
      "{\"agent\":\"x\",\"url\":\"/a\"}\n"
      "{\"robots_b64\":\"VXNlci1hZ2VudDogKgpEaXNhbGxvdzogLwo=\",\"agent\":\"x\",\"url\":\"http://e/\"}\n"
      "{\"agent\":\"x\",\"url\":\"http://e/a\"}\n"
      "not json\n\xFF\n{\"agent\":1,\"url\":\"/\"}\n{\"robots_b64\":\"?\",\"agent\":\"x\",\"url\":\"/\"}\n");
  std::ostringstream out;
  EXPECT_EQ(robots_batch(in, out), 2);
  std::istringstream lines(out.str());
  std::vector<nlohmann::json> answers;
  for (std::string line; std::getline(lines, line);) answers.push_back(nlohmann::json::parse(line));
  ASSERT_EQ(answers.size(), 7u);
  EXPECT_EQ(answers[0].at("allowed"), true);
  EXPECT_EQ(answers[1].at("allowed"), false);
  EXPECT_EQ(answers[2].at("allowed"), false);
  for (std::size_t i = 3; i < 7; ++i) EXPECT_TRUE(answers[i].contains("error")) << i;
}

std::string body_of(std::size_t bytes, const std::function<std::string(std::size_t)>& line) {
  std::string body = "User-agent: *\n";
  for (std::size_t i = 0; body.size() < bytes; ++i) body += line(i);
  body.resize(bytes);
  return body;
}

// Attack 4 of the review: rules took seven times the bytes of their file, and any number of hosts sent such files.
TEST(Robots, MemoryIsAtMostAFifthMoreThanTheBytesRead) {
  const std::map<std::string, std::function<std::string(std::size_t)>> files{
      {"plain", [](std::size_t i) { return "Disallow: /" + std::to_string(i) + "\n"; }},
      {"short", [](std::size_t i) { return "allow " + std::to_string(i) + "\n"; }},
      {"one line again and again", [](std::size_t) { return std::string("Disallow: /a\n"); }},
      {"raw octets", [](std::size_t i) { return "Disallow: /\xe3\x83\x84" + std::to_string(i) + "\n"; }},
      {"raw octets, few lines",
       [](std::size_t i) { return "Allow: " + std::to_string(i) + std::string(8000, '\xff') + "\n"; }},
      {"index pages", [](std::size_t i) { return "Allow:" + std::to_string(i) + "/index.htm\n"; }},
      {"index pages with escapes", [](std::size_t i) { return "Allow:" + std::to_string(i) + "{/index.htm\n"; }},
      {"escapes", [](std::size_t i) { return "Allow: /%41" + std::to_string(i) + "\n"; }},
      {"sitemaps", [](std::size_t i) { return "Sitemap:" + std::to_string(i) + "\n"; }},
  };
  for (const auto& [name, line] : files) {
    for (const std::size_t bytes : {std::size_t{20'000}, std::size_t{200'000}, max_robots_bytes}) {
      const RobotsRules rules = RobotsRules::parse(body_of(bytes, line), "orbweaver");
      EXPECT_LE(rules.bytes(), bytes + bytes / 5 + 512) << name << " of " << bytes << " bytes";
    }
  }
}

TEST(Robots, EqualRulesAreKeptOnceAndTooManyAreCounted) {
  const auto same = RobotsRules::parse(body_of(max_robots_bytes, [](auto) { return "Disallow: /a\n"; }), "orbweaver");
  EXPECT_EQ(same.size(), 1u);
  EXPECT_EQ(same.rules_left_out(), 0u);
  EXPECT_EQ(same.decide("/a").line, 2u);
  const auto many = RobotsRules::parse(
      body_of(max_robots_bytes, [](std::size_t i) { return "Disallow: /" + std::to_string(i) + "x\n"; }), "orbweaver");
  EXPECT_EQ(many.size(), max_robots_rules);
  EXPECT_GT(many.rules_left_out(), 1000u);
  EXPECT_FALSE(many.allowed("/0x"));
  EXPECT_FALSE(many.allowed("/" + std::to_string(max_robots_rules - 1) + "x"));
  EXPECT_TRUE(many.allowed("/" + std::to_string(max_robots_rules) + "x"));
  // Stars at the end match nothing more.
  const auto stars = RobotsRules::parse(body_of(200'000,
                                                [](std::size_t i) {
                                                  return "Disallow: /*_" + std::to_string(i) + "x\nDisallow: /y" +
                                                         std::to_string(i) + "**\n";
                                                }),
                                        "orbweaver");
  EXPECT_FALSE(stars.allowed("/a_" + std::to_string(max_robots_wildcards - 1) + "x"));
  EXPECT_TRUE(stars.allowed("/a_" + std::to_string(max_robots_wildcards) + "x"));
  EXPECT_FALSE(stars.allowed("/y" + std::to_string(max_robots_wildcards) + "x"));
  EXPECT_GT(stars.rules_left_out(), 100u);
}

// A rule whose compared form does not fit in memory is converted at each comparison: the answers are the same.
TEST(Robots, RulesOfWhichNoFormIsKeptDecideAlike) {
  std::string body = "User-agent: *\n";
  for (int i = 0; i < 300; ++i) {
    const std::string path = "/" + std::to_string(i) + "\xe3\x83\x84" + std::string(60, '\xe9');
    body += (i % 2 == 0 ? "Disallow: " : "Allow: ") + path + (i % 3 == 0 ? "$" : i % 3 == 1 ? "*z" : "") + "\n";
    body += "Allow: " + path + "{/index.html\n";
  }
  const RobotsRules all = RobotsRules::parse(body, "orbweaver");
  for (int i = 0; i < 300; ++i) {
    std::string path = "/" + std::to_string(i) + "%E3%83%84";
    for (int k = 0; k < 60; ++k) path += "%E9";
    for (const std::string tail : {"", "z", "/z", "%7B/", "%7B/index.html", "%7B/x"}) {
      // In a file of one pair of lines all forms fit.
      std::string few = "User-agent: *\n" + std::string(2000, '\n');
      const std::string raw = "/" + std::to_string(i) + "\xe3\x83\x84" + std::string(60, '\xe9');
      few += (i % 2 == 0 ? "Disallow: " : "Allow: ") + raw + (i % 3 == 0 ? "$" : i % 3 == 1 ? "*z" : "") + "\n";
      few += "Allow: " + raw + "{/index.html\n";
      const RobotsRules::Decision one = RobotsRules::parse(few, "orbweaver").decide(path + tail);
      EXPECT_EQ(all.decide(path + tail).rule, one.rule) << path << tail;
      EXPECT_EQ(all.allowed(path + tail), one.allowed) << path << tail;
    }
  }
}

TEST(Robots, AnyBytesAreBorne) {
  std::mt19937 random(7);
  const std::vector<std::string> words{"User-agent", ":", " *",   "\n", "\r",        "Disallow", "/",
                                       "$",          "%", "\xFF", "#",  "orbweaver", "Allow",    "\xEF\xBB"};
  for (int i = 0; i < 5000; ++i) {
    std::string body;
    for (auto k = random() % 40; k > 0; --k) body += words[random() % words.size()];
    const RobotsRules rules = RobotsRules::parse(body, "orbweaver");
    const RobotsRules::Decision decision = rules.decide("/a%zz*$");
    EXPECT_EQ(decision.allowed, rules.allowed("/a%zz*$"));
    EXPECT_TRUE(decision.allowed || decision.line > 0);
  }
}

}  // namespace
}  // namespace orbweaver
