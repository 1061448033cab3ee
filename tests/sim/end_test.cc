// Named scenarios around the end of a crawl, and of a leave: docs/decisions/0027-the-end-is-agreed.md. Each on several
// webs.
#include <nlohmann/json.hpp>

#include "node/crawl/meta_names.h"
#include "ring/codec.h"
#include "tests/sim/scenario.h"

namespace orbweaver::sim {

namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

using EndScenario = Scenario;
INSTANTIATE_TEST_SUITE_P(Sim, EndScenario, testing::Range<std::uint64_t>(1, 4));

std::uint64_t sent(const World& world, const std::string& type) {
  const auto found = world.stats().by_type.find(type);
  return found == world.stats().by_type.end() ? 0 : found->second.messages;
}

std::uint64_t times(const World& world, const std::string& what) {
  const auto found = world.stats().faults.find(what);
  return found == world.stats().faults.end() ? 0 : found->second;
}

// As the peer's disk has it.
std::optional<ring::EndStage> known_end(World& world, std::size_t number) {
  auto store = storage::Store::open(*world.peers()[number].kv);
  const auto row = store ? store->meta(meta_name::ended) : tl::make_unexpected(store.error());
  if (!row || !*row) return std::nullopt;
  const auto message = ring::decode(**row);
  const auto* const end = message ? std::get_if<ring::Finish>(&message->body) : nullptr;
  return end == nullptr ? std::nullopt : std::optional(end->stage);
}

// A short crawl: what matters is its end.
Parameters short_scene(std::uint64_t seed, std::uint32_t replicas) {
  Parameters p = scene(seed);
  p.settings.delay = milliseconds{50};
  p.settings.replicas = replicas;
  p.web.pages_per_host = 10;
  p.max_time = std::chrono::hours{1};
  return p;
}

// A seed that a peer accepts is crawled, at whichever moment of the end it comes. One that it refuses is not.
TEST_P(EndScenario, SeedAtTheMomentOfTheEnd) {
  std::uint64_t accepted = 0;
  std::uint64_t refused = 0;
  for (const char* type : {"wave_reply", "finish", "finish_ack"}) {
    for (std::uint64_t message = 1; message <= 6; ++message) {
      Parameters p = short_scene(GetParam(), 1 + message % 2);
      Fault seed;
      seed.kind = Fault::Kind::late_seed;
      seed.peer = 1 + message % 3;
      seed.what = type;
      seed.sends = message;
      seed.by = milliseconds{message % 4};
      seed.host = 0;
      seed.page = static_cast<std::uint32_t>(message);
      p.faults.push_back(seed);
      World world(p, false);
      EXPECT_TRUE(world.run_to_end()) << type << " " << message << "\n" << report(world);
      accepted += times(world, "late_seed");
      refused += times(world, "late_seed refused");
    }
  }
  EXPECT_GE(accepted, 3u);
  EXPECT_GE(refused, 3u);
}

// A peer that dies between the first proposal of the end and the last message of it is started again, after a moment or
// after the others have given it up. All peers learn of the end.
TEST_P(EndScenario, CrashWhileTheEndIsAgreed) {
  for (std::size_t victim = 0; victim < 4; ++victim) {
    for (const Duration later : {Duration{}, Duration{milliseconds{2}}, Duration{milliseconds{6}}}) {
      for (const Duration down : {Duration{milliseconds{500}}, Duration{seconds{20}}}) {
        World world(short_scene(GetParam(), 1 + victim % 2), false);
        while (sent(world, "finish") == 0 && world.run(world.since_start() + milliseconds{1})) {
        }
        ASSERT_TRUE(world.run(world.since_start() + later)) << report(world);
        world.crash(victim, down);
        EXPECT_TRUE(world.run_to_end()) << "peer " << victim << "\n" << report(world);
      }
    }
  }
}

// A peer that has agreed to the end dies before it is decided, and comes back when all others have ended and are gone
// (found by seed 46411). It takes nothing over, fetches nothing, and ends with the same totals.
TEST_P(EndScenario, OneThatAgreedComesBackWhenAllOthersHaveEnded) {
  std::uint64_t agreed = 0;
  for (std::size_t victim = 0; victim < 4; ++victim) {
    for (const OnCut on_cut : {OnCut::continue_, OnCut::pause_minority}) {
      Parameters p = short_scene(GetParam(), 2);
      p.settings.presume_dead_after = seconds{3};
      p.settings.on_cut = on_cut;
      World world(p, false);
      while (sent(world, "finish") == 0 && world.run(world.since_start() + milliseconds{1})) {
      }
      for (int step = 0; step < 100 && !known_end(world, victim); ++step)
        ASSERT_TRUE(world.run(world.since_start() + microseconds{100})) << report(world);
      if (known_end(world, victim) != ring::EndStage::proposed) continue;
      ++agreed;
      world.crash(victim, std::chrono::minutes{1});
      EXPECT_TRUE(world.run_to_end()) << "peer " << victim << "\n" << report(world);
      EXPECT_EQ(times(world, "an end of another side"), 0u);
    }
  }
  EXPECT_GE(agreed, 7u);
}

TEST_P(EndScenario, AllAreKilledWhileTheEndIsAgreed) {
  for (int later = 0; later < 16; later += 3) {
    World world(short_scene(GetParam(), 1 + static_cast<std::uint32_t>(later) % 2), false);
    while (sent(world, "finish") == 0 && world.run(world.since_start() + milliseconds{1})) {
    }
    ASSERT_TRUE(world.run(world.since_start() + milliseconds{later})) << report(world);
    for (std::size_t peer = 0; peer < 4; ++peer) world.crash(peer, milliseconds{300 + 100 * static_cast<int>(peer)});
    EXPECT_TRUE(world.run_to_end()) << later << " ms\n" << report(world);
  }
}

// Cut off for longer than presume_dead_after, each side ends alone. The network is whole again when the first one ends.
TEST_P(EndScenario, ASideThatEndsDoesNotEndTheOther) {
  std::uint64_t ends = 0;
  for (std::size_t alone = 0; alone < 4; ++alone) {
    Parameters p = scene(GetParam());
    p.settings.replicas = 2;
    p.settings.suspicion_time = seconds{2};
    p.settings.presume_dead_after = seconds{3};
    p.web.pages_per_host = 25;
    Fault cut;
    cut.kind = Fault::Kind::cut;
    cut.side = {alone};
    cut.at = seconds{6};
    cut.down = std::chrono::minutes{10};
    p.faults.push_back(cut);
    p.faults_end = cut.at + cut.down;
    World world(p, false);
    EXPECT_TRUE(world.run_to_end()) << "peer " << alone << " alone\n" << report(world);
    ends += times(world, "an end of another side");
  }
  EXPECT_GE(ends, 1u);
}

// leave_timeout is over, and with one copy of everything: the peer stops, and the ring waits for it.
TEST_P(EndScenario, ALeaveThatTakesTooLongStops) {
  for (const std::uint32_t replicas : {1u, 2u}) {
    Parameters p = scene(GetParam());
    p.settings.replicas = replicas;
    p.settings.leave_timeout = milliseconds{300};
    Fault slow;
    slow.kind = Fault::Kind::slow;
    slow.side = {1};
    slow.at = seconds{5};
    slow.down = seconds{10};
    slow.by = seconds{1};
    p.faults = {slow, {Fault::Kind::leave, 2, seconds{6}, {}}};
    p.faults_end = seconds{15};
    World world(p, false);
    judge(world);
    EXPECT_EQ(times(world, "a leave that leave_timeout ended"), 1u);
    EXPECT_GE(world.peers()[2].generation, 2u) << "it was started again";
    EXPECT_TRUE(world.peers()[2].exit && world.peers()[2].exit->finished);
  }
}

}  // namespace

}  // namespace orbweaver::sim
