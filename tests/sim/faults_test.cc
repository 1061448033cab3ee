// Named scenarios of faults: what the contract promises under each, on several webs.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/sim/scenario.h"

namespace orbweaver::sim {

namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class FaultScenario : public Scenario {
 protected:
  static Fault fault(const std::string& text) {
    const auto read = Fault::read(text);
    if (!read) ADD_FAILURE() << read.error().message;
    return read ? *read : Fault{};
  }
  static Parameters with(std::initializer_list<const char*> faults) {
    Parameters p = scene(GetParam());
    p.settings.suspicion_time = seconds{3};
    p.faults_end = seconds{40};
    for (const char* text : faults) p.faults.push_back(fault(text));
    return p;
  }
  // Runs it; every fault must happen, and while the crawl is in progress.
  void run(const Parameters& p, World& world) {
    world.at(seconds{4}, [&] { owners_changed_ = world.stats().owners_changed; });
    judge(world);
    std::uint64_t done = 0;
    for (const auto& [name, times] : world.stats().faults)
      if (std::any_of(p.faults.begin(), p.faults.end(),
                      [&name](const Fault& fault) { return name.starts_with(fault_name(fault.kind)); }))
        done += times;
    EXPECT_EQ(done, p.faults.size());
    owners_changed_ = world.stats().owners_changed - owners_changed_;
  }
  // After all peers had joined.
  std::uint64_t owners_changed_ = 0;
};

INSTANTIATE_TEST_SUITE_P(Sim, FaultScenario, testing::Range<std::uint64_t>(1, 6));

// Contract, 4 and 6: both sides continue; after healing they are one ring again and the crawl ends once.
TEST_P(FaultScenario, CutInHalvesAndHealed) {
  const Parameters p = with({"cut side=0,1 at=5s for=15s"});
  World world(p, false);
  run(p, world);
  EXPECT_GT(owners_changed_, 0u);
}

TEST_P(FaultScenario, CutShorterThanTheSuspicionTimeMovesNothing) {
  for (const char* text : {"cut side=2 at=5s for=1500ms", "cut side=2 at=5s for=1500ms held=1"}) {
    const Parameters p = with({text});
    World world(p, false);
    run(p, world);
    EXPECT_EQ(owners_changed_, 0u);
    EXPECT_TRUE(world.stats().tolerated.empty());
  }
}

TEST_P(FaultScenario, OneWayCut) {
  for (const char* text : {"one_way side=3 at=5s for=15s", "one_way side=0,1,2 at=5s for=15s"}) {
    const Parameters p = with({text});
    World world(p, false);
    run(p, world);
  }
}

TEST_P(FaultScenario, SlowLinks) {
  const Parameters p = with({"slow side=1,2 at=4s for=20s by=800ms"});
  World world(p, false);
  run(p, world);
}

// Longer than the suspicion time: when it resumes, other peers own its partitions.
TEST_P(FaultScenario, PausedForLong) {
  for (const char* text : {"pause peer=1 at=5s for=20s", "pause peer=1 at=5s for=20s tick_last=1"}) {
    const Parameters p = with({text});
    World world(p, false);
    run(p, world);
    EXPECT_GT(owners_changed_, 0u);
  }
}

TEST_P(FaultScenario, PausedForAShortTimeChangesNothing) {
  const Parameters p = with({"pause peer=1 at=5s for=1s", "pause peer=0 at=8s for=1500ms tick_last=1"});
  World world(p, false);
  run(p, world);
  EXPECT_EQ(owners_changed_, 0u);
  EXPECT_TRUE(world.stats().tolerated.empty());
}

TEST_P(FaultScenario, APausedPeerIsNotSteppedAndItsMessagesWait) {
  const Parameters p = with({"pause peer=1 at=5s for=2s"});
  World world(p, true);
  ASSERT_TRUE(world.run(seconds{8})) << report(world);
  const std::string& log = world.trace().all();
  const std::size_t paused = log.find("peer 1 is paused");
  const std::size_t goes_on = log.find("peer 1 goes on, ");
  ASSERT_NE(paused, std::string::npos);
  ASSERT_NE(goes_on, std::string::npos);
  const std::string between = log.substr(paused, goes_on - paused);
  EXPECT_EQ(between.find(" p1 "), std::string::npos) << between;
  EXPECT_NE(between.find("p0 "), std::string::npos);
  EXPECT_EQ(log.find("goes on, 0 events waited"), std::string::npos);
}

// Clocks half a minute apart: without other faults nothing may be lost, fetched twice or impolite.
TEST_P(FaultScenario, ClocksThatDiffer) {
  Parameters p = with({"crash peer=2 at=6s for=700ms", "crash peer=0 at=9s for=300ms"});
  p.skews = {{0, -seconds{30}}, {1, seconds{30}}, {3, milliseconds{-1500}}};
  World world(p, false);
  run(p, world);
  EXPECT_EQ(owners_changed_, 0u);
  EXPECT_TRUE(world.stats().tolerated.empty());
}

TEST_P(FaultScenario, AWriteThatFailsEndsThePeerAndLosesNothing) {
  int failed = 0;
  for (const char* text : {"disk_error peer=2 at=5s for=700ms", "disk_full peer=0 at=4s for=700ms writes=1",
                           "disk_error peer=1 at=4s for=700ms writes=2"}) {
    const Parameters p = with({text});
    World world(p, true);
    run(p, world);
    // The checker "ends" makes sure that the code is 7 or 8.
    failed += world.trace().all().find("this write is made to fail") != std::string::npos;
    EXPECT_TRUE(world.stats().tolerated.empty());
  }
  EXPECT_GE(failed, 1);  // a peer without hosts writes nothing
}

// With durability "power" everything that counted is on the disk.
TEST_P(FaultScenario, PowerCutWithDurabilityPowerIsACrash) {
  Parameters p = with({"power_cut peer=2 at=4s for=700ms writes=2", "power_cut peer=1 at=6s for=700ms"});
  p.settings.durability = Durability::power;
  p.max_sync = milliseconds{300};
  World world(p, true);
  run(p, world);
  EXPECT_NE(world.trace().all().find("peer 1 has lost"), std::string::npos);
  EXPECT_FALSE(world.disks_lost());
  EXPECT_TRUE(world.stats().tolerated.empty());
}

// Without fsync the last writes are lost, with the records in them; the other copies have what counted.
TEST_P(FaultScenario, PowerCutDropsTheLastWrites) {
  const Parameters p = with({"power_cut peer=2 at=6s for=700ms writes=8"});
  World world(p, true);
  run(p, world);
  EXPECT_TRUE(world.disks_lost());
  EXPECT_NE(world.trace().all().find("peer 2 has lost its last 8 writes"), std::string::npos);
}

TEST_P(FaultScenario, TenJoinsAndLeavesInARow) {
  const Parameters p =
      with({"join peer=4 through=0 at=4s", "leave peer=1 at=5s", "join peer=5 through=0 at=6s", "leave peer=2 at=7s",
            "join peer=6 through=0 at=8s", "leave peer=4 at=9s", "join peer=7 through=0 at=10s", "leave peer=5 at=11s",
            "join peer=8 through=0 at=12s", "leave peer=3 at=13s"});
  World world(p, false);
  run(p, world);
  EXPECT_EQ(world.peers().size(), 9u);
  for (const std::size_t left : {1u, 2u, 3u, 4u, 5u}) EXPECT_EQ(world.peers()[left].counts.discovered(), 0u) << left;
}

// A peer leaves, and starts again a little later with its old directory.
TEST_P(FaultScenario, LeftAndBack) {
  const Parameters p = with({"leave peer=2 at=5s for=3s"});
  World world(p, false);
  run(p, world);
  EXPECT_EQ(world.peers()[2].generation, 2u);
}

// Contract, 1: with two copies nothing is lost when one peer and its disk are lost forever.
TEST_P(FaultScenario, ADiskIsGone) {
  for (const char* text : {"disk_gone peer=1 at=6s", "disk_gone peer=1 at=6s for=4s"}) {
    const Parameters p = with({text});
    World world(p, false);
    run(p, world);
  }
}

}  // namespace

}  // namespace orbweaver::sim
