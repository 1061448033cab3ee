// The outside suites for robots.txt, through the line protocol of `orbweaver robots --batch`.
#include <gtest/gtest.h>

#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <vector>

#include "node/robots/robots.h"
#include "node/tools/robots_command.h"
#include "tests/unit/suites.h"

namespace orbweaver {
namespace {

using nlohmann::json;
using test::suite_exists;
using test::suite_path;

#define NEEDS_SUITE(name) \
  if (!suite_exists(name)) GTEST_SKIP() << "no " << suite_path(name) << " (set ORBWEAVER_SUITES)"

json load_cases(const std::string& name) { return json::parse(test::read_file(suite_path(name))).at("cases"); }

std::string body_of(const json& c) {
  return c.contains("robots") && c["robots"].is_string() ? test::base64_of(c["robots"].get<std::string>())
                                                         : c.at("robots_b64").get<std::string>();
}

struct Score {
  std::size_t total = 0;
  std::vector<std::string> failed;
};

// Asks the batch about each case; `key` names the field with the verdict.
Score ask(const std::vector<json>& requests, const std::vector<json>& cases) {
  std::stringstream in;
  for (const json& request : requests) in << request.dump() << '\n';
  std::stringstream out;
  EXPECT_EQ(robots_batch(in, out), 0);
  Score score;
  std::string line;
  for (const json& c : cases) {
    ++score.total;
    if (!std::getline(out, line)) line = "{}";
    if (json::parse(line).value("allowed", json()) != c.at("allowed")) score.failed.push_back(c.dump(-1, ' ', true));
  }
  return score;
}

template <class Wanted>
Score ask_file(const std::string& name, Wanted wanted) {
  std::vector<json> requests;
  std::vector<json> cases;
  for (const json& c : load_cases(name)) {
    if (!wanted(c)) continue;
    const std::string url = c.at("url");
    requests.push_back({{"robots_b64", body_of(c)},
                        {"agent", c.at("user_agent")},
                        {"url", url.find("://") == std::string::npos ? "http://example.com" + url : url}});
    cases.push_back(c);
  }
  return ask(requests, cases);
}

void expect_all(const Score& score, std::size_t at_least) {
  EXPECT_GE(score.total, at_least);
  EXPECT_EQ(score.failed.size(), 0u) << (score.failed.empty() ? "" : score.failed.front());
}

std::set<std::string> ids_of(const Score& score) {
  std::set<std::string> ids;
  for (const std::string& failed : score.failed) ids.insert(json::parse(failed).at("id").get<std::string>());
  return ids;
}

const auto every = [](const json&) { return true; };
const auto undisputed = [](const json& c) { return c.at("undisputed").get<bool>(); };
const auto disputed = [](const json& c) { return !c.at("undisputed").get<bool>(); };

TEST(RobotsSuites, GoogleRobotstxt_All) {
  NEEDS_SUITE("robots/google_robotstxt.json");
  const Score score = ask_file("robots/google_robotstxt.json", every);
  EXPECT_GE(score.total, 145u);
  EXPECT_EQ(ids_of(score), test::listed_differences("robots/google_robotstxt.json"));
}

TEST(RobotsSuites, Rfc9309_Examples_All) {
  NEEDS_SUITE("robots/rfc9309_examples.json");
  expect_all(ask_file("robots/rfc9309_examples.json", every), 57);
}

TEST(RobotsSuites, CrawlerCommons_Undisputed) {
  NEEDS_SUITE("robots/crawler_commons.json");
  expect_all(ask_file("robots/crawler_commons.json", undisputed), 326);
}

TEST(RobotsSuites, Protego_Undisputed) {
  NEEDS_SUITE("robots/protego.json");
  expect_all(ask_file("robots/protego.json", undisputed), 311);
}

// Where the parsers disagree among themselves, tests/spec/differences.tsv lists exactly the cases that we judge
// otherwise, with the reasons.
TEST(RobotsSuites, Disputed_TheDifferencesAreThoseListed) {
  NEEDS_SUITE("robots/protego.json");
  for (const std::string suite : {"robots/crawler_commons.json", "robots/protego.json"}) {
    EXPECT_EQ(ids_of(ask_file(suite, disputed)), test::listed_differences(suite)) << suite;
  }
}

TEST(RobotsSuites, RealWorld_ThreeParsersAgree_SoDoWe) {
  NEEDS_SUITE("robots/realworld_consensus.jsonl.gz");
  std::map<std::string, std::string> bodies;
  std::istringstream files(test::read_gzip_file(suite_path("robots/realworld_bodies.jsonl.gz")));
  for (std::string line; std::getline(files, line);) {
    const json file = json::parse(line);
    bodies[file.at("file")] = file.at("robots_b64");
  }
  std::vector<json> requests;
  std::vector<json> cases;
  std::string last;
  std::istringstream probes(test::read_gzip_file(suite_path("robots/realworld_consensus.jsonl.gz")));
  for (std::string line; std::getline(probes, line);) {
    json probe = json::parse(line);
    json request = {{"agent", probe.at("user_agent")}, {"url", probe.at("url")}};
    if (probe.at("file") != last) {
      last = probe.at("file");
      request["robots_b64"] = bodies.at(last);
    }
    requests.push_back(std::move(request));
    cases.push_back(std::move(probe));
  }
  expect_all(ask(requests, cases), 81094);
}

// A sitemap line's URL against the file's own, as far as the suite needs it: absolute, or a path.
std::string resolved(const std::string& sitemap, const std::string& base) {
  return sitemap.starts_with("/") ? base + sitemap : sitemap;
}

TEST(RobotsSuites, CrawlerCommons_DelayAndSitemaps) {
  NEEDS_SUITE("robots/crawler_commons_delay_sitemap.json");
  std::size_t checked = 0;
  for (const json& c : load_cases("robots/crawler_commons_delay_sitemap.json")) {
    if (!c.at("robots").is_string() || c["robots"].get<std::string>().starts_with("\xEF\xBF\xBD"))
      continue;  // UTF-16 whose mark was lost in the recording
    // Several names for one crawler: the name that has a group counts.
    std::string agent = c.at("user_agents").empty() ? "*" : c["user_agents"].front().get<std::string>();
    for (const json& name : c.at("user_agents")) {
      const std::string group = RobotsRules::parse(c["robots"].get<std::string>(), name.get<std::string>()).group();
      if (group != "*" && !group.empty()) agent = name;
    }
    const RobotsRules rules = RobotsRules::parse(c["robots"].get<std::string>(), agent);
    json delay;
    if (rules.crawl_delay()) delay = rules.crawl_delay()->count() / 1000;
    EXPECT_EQ(delay, c.at("crawl_delay_ms")) << c.at("test");
    json sitemaps = json::array();
    for (const std::string& sitemap : rules.sitemaps()) sitemaps.push_back(resolved(sitemap, c.at("robots_url")));
    EXPECT_EQ(sitemaps, c.at("sitemaps")) << c.at("test");
    ++checked;
  }
  EXPECT_EQ(checked, 32u);
}

TEST(RobotsSuites, Protego_CrawlDelay) {
  NEEDS_SUITE("robots/protego_crawl_delay.json");
  std::size_t checked = 0;
  for (const json& c : load_cases("robots/protego_crawl_delay.json")) {
    const RobotsRules rules =
        RobotsRules::parse(c.at("robots").get<std::string>(), c.at("user_agent").get<std::string>());
    json delay;
    if (rules.crawl_delay()) delay = std::chrono::duration<double>(*rules.crawl_delay()).count();
    EXPECT_EQ(delay, c.at("crawl_delay")) << c.at("robots");
    ++checked;
  }
  EXPECT_EQ(checked, 6u);
}

}  // namespace
}  // namespace orbweaver
