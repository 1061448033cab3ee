// SWIM in a simulated network: the invariants of rings of 3 to 100 members that lose, delay and cut messages.
#include "tests/unit/membership_sim.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>

namespace orbweaver::ring {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

double in_seconds(Duration span) { return std::chrono::duration<double>(span).count(); }

// Makes a ring of `count` that has settled.
void settle(Sim& sim, std::size_t count) {
  sim.make_ring(count);
  ASSERT_LE(sim.run_until(seconds(60), [&] { return sim.agreed(); }), seconds(60));
}

class MembershipSim : public testing::TestWithParam<std::size_t> {};

INSTANTIATE_TEST_SUITE_P(Members, MembershipSim, testing::Values(3, 10, 50));

TEST_P(MembershipSim, Converges_WithLossAndDelay) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    Sim sim(seed);
    sim.loss = 0.05;
    sim.max_delay = milliseconds(100);
    sim.make_ring(GetParam());
    EXPECT_LE(sim.run_until(seconds(30), [&] { return sim.agreed(); }), seconds(30)) << "seed " << seed;
  }
}

TEST_P(MembershipSim, Swim_ADeathIsSeenByAllAndBuriesNobodyElse) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    Sim sim(seed);
    sim.loss = 0.02;
    settle(sim, GetParam());
    sim.kill(1);
    const auto limit = sim.config.suspicion_time + seconds(10);
    const Duration took = sim.run_until(limit, [&] { return sim.all_see(1, MemberState::down); });
    EXPECT_LE(took, limit) << "seed " << seed;
    EXPECT_GE(took, sim.config.suspicion_time);
    EXPECT_TRUE(sim.buried_alive().empty());
  }
}

TEST_P(MembershipSim, Swim_NobodyIsBuriedAliveWhenMessagesAreLost) {
  for (const double loss : {0.1, 0.3}) {
    Sim sim(7);
    settle(sim, GetParam());
    sim.loss = loss;
    sim.after_step = [&sim] { ASSERT_TRUE(sim.buried_alive().empty()) << "loss " << sim.loss; };
    sim.run_for(GetParam() > 20 ? seconds(60) : seconds(300));
    sim.after_step = [] {};
    sim.loss = 0;
    EXPECT_LE(sim.run_until(seconds(30), [&] { return sim.agreed(); }), seconds(30));
  }
}

TEST_P(MembershipSim, AShortPauseIsRefutedWithAHigherIncarnation) {
  Sim sim(11);
  settle(sim, GetParam());
  const std::uint64_t before = sim.peers[1].membership->self().incarnation;
  sim.pause(1);
  bool was_suspect = false;
  sim.after_step = [&] {
    ASSERT_TRUE(sim.buried_alive().empty());
    was_suspect = was_suspect || sim.peers[0].membership->find(sim_id(1))->suspect;
  };
  sim.run_for(seconds(9));
  sim.resume(1);
  EXPECT_LE(sim.run_until(seconds(20), [&] { return sim.agreed(); }), seconds(20));
  EXPECT_TRUE(was_suspect);
  EXPECT_GT(sim.peers[1].membership->self().incarnation, before);
}

TEST_P(MembershipSim, ALongPause_ComesBackAndBlamesNobody) {
  Sim sim(13);
  settle(sim, GetParam());
  sim.pause(1);
  EXPECT_LE(sim.run_until(seconds(30), [&] { return sim.all_see(1, MemberState::down); }), seconds(30));
  sim.run_for(minutes(2));
  sim.resume(1);
  sim.after_step = [&] {
    for (const auto& [observer, observed] : sim.buried_alive()) ASSERT_EQ(observed, 1u) << "by " << observer;
  };
  EXPECT_LE(sim.run_until(seconds(40), [&] { return sim.agreed(); }), seconds(40));
}

TEST_P(MembershipSim, ARestartComesBackWithItsNewIncarnation) {
  Sim sim(17);
  settle(sim, GetParam());
  const std::vector<Member> remembered = sim.peers[1].membership->member_list();
  sim.kill(1);
  EXPECT_LE(sim.run_until(seconds(30), [&] { return sim.all_see(1, MemberState::down); }), seconds(30));
  // It finds the others from its stored members, its own old record among them; no peer lets it in again.
  sim.start(1);
  sim.peers[1].membership->restore(remembered, sim.now);
  EXPECT_LE(sim.run_until(seconds(40), [&] { return sim.agreed(); }), seconds(40));
}

TEST_P(MembershipSim, AllRestartAtOnce_FromWhatTheyRemember) {
  Sim sim(19);
  settle(sim, GetParam());
  std::vector<std::vector<Member>> remembered;
  for (const SimPeer& peer : sim.peers) remembered.push_back(peer.membership->member_list());
  sim.run_for(seconds(1));
  for (std::size_t i = 0; i < remembered.size(); ++i) {
    sim.start(i);
    sim.peers[i].membership->restore(remembered[i], sim.now);
  }
  sim.after_step = [&] { ASSERT_TRUE(sim.buried_alive().empty()); };
  EXPECT_LE(sim.run_until(seconds(40), [&] { return sim.agreed(); }), seconds(40));
}

TEST_P(MembershipSim, ACutIsSeenByBothSides_AndHeals) {
  Sim sim(23);
  settle(sim, GetParam());
  const std::size_t half = GetParam() / 2;
  const auto side = [half](std::size_t number) { return number < half; };
  sim.is_cut = [side](std::size_t from, std::size_t to) { return side(from) != side(to); };
  const auto other_side_down = [&] { return sim.buried_alive().size() == 2 * half * (GetParam() - half); };
  // The last of 25 may be suspected only after more than a round of probes.
  EXPECT_LE(sim.run_until(seconds(60), other_side_down), seconds(60));
  sim.run_for(seconds(60));
  EXPECT_TRUE(other_side_down());
  sim.is_cut = [](std::size_t, std::size_t) { return false; };
  sim.after_step = [&] {  // neighbours that were never apart do not declare each other down
    for (const auto& [observer, observed] : sim.buried_alive()) ASSERT_NE(side(observer), side(observed));
  };
  EXPECT_LE(sim.run_until(seconds(60), [&] { return sim.agreed(); }), seconds(60));
}

TEST_P(MembershipSim, OneWayCut_IsBridgedByOthers) {
  Sim sim(29);
  settle(sim, GetParam());
  sim.is_cut = [](std::size_t from, std::size_t to) { return from == 1 && to == 2; };
  sim.after_step = [&] { ASSERT_TRUE(sim.buried_alive().empty()); };
  sim.run_for(seconds(120));
}

TEST_P(MembershipSim, ALeaveIsKnownAtOnce_AndNeverTakenForADeath) {
  Sim sim(31);
  settle(sim, GetParam());
  sim.peers[1].membership->set_state(MemberState::leaving, sim.now);
  EXPECT_LE(sim.run_until(seconds(20), [&] { return sim.all_see(1, MemberState::leaving); }), seconds(20));
  sim.peers[1].membership->set_state(MemberState::left, sim.now);
  EXPECT_LE(sim.run_until(seconds(1), [&] { return sim.all_see(1, MemberState::left); }), seconds(1));
  sim.kill(1);
  sim.run_for(seconds(60));
  EXPECT_TRUE(sim.all_see(1, MemberState::left));
  EXPECT_TRUE(sim.agreed());
}

TEST_P(MembershipSim, SameSeedSameRun) {
  const auto run = [](std::uint64_t seed) {
    Sim sim(seed);
    sim.loss = 0.1;
    sim.make_ring(GetParam());
    sim.run_for(seconds(10));
    sim.kill(2);
    sim.run_for(seconds(20));
    return sim.transcript;
  };
  EXPECT_EQ(run(1), run(1));
  EXPECT_NE(run(1), run(2));
}

// Load and speed, printed for the notes and checked against SWIM's promises: constant load, detection within a few
// rounds.
TEST(MembershipFigures, LoadAndDetection) {
  for (const std::size_t count : {3u, 10u, 100u}) {
    Sim sim(37);
    sim.make_ring(count);
    const Duration joined = sim.run_until(seconds(60), [&] { return sim.agreed(); });
    ASSERT_LE(joined, seconds(60));
    sim.run_for(seconds(60));  // until the gossip of the joins ends
    sim.messages = sim.bytes = 0;
    constexpr int quiet_seconds = 60;
    sim.run_for(seconds(quiet_seconds));
    const double per_peer = static_cast<double>(count) * quiet_seconds;
    const double bytes_a_second = static_cast<double>(sim.bytes) / per_peer;
    const double messages_a_second = static_cast<double>(sim.messages) / per_peer;
    sim.messages = sim.bytes = 0;
    const Time killed = sim.now;
    sim.kill(1);
    const auto suspected = [&] {
      return std::any_of(sim.peers.begin(), sim.peers.end(),
                         [](const SimPeer& peer) { return peer.alive && peer.membership->find(sim_id(1))->suspect; });
    };
    const Duration first = sim.run_until(seconds(30), suspected);
    const Duration all = sim.run_until(seconds(60), [&] { return sim.all_see(1, MemberState::down); }) + first;
    const double rounds = in_seconds(first) / in_seconds(sim.config.probe_every);
    const double spread = in_seconds(all - first - sim.config.suspicion_time) / in_seconds(sim.config.probe_every);
    std::printf(
        "%3zu members: join agreed in %.2f s; quiet: %.2f messages/s and %.0f bytes/s a peer; a death: suspected after "
        "%.2f s (%.1f rounds), down everywhere after %.2f s (the news took %.1f rounds past the suspicion time), "
        "%.0f bytes/s a peer meanwhile\n",
        count, in_seconds(joined), messages_a_second, bytes_a_second, in_seconds(first), rounds, in_seconds(all),
        spread, static_cast<double>(sim.bytes) / static_cast<double>(count) / in_seconds(sim.now - killed));
    EXPECT_LE(messages_a_second, 5);
    EXPECT_LE(bytes_a_second, 400 + 20 * static_cast<double>(count));
    EXPECT_LE(rounds, 12);
    EXPECT_LE(spread, 2 + 3 * std::log2(static_cast<double>(count) + 1));
  }
}

// ---- Lifeguard ----

struct FalseAlarms {
  std::size_t suspected = 0;    // times that some peer began to suspect a healthy one
  std::size_t buried = 0;       // times that some peer declared a healthy one down
  std::size_t slow_buried = 0;  // times that some peer declared the slow one down
};

// Ten members, all alive, one of which handles its messages 2 to 4 s late; the suspicion time is 3 s.
FalseAlarms alarms_around_a_slow_member(std::uint32_t max_health, std::uint32_t suspicion_factor, double loss) {
  FalseAlarms alarms;
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    Sim sim(seed);
    sim.config.suspicion_time = seconds(3);
    sim.config.max_health = max_health;
    sim.config.suspicion_factor = suspicion_factor;
    settle(sim, 10);
    sim.loss = loss;
    sim.peers[1].late = seconds(4);
    std::map<std::pair<std::size_t, std::size_t>, Member> before;
    sim.after_step = [&] {
      for (std::size_t i = 0; i < sim.peers.size(); ++i) {
        for (std::size_t j = 0; j < sim.peers.size(); ++j) {
          const Member* seen = i == j ? nullptr : sim.peers[i].membership->find(sim_id(j));
          if (seen == nullptr) continue;
          Member& was = before[{i, j}];
          const bool newly_down = seen->state == MemberState::down && was.state != MemberState::down;
          if (seen->suspect && !was.suspect && j != 1) ++alarms.suspected;
          if (newly_down) ++(j == 1 ? alarms.slow_buried : alarms.buried);
          was = *seen;
        }
      }
    };
    sim.run_for(seconds(200));
  }
  return alarms;
}

TEST(MembershipFigures, Lifeguard_ASlowMemberBuriesNoHealthyOne) {
  for (const double loss : {0.0, 0.2, 0.3}) {
    const auto alarms = [loss](const char* name, std::uint32_t max_health, std::uint32_t factor) {
      const FalseAlarms found = alarms_around_a_slow_member(max_health, factor, loss);
      std::printf("loss %.1f, %-22s: healthy ones suspected %5zu times, buried %3zu; the slow one buried %3zu\n", loss,
                  name, found.suspected, found.buried, found.slow_buried);
      return found;
    };
    const FalseAlarms swim = alarms("SWIM alone", 0, 1);
    alarms("with local health only", 8, 1);
    alarms("with suspicion only", 0, 3);
    const FalseAlarms lifeguard = alarms("with both", 8, 3);
    EXPECT_GT(swim.buried, 20u) << "else this shows nothing";
    EXPECT_LE(lifeguard.buried * 20, swim.buried);
    EXPECT_LE(lifeguard.suspected * 5, swim.suspected * 4);
  }
}

TEST(MembershipFigures, Lifeguard_ADeathIsConfirmedInTime) {
  for (const double loss : {0.0, 0.3}) {
    for (const std::size_t count : {2u, 3u, 4u, 10u, 100u}) {
      double worst = 0;
      const std::uint64_t seeds = count < 50 ? 10 : 1;
      for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
        Sim sim(seed);
        settle(sim, count);
        sim.loss = loss;
        sim.run_for(seconds(20));
        sim.kill(1);
        worst =
            std::max(worst, in_seconds(sim.run_until(minutes(2), [&] { return sim.all_see(1, MemberState::down); })));
      }
      std::printf(
          "loss %.1f, %3zu members: a death is known to all after %.1f s at worst, with a suspicion time of %.0f s\n",
          loss, count, worst, in_seconds(MembershipConfig{}.suspicion_time));
      EXPECT_LE(worst, in_seconds(MembershipConfig{}.suspicion_time) + 8);
    }
  }
}

TEST(MembershipFigures, Lifeguard_WhoIsCutOffAloneWaitsLongerThanTheOthers) {
  Sim sim(5);
  settle(sim, 10);
  sim.is_cut = [](std::size_t from, std::size_t to) { return (from == 0) != (to == 0); };
  const Time cut = sim.now;
  EXPECT_LE(sim.run_until(minutes(1), [&] { return sim.all_see(0, MemberState::down); }), seconds(15));
  const auto& alone = sim.peers[0].membership->members();
  const auto buried = [&alone] {
    return std::count_if(alone.begin(), alone.end(),
                         [](const auto& entry) { return entry.second.state == MemberState::down; });
  };
  sim.run_until(minutes(5), [&] { return buried() > 0; });
  const double first = in_seconds(sim.now - cut);
  sim.run_until(minutes(5), [&] { return buried() == 9; });
  std::printf("the one of ten that is cut off has the first of the others down after %.1f s, all after %.1f s\n", first,
              in_seconds(sim.now - cut));
  EXPECT_GE(first, in_seconds(sim.config.suspicion_time * sim.config.suspicion_factor));
  EXPECT_EQ(buried(), 9);
}

}  // namespace
}  // namespace orbweaver::ring
