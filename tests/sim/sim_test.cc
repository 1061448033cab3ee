// Simulated rings: drawn seeds, stored runs, and named scenarios (for faults see faults_test.cc). A failing seed is
// run again, with its last events, by orbweaver-sim --seed S.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "node/config/settings_table.h"
#include "tests/sim/minimize.h"
#include "tests/sim/scenario.h"

namespace orbweaver::sim {

namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// ---- drawn seeds ----

class Seeds : public testing::TestWithParam<std::uint64_t> {};

TEST_P(Seeds, ContractHolds) {
  World world(Parameters::draw(GetParam()), false);
  EXPECT_TRUE(world.run_to_end()) << report(world);
}

INSTANTIATE_TEST_SUITE_P(Sim, Seeds, testing::Range<std::uint64_t>(1, 61));

// ---- runs that once found something: the files of tests/sim/found ----

// A file is the parameters of one run, with a comment that says what it found. "# fails: CHECKER" in it: the run still
// fails; a file whose run passes again must lose that line.
class Found : public testing::TestWithParam<std::string> {};

TEST_P(Found, ContractHolds) {
  std::ifstream file(GetParam());
  std::stringstream text;
  text << file.rdbuf();
  const auto parameters = Parameters::read(text.str());
  ASSERT_TRUE(file && parameters) << (parameters ? "cannot be read" : parameters.error().message);
  World world(*parameters, false);
  const bool passed = world.run_to_end();
  const std::size_t mark = text.str().find("# fails: ");
  if (mark == std::string::npos) {
    EXPECT_TRUE(passed) << report(world);
    return;
  }
  ASSERT_FALSE(passed) << "it passes now: take the line '# fails' out of " << GetParam();
  const std::string checker = text.str().substr(mark + 9, text.str().find('\n', mark) - mark - 9);
  EXPECT_TRUE(world.failures().front().starts_with(checker + ":")) << world.failures().front();
}

std::vector<std::string> found_files() {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator("tests/sim/found"))
    files.push_back(entry.path().string());
  std::sort(files.begin(), files.end());
  return files;
}

INSTANTIATE_TEST_SUITE_P(Sim, Found, testing::ValuesIn(found_files()), [](const auto& file) {
  std::string name = std::filesystem::path(file.param).stem().string();
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

// ---- what seeds draw ----

TEST(SimDraw, SixtySeedsCoverWhatTheyShould) {
  int calm = 0;
  int crashes = 0;
  int losses = 0;
  int limits = 0;
  int skewed = 0;
  int no_delay = 0;
  std::set<std::size_t> sizes;
  std::map<std::string, int> faults;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const Parameters p = Parameters::draw(seed);
    calm += p.calm();
    for (const Fault& fault : p.faults) ++faults[std::string(fault_name(fault.kind))];
    crashes += !p.faults.empty();
    skewed += !p.skews.empty();
    losses += p.network.loss > 0;
    limits += p.settings.max_pages > 0;
    no_delay += p.settings.delay == Duration{};
    sizes.insert(p.peers);
  }
  EXPECT_GE(calm, 8);
  EXPECT_GE(crashes, 15);
  EXPECT_GE(losses, 10);
  EXPECT_GE(limits, 8);
  EXPECT_GE(no_delay, 15);
  EXPECT_LE(no_delay, 45);
  EXPECT_EQ(sizes.size(), 8u);
  EXPECT_GE(skewed, 5);
  for (const char* kind : {"crash", "crash_all", "stop", "cut", "one_way", "slow", "pause"})
    EXPECT_GE(faults[kind], 2) << kind;
}

TEST(SimDraw, ThreeHundredSeedsHaveEachKindOfUncommonWork) {
  std::map<std::string, int> seeds;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    const Parameters p = Parameters::draw(seed);
    const Settings& s = p.settings;
    seeds["mirrors"] += p.web.mirrors > 0;
    seeds["host budgets"] += s.max_pages_per_host > 0 || s.max_bytes_per_host > 0;
    seeds["domain budgets"] += s.max_pages_per_domain > 0 || s.max_bytes_per_domain > 0;
    seeds["byte limits"] += s.max_bytes > 0;
    seeds["detours"] += p.web.canonical_redirects > 0;
    seeds["pieces"] += p.web.long_pages > 0;
    seeds["killers"] += p.web.killers > 0;
    const auto has = [&](Fault::Kind kind) {
      return std::any_of(p.faults.begin(), p.faults.end(), [&](const Fault& fault) { return fault.kind == kind; });
    };
    seeds["questions"] += has(Fault::Kind::ask);
    seeds["recrawls"] += has(Fault::Kind::recrawl);
    seeds["orders"] += has(Fault::Kind::order);
  }
  EXPECT_EQ(seeds.size(), 10u);
  for (const auto& [kind, number] : seeds) EXPECT_GE(number, 8) << kind;
}

TEST(SimDraw, AKindOfFaultsChangesOnlyTheSeedsThatGetIt) {
  FaultKinds without = FaultKinds::none();
  FaultKinds with = without;
  with.skews = true;
  int skewed = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    Parameters p = Parameters::draw(seed, with);
    if (!p.skews.empty()) {
      ++skewed;
      continue;  // its crawl is made to last longer
    }
    EXPECT_EQ(p.text(), Parameters::draw(seed, without).text());
  }
  EXPECT_GE(skewed, 5);
}

TEST(SimParameters, TextReadsBackTheSame) {
  FaultKinds all;
  all.power_cut = true;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const Parameters drawn = Parameters::draw(seed, all);
    const auto read = Parameters::read("# a comment\n\n" + drawn.text());
    ASSERT_TRUE(read.has_value()) << read.error().message;
    ASSERT_EQ(read->text(), drawn.text());
    ASSERT_EQ(read->skews, drawn.skews);
    ASSERT_EQ(read->faults.size(), drawn.faults.size());
    for (std::size_t i = 0; i < drawn.faults.size(); ++i) {
      Fault fault = drawn.faults[i];
      if (!fault.of_one_peer()) fault.peer = 0;  // the text does not name the peer there
      ASSERT_EQ(read->faults[i], fault) << fault.text();
    }
  }
}

TEST(SimParameters, ABadLineIsNamed) {
  for (const char* line : {"peers", "peers=two", "no_such=1", "delay=1", "fault=explode peer=1", "fault=crash peer=x",
                           "fault=crash peer=1 often", "skew=1", "skew=1:2", "web.hosts=-1", "seeds_at_all=2"}) {
    const auto read = Parameters::read(std::string("peers=2\n") + line + "\n");
    ASSERT_FALSE(read.has_value()) << line;
    EXPECT_NE(read.error().message.find(std::string("line 2, '") + line), std::string::npos) << read.error().message;
  }
}

// The same parameters as text give the same run: a file of tests/sim/found reproduces the run that was found.
TEST(SimReplay, ParametersReadBackGiveTheSameRun) {
  for (const std::uint64_t seed : {5u, 9u, 44u}) {
    const Parameters drawn = Parameters::draw(seed);
    World first(drawn, false);
    World second(*Parameters::read(drawn.text()), false);
    first.run_to_end();
    second.run_to_end();
    EXPECT_EQ(first.trace().digest(), second.trace().digest()) << "seed " << seed;
  }
}

TEST(SimMinimize, WhatTheFailureDoesNotNeedIsGone) {
  Parameters p = Parameters::draw(38, FaultKinds::none());
  p.faults.push_back(*Fault::read("pause peer=1 at=1s for=500ms"));
  p.skews[1] = seconds{3};
  p.max_time = seconds{2};  // this crawl does not end by then
  p.settings.delay = seconds{1};
  const Minimized first = minimize(p, 150, [](const std::string&) {});
  EXPECT_TRUE(first.failure.starts_with("ends: the crawl has not ended")) << first.failure;
  EXPECT_EQ(first.parameters.peers, 1u);
  EXPECT_TRUE(first.parameters.faults.empty());
  EXPECT_TRUE(first.parameters.skews.empty());
  EXPECT_LE(first.runs, 150u);
  EXPECT_EQ(minimize(p, 150, [](const std::string&) {}).log, first.log);
  World again(first.parameters, false);
  EXPECT_FALSE(again.run_to_end());
}

TEST(SimMinimize, ARunThatPassesHasNothingToMinimize) {
  EXPECT_TRUE(minimize(Parameters::draw(21, FaultKinds::none()), 10, [](const std::string&) {}).failure.empty());
}

TEST(SimReplay, SameSeedSameRunByteForByte) {
  for (const std::uint64_t seed : {3u, 8u, 17u, 39u, 195u}) {
    World first(Parameters::draw(seed), true);
    // The addresses of objects in memory must not matter.
    std::vector<std::unique_ptr<char[]>> elsewhere;
    for (std::size_t i = 0; i < 200; ++i) elsewhere.push_back(std::make_unique<char[]>(64 + 8 * (i * 37 % 50)));
    for (std::size_t i = 0; i < 200; i += 3) elsewhere[i].reset();
    World second(Parameters::draw(seed), true);
    first.run_to_end();
    second.run_to_end();
    ASSERT_GT(first.trace().lines(), 50u);
    EXPECT_EQ(first.trace().digest(), second.trace().digest()) << "seed " << seed;
    const std::string& a = first.trace().all();
    const std::string& b = second.trace().all();
    const auto differ = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
    const auto at = static_cast<std::size_t>(differ.first - a.begin());
    EXPECT_TRUE(a == b) << "seed " << seed << " differs at: " << a.substr(at < 200 ? 0 : at - 200, 400);
  }
  World third(Parameters::draw(3), false);
  World fourth(Parameters::draw(4), false);
  third.run_to_end();
  fourth.run_to_end();
  EXPECT_NE(third.trace().digest(), fourth.trace().digest());
}

// ---- named scenarios: each on several webs ----

INSTANTIATE_TEST_SUITE_P(Sim, Scenario, testing::Range<std::uint64_t>(1, 6));

// Issue "Step 1", point 3: seeds added later widen the scope on every peer alike.
TEST_P(Scenario, SeedsAddedLaterWidenTheScopeOnEveryPeer) {
  Parameters p = scene(GetParam());
  p.settings.scope = ScopeKind::host;
  p.seed_hosts = 3;
  p.web.away = 0;  // pages out of scope are not found a second time: so nothing may lead there before
  p.web.redirects = 0;
  while (!lasts(p)) p.web.seed = mix(p.web.seed);
  if (GetParam() % 2 == 0) {
    p.network.loss = 100;
    p.network.reordered = 200;
    p.faults_end = seconds{30};
  }
  World world(p, false);
  for (std::uint32_t host = 3; host < 6; ++host) {
    const Duration at = seconds{5} + milliseconds{400} * static_cast<int>(host);
    expect_under_way(world, at);
    world.at(at, [&world, host] {
      const std::string url = world.web().page_url(host, 0);
      world.add_seed(url);
      world.ask(host - 2, "seed", nlohmann::json{{"urls", {url}}}.dump());
    });
  }
  std::size_t reported = 0;
  world.at(seconds{12}, [&] {
    for (const SimPeer& peer : world.peers())
      if (peer.core != nullptr && peer.core->own_status()["seeds"] == 6) ++reported;
  });
  judge(world);  // every page of the later hosts is fetched, and no page outside them
  ASSERT_EQ(world.answers().size(), 3u);
  EXPECT_NE(world.answers()[0].find("accepted"), std::string::npos);
  if (GetParam() % 2 == 1) {
    EXPECT_EQ(reported, 4u);
  }
}

// Issue "Step 1", point 3: a joiner with other values is refused, naming the setting.
TEST_P(Scenario, JoinerWithAnotherRingWideValueIsRefusedByName) {
  World world(scene(GetParam()), false);
  expect_under_way(world, seconds{4});
  const std::size_t joiner = world.add_peer(seconds{4}, 1, [](LoadedSettings& settings) {
    settings.values.delay = seconds{7};
    settings.given["delay"] = "flag --delay";
  });
  world.peers()[joiner].may_be_refused = true;
  judge(world);
  const SimPeer& refused = world.peers()[joiner];
  ASSERT_TRUE(refused.exit.has_value());
  EXPECT_EQ(refused.exit->code, static_cast<int>(ErrorCode::mismatch));
  for (const char* named : {"'delay'", "1s", "7s"})
    EXPECT_NE(refused.exit->message.find(named), std::string::npos) << refused.exit->message;
}

// A leave hands everything over: nothing is lost. URLs fetched twice are permitted in this version, and counted.
TEST_P(Scenario, LeaveHandsEverythingOver) {
  for (std::size_t leaver = 0; leaver < 4; ++leaver) {
    World world(scene(GetParam()), false);
    expect_under_way(world, seconds{6});
    world.at(seconds{6}, [&world, leaver] { world.leave(leaver); });
    judge(world);
    const SimPeer& left = world.peers()[leaver];
    ASSERT_TRUE(left.exit.has_value());
    EXPECT_FALSE(left.exit->finished);
    EXPECT_EQ(left.counts.discovered() + left.counts.outbox, 0u);
  }
}

TEST_P(Scenario, JoinInMidCrawlGetsAShare) {
  World world(scene(GetParam()), false);
  expect_under_way(world, seconds{6});
  const std::size_t joiner = world.add_peer(seconds{6}, 2);
  judge(world);
  EXPECT_TRUE(world.ring_moved());
  EXPECT_GT(world.peers()[joiner].counts.discovered(), 0u);
}

// Declared down, it loses its partitions to others for a while; then it starts again with its old store.
TEST_P(Scenario, DownAndBack) {
  Parameters p = scene(GetParam());
  p.settings.suspicion_time = seconds{3};
  p.faults.push_back({Fault::Kind::crash, 1 + GetParam() % 3, seconds{5}, seconds{20}});
  World world(p, false);
  expect_under_way(world, seconds{5});
  judge(world);
  EXPECT_TRUE(world.ring_moved());
}

TEST_P(Scenario, AllKilledAtOnceAndRestarted) {
  Parameters p = scene(GetParam());
  p.faults.push_back({Fault::Kind::crash_all, 0, seconds{5}, milliseconds{700}});
  p.faults.push_back({Fault::Kind::crash_all, 0, seconds{9}, milliseconds{50}});
  World world(p, false);
  expect_under_way(world, seconds{9});
  judge(world);
  EXPECT_EQ(world.stats().crashes, 8u);
  EXPECT_TRUE(world.stats().tolerated.empty());  // nothing is fetched twice, and all is polite, to the letter
}

// A restarted peer does not wait for more peers than there are: the crawl began long ago.
TEST_P(Scenario, RestartInARingThatBecameSmaller) {
  Parameters p = scene(GetParam());
  p.faults.push_back({Fault::Kind::leave, 2, seconds{4}, {}});
  p.faults.push_back({Fault::Kind::crash, 0, seconds{8}, milliseconds{500}});
  World world(p, false);
  expect_under_way(world, seconds{8});
  judge(world);
}

// Cleanly stopped and started again, one after the other.
TEST_P(Scenario, RollingRestart) {
  Parameters p = scene(GetParam());
  for (std::size_t peer = 0; peer < p.peers; ++peer)
    p.faults.push_back({Fault::Kind::stop, peer, seconds{4 + 2 * static_cast<int>(peer)}, milliseconds{800}});
  World world(p, false);
  expect_under_way(world, seconds{10});
  judge(world);
  EXPECT_TRUE(world.stats().tolerated.empty());
}

// A peer that dies between the first and the last message of the end is started again: it must learn of the end.
TEST_P(Scenario, CrashWhileTheEndIsTold) {
  for (std::size_t victim = 0; victim < 4; ++victim) {
    Parameters p = scene(GetParam());
    p.max_time = std::chrono::hours{1};
    World world(p, false);
    while (!world.ending() && world.run(world.since_start() + milliseconds{1})) {
    }
    ASSERT_TRUE(world.failures().empty()) << report(world);
    world.crash(victim, milliseconds{500});
    EXPECT_TRUE(world.run_to_end()) << "peer " << victim << "\n" << report(world);
  }
}

// Pages that only a robots.txt's sitemap leads to, on a host maybe out of scope and of another peer, are fetched too.
TEST_P(Scenario, SitemapsOfRobotsTxt) {
  Parameters p = scene(GetParam());
  p.web.sitemaps = true;
  World world(p, false);
  judge(world);
}

// A robots.txt at another URL costs a second request to the host, with the delay between the two.
TEST_P(Scenario, RobotsRedirectIsPolite) {
  Parameters p = scene(GetParam());
  p.web.robots_redirects = true;
  World world(p, false);
  judge(world);
}

// One on another host is asked for in that host's turn, whichever peers hold the two.
TEST_P(Scenario, RobotsOnAnotherHostIsPoliteThere) {
  for (const PartitionBy by : {PartitionBy::host, PartitionBy::domain, PartitionBy::url}) {
    Parameters p = scene(GetParam());
    p.settings.partition_by = by;
    p.web.robots_redirects = p.web.robots_elsewhere = true;
    World world(p, false);
    judge(world);
  }
}

}  // namespace

}  // namespace orbweaver::sim
