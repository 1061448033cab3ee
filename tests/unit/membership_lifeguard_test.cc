// Lifeguard's refinements (Dadgar, Phillips, Currey 2018), rule by rule: local health, nacks, suspicions that others
// confirm; and the presets. Their effect in a network: membership_sim_test.cc.
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "ring/local_health.h"
#include "ring/network_preset.h"
#include "ring/suspicion.h"
#include "tests/unit/membership_calls.h"

namespace orbweaver::ring {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// ---- local health ----

TEST(LocalHealthScore, StaysBetweenZeroAndItsMax_AndStretchesByOneMoreThanItself) {
  LocalHealth health(8);
  health.better();
  EXPECT_EQ(health.score(), 0u);
  EXPECT_EQ(health.stretched(milliseconds(300)), milliseconds(300));
  for (int i = 0; i < 20; ++i) health.worse();
  EXPECT_EQ(health.score(), 8u);
  EXPECT_EQ(health.stretched(milliseconds(300)), milliseconds(2700));
  health.better();
  EXPECT_EQ(health.score(), 7u);
  LocalHealth always_well(0);
  always_well.worse();
  EXPECT_EQ(always_well.stretched(milliseconds(300)), milliseconds(300));
}

class Lifeguard : public MembershipCalls {
 protected:
  // Lets time pass until others are asked to probe member 1, which is silent. Returns the requests.
  std::vector<std::pair<PeerId, PingRequest>> ask_for_the_first() {
    for (;;) {
      const Time now = std::max(peer.next_deadline(), start);
      const auto requests = only<PingRequest>(live_to(now, {sim_id(1)}));
      if (requests.empty()) continue;
      asked_at = now;
      return requests;
    }
  }
  Time failed_at() const { return asked_at + 2 * config.probe_timeout; }
  // The time until member 1 is down; all others are well.
  Duration down_after(Time since) {
    while (peer.find(sim_id(1))->state != MemberState::down) {
      const Time now = peer.next_deadline();
      if (now > since + minutes) break;
      live_to(now, {sim_id(1)});
      last = now;
    }
    return last - since;
  }
  void accuse_self() {
    Member accusation = peer.self();
    accusation.suspect = true;
    peer.merge({accusation}, start);
  }

  static constexpr Duration minutes = std::chrono::minutes(2);
  Time asked_at;
  Time last;
};

TEST_F(Lifeguard, AFailedProbeCostsHealthUnlessEveryRelayNacked) {
  for (const std::size_t nacks : {0u, 1u, 2u, 3u}) {
    peer = Membership(sim_member(0, 1000), config, 1);
    tick(start);
    meet(5);
    const auto requests = ask_for_the_first();
    ASSERT_EQ(requests.size(), 3u);
    for (std::size_t i = 0; i < nacks; ++i)
      acknowledge(requests[i].first, requests[i].second.sequence, false, asked_at);
    live_to(failed_at() - Duration(1), {sim_id(1)});
    EXPECT_EQ(peer.health(), 0u);
    EXPECT_FALSE(peer.find(sim_id(1))->suspect);
    tick(failed_at());
    EXPECT_TRUE(peer.find(sim_id(1))->suspect) << "a nack is no answer of the target";
    EXPECT_EQ(peer.health(), nacks == 3 ? 0u : 1u) << nacks << " nacks";
  }
}

TEST_F(Lifeguard, AFailedProbeCostsHealthWhenThereIsNobodyToAsk) {
  meet(1);
  run_to(start + config.probe_every + 3 * config.probe_timeout);
  EXPECT_TRUE(peer.find(sim_id(1))->suspect);
  EXPECT_EQ(peer.health(), 1u);
}

TEST_F(Lifeguard, OnlyTheRelaysThatWereAskedNack_EachOnce) {
  meet(5);
  const auto requests = ask_for_the_first();
  for (int i = 0; i < 3; ++i) acknowledge(requests[0].first, requests[0].second.sequence, false, asked_at);
  for (const std::size_t other : {7u, 8u, 9u}) acknowledge(sim_id(other), requests[0].second.sequence, false, asked_at);
  live_to(failed_at(), {sim_id(1)});
  EXPECT_EQ(peer.health(), 1u);
}

TEST_F(Lifeguard, ARefutationCostsHealth_AnAnsweredProbeGivesItBack) {
  accuse_self();
  accuse_self();
  EXPECT_EQ(peer.health(), 2u);
  meet(1);
  live_to(start + config.probe_every);
  EXPECT_EQ(peer.health(), 1u);
  for (int i = 0; i < 20; ++i) accuse_self();
  EXPECT_EQ(peer.health(), config.max_health);
}

TEST_F(Lifeguard, AnIndirectAnswerGivesHealthBack) {
  accuse_self();
  meet(1);
  meet(2);
  std::vector<Send> sent;
  while (only<PingRequest>(sent).empty()) sent = run_to(std::max(peer.next_deadline(), start));
  const auto [relay, request] = only<PingRequest>(sent).front();
  const std::uint32_t before = peer.health();
  std::vector<Send> ignored;
  peer.on_ping_ack(relay, PingAck{request.sequence, {}, 0}, start, ignored);
  EXPECT_EQ(peer.health(), before - 1);
}

TEST_F(Lifeguard, ProbesAreStretchedByTheHealthAtTheirStart) {
  accuse_self();
  accuse_self();
  meet(3);
  Time probed;
  std::vector<Send> sent;
  while (only<Ping>(sent).empty()) {
    probed = std::max(peer.next_deadline(), start);
    sent = run_to(probed);
  }
  const PeerId target = only<Ping>(sent).front().first;
  EXPECT_TRUE(only<PingRequest>(run_to(probed + 3 * config.probe_timeout - Duration(1))).empty());
  EXPECT_FALSE(only<PingRequest>(run_to(probed + 3 * config.probe_timeout)).empty());
  run_to(probed + 9 * config.probe_timeout - Duration(1));
  EXPECT_FALSE(peer.find(target)->suspect);
  run_to(probed + 9 * config.probe_timeout);
  EXPECT_TRUE(peer.find(target)->suspect);
}

TEST_F(Lifeguard, ThePeriodIsStretchedByTheHealth) {
  accuse_self();
  accuse_self();
  meet(3);
  std::vector<Time> pings;
  while (pings.size() < 5) {
    const Time now = std::max(peer.next_deadline(), start);
    for (const auto& ping : only<Ping>(live_to(now))) {
      EXPECT_NE(ping.first, sim_id(0));
      pings.push_back(now);
    }
  }
  std::vector<Duration> gaps;
  for (std::size_t i = 1; i < pings.size(); ++i) gaps.push_back(pings[i] - pings[i - 1]);
  EXPECT_EQ(gaps, (std::vector<Duration>{3 * config.probe_every, 2 * config.probe_every, config.probe_every,
                                         config.probe_every}))
      << "each answer makes it one better";
}

// ---- nacks ----

TEST_F(Lifeguard, ARelayNacksOnceAfterTheTimeout_AndStillPassesALaterAnswerOn) {
  meet(2);
  std::vector<Send> out;
  peer.on_ping_request(sim_id(1), PingRequest{77, record(2, 5, MemberState::active), {}}, start, out);
  const std::uint64_t sequence = only<Ping>(out).front().second.sequence;
  EXPECT_LE(peer.next_deadline(), start + config.probe_timeout);
  EXPECT_TRUE(only<PingAck>(run_to(start + config.probe_timeout - Duration(1))).empty());
  const auto nacks = only<PingAck>(run_to(start + 2 * config.probe_timeout - Duration(1)));
  ASSERT_EQ(nacks.size(), 1u);
  EXPECT_EQ(nacks.front().first, sim_id(1));
  EXPECT_EQ(nacks.front().second.sequence, 77u);
  EXPECT_FALSE(nacks.front().second.reached);
  out.clear();
  peer.on_ping_ack(sim_id(2), PingAck{sequence, {}, 0}, start, out);
  ASSERT_EQ(only<PingAck>(out).size(), 1u);
  EXPECT_TRUE(only<PingAck>(out).front().second.reached);
}

TEST_F(Lifeguard, ARelayThatWasAnsweredDoesNotNack) {
  meet(2);
  std::vector<Send> out;
  peer.on_ping_request(sim_id(1), PingRequest{77, record(2, 5, MemberState::active), {}}, start, out);
  answer(out, start);
  EXPECT_TRUE(only<PingAck>(run_to(start + seconds(2))).empty());
}

// Seed 13021 of the simulator: a peer that had stood still had more relays than askers and targets.
TEST_F(Lifeguard, ANewerRequestOfTheSameAskerTakesThePlaceOfTheOlder) {
  meet(3);
  std::vector<Send> out;
  for (const std::uint64_t sequence : {77, 78, 79})
    peer.on_ping_request(sim_id(1), PingRequest{sequence, record(2, 5, MemberState::active), {}}, start, out);
  peer.on_ping_request(sim_id(1), PingRequest{80, record(3, 5, MemberState::active), {}}, start, out);
  peer.on_ping_request(sim_id(3), PingRequest{81, record(2, 5, MemberState::active), {}}, start, out);
  for (const TableSize& table : peer.tables())
    if (table.name == "membership.relays") {
      EXPECT_EQ(table.entries, 3u);
    }
  std::multiset<std::uint64_t> answered;
  for (const auto& [to, nack] : only<PingAck>(run_to(start + 2 * config.probe_timeout - Duration(1))))
    answered.insert(nack.sequence);
  EXPECT_EQ(answered, (std::multiset<std::uint64_t>{79, 80, 81}));
}

TEST_F(Lifeguard, ARelayThatHasTheTargetDownNacksAtOnce) {
  meet(1);
  bury(2);
  std::vector<Send> out;
  peer.on_ping_request(sim_id(1), PingRequest{77, record(2, 5, MemberState::active), {}}, start, out);
  EXPECT_TRUE(only<Ping>(out).empty());
  ASSERT_EQ(only<PingAck>(out).size(), 1u);
  EXPECT_FALSE(only<PingAck>(out).front().second.reached);
}

TEST_F(Lifeguard, ARequestThatWaitedWhileTheRelayStoodStillGetsItsWholeTime) {
  meet(2);
  const Time woken = start + seconds(60);
  std::vector<Send> out;
  peer.on_ping_request(sim_id(1), PingRequest{77, record(2, 5, MemberState::active), {}}, woken, out);
  EXPECT_TRUE(only<PingAck>(tick(woken)).empty());
  EXPECT_TRUE(only<PingAck>(run_to(woken + config.probe_timeout - Duration(1))).empty());
  EXPECT_EQ(only<PingAck>(run_to(woken + config.probe_timeout)).size(), 1u);
}

// ---- suspicion ----

TEST(SuspicionWait, FallsWithTheLogarithmOfTheConfirmations) {
  const Duration min = seconds(10);
  for (const std::uint32_t factor : {1u, 2u, 3u, 6u}) {
    for (std::size_t reachable = 4; reachable < 20; ++reachable) {
      const double wanted = std::min(3.0, static_cast<double>(reachable) - 2);
      ASSERT_EQ(static_cast<double>(confirmations_wanted(reachable)), wanted);
      for (std::size_t confirmations = 0; confirmations < 8; ++confirmations) {
        const double span = 10.0 * (factor - 1);
        const double formula =
            10.0 + span - span * std::log(static_cast<double>(confirmations) + 1) / std::log(wanted + 1);
        const Duration wait = suspicion_wait(min, factor, reachable, confirmations);
        EXPECT_NEAR(std::chrono::duration<double>(wait).count(), std::max(10.0, formula), span / 10000 + 1e-9);
      }
    }
  }
}

TEST(SuspicionWait, IsTheLeastWhereTooFewCanConfirm) {
  for (const std::size_t reachable : {0u, 1u, 2u, 3u})
    EXPECT_EQ(suspicion_wait(seconds(10), 6, reachable, 0), seconds(10));
}

TEST(SuspicionWait, AMemberConfirmsOnce) {
  Suspicion suspicion;
  for (const std::size_t by : {1u, 1u, 2u, 1u}) suspicion.confirm(sim_id(by));
  EXPECT_EQ(suspicion.confirmed_by, (std::vector<PeerId>{sim_id(1), sim_id(2)}));
  for (std::size_t by = 3; by < 100; ++by) suspicion.confirm(sim_id(by));
  EXPECT_EQ(suspicion.confirmed_by.size(), max_confirmations);
}

TEST_F(Lifeguard, NacksConfirm_ThreeLeaveTheSuspicionTime) {
  // By the table of suspicion.cc: 1, 1/2, 0.2075 and none of the 20 s between 10 s and 30 s.
  const std::vector<Duration> waits{seconds(30), seconds(20), milliseconds(14150), seconds(10)};
  for (std::size_t nacks = 0; nacks < waits.size(); ++nacks) {
    peer = Membership(sim_member(0, 1000), config, 1);
    tick(start);
    meet(5);
    const auto requests = ask_for_the_first();
    for (std::size_t i = 0; i < nacks; ++i)
      acknowledge(requests[i].first, requests[i].second.sequence, false, asked_at);
    EXPECT_EQ(down_after(failed_at()), waits[nacks]) << nacks << " nacks";
  }
}

TEST_F(Lifeguard, ARequestToProbeTheSuspectConfirms) {
  meet(5);
  peer.merge({record(1, 5, MemberState::active, true)}, start);
  std::vector<Send> out;
  for (const std::size_t asker : {2u, 3u, 3u, 4u})
    peer.on_ping_request(sim_id(asker), PingRequest{1, record(1, 5, MemberState::active), {}}, start, out);
  EXPECT_EQ(down_after(start), config.suspicion_time);
}

TEST_F(Lifeguard, OfAnotherIncarnationOrAStranger_ARequestConfirmsNothing) {
  meet(5);
  peer.merge({record(1, 5, MemberState::active, true)}, start);
  std::vector<Send> out;
  for (const std::size_t asker : {2u, 3u, 4u})
    peer.on_ping_request(sim_id(asker), PingRequest{1, record(1, 4, MemberState::active), {}}, start, out);
  for (const std::size_t stranger : {20u, 21u, 22u})
    peer.on_ping_request(sim_id(stranger), PingRequest{1, record(1, 5, MemberState::active), {}}, start, out);
  EXPECT_EQ(down_after(start), 3 * config.suspicion_time);
}

TEST_F(Lifeguard, TheEchoOfASuspicionConfirmsNothing) {
  meet(5);
  peer.merge({record(1, 5, MemberState::active, true)}, start);
  std::vector<Send> out;
  for (const std::size_t teller : {2u, 3u, 4u, 5u})
    peer.on_ping(sim_id(teller), Ping{1, {record(1, 5, MemberState::active, true)}, 0}, start, out);
  EXPECT_EQ(down_after(start), 3 * config.suspicion_time);
}

TEST_F(Lifeguard, ARefutationForgetsTheConfirmations) {
  meet(5);
  peer.merge({record(1, 5, MemberState::active, true)}, start);
  std::vector<Send> out;
  for (const std::size_t asker : {2u, 3u, 4u})
    peer.on_ping_request(sim_id(asker), PingRequest{1, record(1, 5, MemberState::active), {}}, start, out);
  peer.merge({record(1, 6, MemberState::active), record(1, 6, MemberState::active, true)}, start);
  EXPECT_EQ(down_after(start), 3 * config.suspicion_time);
}

TEST_F(Lifeguard, WithHealthAndFactorOffItIsSwim) {
  config.max_health = 0;
  config.suspicion_factor = 1;
  peer = Membership(sim_member(0, 1000), config, 1);
  tick(start);
  meet(5);
  accuse_self();
  EXPECT_EQ(peer.health(), 0u);
  ask_for_the_first();
  EXPECT_EQ(down_after(failed_at()), config.suspicion_time);
}

// ---- presets ----

TEST(NetworkPresets, LanIsTheDefault_AndEachFitsTogether) {
  const MembershipConfig plain;
  const MembershipConfig lan = preset(NetworkPreset::lan);
  EXPECT_EQ(std::tie(lan.probe_every, lan.probe_timeout, lan.suspicion_time, lan.suspicion_factor),
            std::tie(plain.probe_every, plain.probe_timeout, plain.suspicion_time, plain.suspicion_factor));
  Duration shorter{};
  for (const NetworkPreset network : {NetworkPreset::local, NetworkPreset::lan, NetworkPreset::wan}) {
    const MembershipConfig config = preset(network);
    EXPECT_LT(config.probe_timeout, config.probe_every);
    EXPECT_GE(config.suspicion_time, 10 * config.probe_every) << "gossip and a refutation take a few periods each";
    EXPECT_GT(config.suspicion_time, shorter);
    EXPECT_GE(config.suspicion_factor, 2u);
    shorter = config.suspicion_time;
  }
}

}  // namespace
}  // namespace orbweaver::ring
