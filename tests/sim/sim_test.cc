// Simulated rings: seeds drawn, and named scenarios. A failing seed is run again, with its last events, by
// orbweaver-sim --seed S.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tests/sim/world.h"

namespace orbweaver::sim {

namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

std::string report(const World& world) {
  std::string text = world.parameters().text();
  for (const std::string& line : world.trace().last()) text += line + "\n";
  for (const std::string& failure : world.failures()) text += "FAIL: " + failure + "\n";
  return text;
}

// ---- drawn seeds ----

class Seeds : public testing::TestWithParam<std::uint64_t> {};

TEST_P(Seeds, ContractHolds) {
  World world(Parameters::draw(GetParam()), false);
  EXPECT_TRUE(world.run_to_end()) << report(world);
}

INSTANTIATE_TEST_SUITE_P(Sim, Seeds, testing::Range<std::uint64_t>(1, 61));

// Seeds that found something once.
INSTANTIATE_TEST_SUITE_P(SimFound, Seeds,
                         testing::Values(21,   // a host's clock was lost when the host made room in memory
                                         38,   // an initiator that came back was taken for a late copy of itself
                                         158,  // the same
                                         195,  // Crawl-delay was not kept across a restart
                                         2));  // a loop that asked to be called at once, and did nothing

TEST(SimDraw, SixtySeedsCoverWhatTheyShould) {
  int calm = 0;
  int crashes = 0;
  int losses = 0;
  int limits = 0;
  int no_delay = 0;
  std::set<std::size_t> sizes;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const Parameters p = Parameters::draw(seed);
    calm += p.calm();
    crashes += !p.deeds.empty();
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
}

TEST(SimReplay, SameSeedSameRunByteForByte) {
  for (const std::uint64_t seed : {3u, 8u, 17u, 39u, 195u}) {
    World first(Parameters::draw(seed), true);
    // What lies where in memory must not matter.
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

// Some host has work for half a minute at a request a second, whatever the scope is.
bool lasts(const Parameters& p) {
  const FakeWeb web(p.web);
  for (std::uint32_t host = 0; host < 3; ++host) {
    const Walk alone = walk(web, {web.page_url(host, 0)}, {web.host_name(host)}, true);
    if (alone.fetched.size() >= 25) return true;
  }
  return false;
}

// Four peers, a calm network, a web of a dozen hosts that takes half a minute or more.
Parameters scene(std::uint64_t seed) {
  Parameters p;
  p.seed = seed;
  p.peers = 4;
  p.settings = default_settings();
  p.settings.partitions = 64;
  p.settings.scope = ScopeKind::any;
  p.settings.delay = seconds{1};
  p.settings.stop_when_done = true;
  p.settings.retry_delay = seconds{1};
  p.web.seed = mix(seed);
  p.web.hosts = 12;
  p.web.pages_per_host = 40;
  p.seed_hosts = 6;
  while (!lasts(p)) p.web.seed = mix(p.web.seed);
  return p;
}

class Scene : public testing::TestWithParam<std::uint64_t> {
 protected:
  // The deed must come while the crawl is under way, else nothing is tried.
  static void expect_under_way(World& world, Duration at) {
    world.at(at, [&world] { EXPECT_FALSE(world.ending()) << "the crawl was over before the scenario began"; });
  }
  static void judge(World& world) {
    EXPECT_TRUE(world.run_to_end()) << report(world);
    for (const auto& [what, times] : world.stats().tolerated) {
      std::string name = what;
      std::replace(name.begin(), name.end(), ' ', '_');
      RecordProperty(name, std::to_string(times));
    }
  }
};

INSTANTIATE_TEST_SUITE_P(Sim, Scene, testing::Range<std::uint64_t>(1, 6));

// Issue "Step 1", point 3: seeds added later widen the scope on every peer alike.
TEST_P(Scene, SeedsAddedLaterWidenTheScopeOnEveryPeer) {
  Parameters p = scene(GetParam());
  p.settings.scope = ScopeKind::host;
  p.seed_hosts = 3;
  p.web.away = 0;  // what was out of scope before is not found again: so nothing leads there before
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
  std::size_t told = 0;
  world.at(seconds{12}, [&] {
    for (const SimPeer& peer : world.peers())
      if (peer.core != nullptr && peer.core->own_status()["seeds"] == 6) ++told;
  });
  judge(world);  // every page of the later hosts is fetched, nothing beyond them
  ASSERT_EQ(world.answers().size(), 3u);
  EXPECT_NE(world.answers()[0].find("accepted"), std::string::npos);
  if (GetParam() % 2 == 1) {
    EXPECT_EQ(told, 4u);
  }
}

// Issue "Step 1", point 3: one that brings other values is refused by name.
TEST_P(Scene, JoinerWithAnotherRingWideValueIsRefusedByName) {
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
TEST_P(Scene, LeaveHandsEverythingOver) {
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

TEST_P(Scene, JoinInMidCrawlGetsAShare) {
  World world(scene(GetParam()), false);
  expect_under_way(world, seconds{6});
  const std::size_t joiner = world.add_peer(seconds{6}, 2);
  judge(world);
  EXPECT_TRUE(world.ring_moved());
  EXPECT_GT(world.peers()[joiner].counts.discovered(), 0u);
}

// Declared down, its partitions are others' for a while; then it comes back with its old store.
TEST_P(Scene, DownAndBack) {
  Parameters p = scene(GetParam());
  p.settings.suspicion_time = seconds{3};
  p.deeds.push_back({Deed::Kind::crash, 1 + GetParam() % 3, seconds{5}, seconds{20}});
  World world(p, false);
  expect_under_way(world, seconds{5});
  judge(world);
  EXPECT_TRUE(world.ring_moved());
}

TEST_P(Scene, AllKilledAtOnceAndRestarted) {
  Parameters p = scene(GetParam());
  p.deeds.push_back({Deed::Kind::crash_all, 0, seconds{5}, milliseconds{700}});
  p.deeds.push_back({Deed::Kind::crash_all, 0, seconds{9}, milliseconds{50}});
  World world(p, false);
  expect_under_way(world, seconds{9});
  judge(world);
  EXPECT_EQ(world.stats().crashes, 8u);
  EXPECT_TRUE(world.stats().tolerated.empty());  // nothing twice, and polite, to the letter
}

// A restart looks for no more peers than there are: the crawl has begun long since.
TEST_P(Scene, RestartInARingThatBecameSmaller) {
  Parameters p = scene(GetParam());
  p.deeds.push_back({Deed::Kind::leave, 2, seconds{4}, {}});
  p.deeds.push_back({Deed::Kind::crash, 0, seconds{8}, milliseconds{500}});
  World world(p, false);
  expect_under_way(world, seconds{8});
  judge(world);
}

// Cleanly stopped and started again, one after the other.
TEST_P(Scene, RollingRestart) {
  Parameters p = scene(GetParam());
  for (std::size_t peer = 0; peer < p.peers; ++peer)
    p.deeds.push_back({Deed::Kind::stop, peer, seconds{4 + 2 * static_cast<int>(peer)}, milliseconds{800}});
  World world(p, false);
  expect_under_way(world, seconds{10});
  judge(world);
  EXPECT_TRUE(world.stats().tolerated.empty());
}

// A peer that dies between the first word of the end and the last is started again: it must learn that all is over.
// Disabled: not so yet. The others are gone, it takes them for down and waits for ever.
TEST_P(Scene, DISABLED_CrashWhileTheEndIsTold) {
  for (std::size_t victim = 0; victim < 4; ++victim) {
    Parameters p = scene(GetParam());
    p.time_max = std::chrono::hours{1};
    World world(p, false);
    while (!world.ending() && world.run(world.since_start() + milliseconds{1})) {
    }
    ASSERT_TRUE(world.failures().empty()) << report(world);
    world.crash(victim, milliseconds{500});
    EXPECT_TRUE(world.run_to_end()) << "peer " << victim << "\n" << report(world);
  }
}

// A robots.txt that is elsewhere costs a second request to the host: with the delay between the two.
// Disabled: not so yet. The redirect is followed at once.
TEST_P(Scene, RobotsRedirectIsPolite) {
  Parameters p = scene(GetParam());
  p.web.robots_redirects = true;
  World world(p, false);
  judge(world);
}

}  // namespace

}  // namespace orbweaver::sim
