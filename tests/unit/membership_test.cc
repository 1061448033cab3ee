// Membership call by call: precedence, refutation, deadlines, bounds. Lifeguard's refinements:
// membership_lifeguard_test.cc; identities: membership_identity_test.cc; all of it in a network:
// membership_sim_test.cc.
#include "ring/membership.h"

#include <gtest/gtest.h>

#include "tests/unit/membership_calls.h"

namespace orbweaver::ring {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(Supersedes, Swim42_HigherIncarnationThenLeftDownSuspectAlive) {
  const std::vector<Member> ascending = {
      record(1, 5, MemberState::joining),      record(1, 5, MemberState::active),
      record(1, 5, MemberState::leaving),      record(1, 5, MemberState::joining, true),
      record(1, 5, MemberState::active, true), record(1, 5, MemberState::leaving, true),
      record(1, 5, MemberState::down),         record(1, 5, MemberState::left),
      record(1, 6, MemberState::joining),      record(1, 6, MemberState::down)};
  for (std::size_t i = 0; i < ascending.size(); ++i) {
    for (std::size_t j = 0; j < ascending.size(); ++j)
      EXPECT_EQ(supersedes(ascending[i], ascending[j]), i > j) << i << " " << j;
  }
  Member moved = record(1, 5, MemberState::active);
  moved.address = "10.0.0.99:1";
  EXPECT_NE(supersedes(moved, ascending[1]), supersedes(ascending[1], moved))
      << "one of two different records must win";
  Member other_process = record(1, 5, MemberState::active);
  other_process.started = 3;
  EXPECT_TRUE(supersedes(other_process, ascending[1]));
  EXPECT_FALSE(supersedes(ascending[1], other_process));
  Member other_build = other_process;
  other_build.protocol = 9;
  EXPECT_TRUE(supersedes(other_build, other_process));
  EXPECT_FALSE(supersedes(other_process, other_build));
}

TEST_F(MembershipCalls, WhoSendsItsOwnRecordAloneIsAnsweredWithItAlone) {
  Membership large(sim_member(0, 1000), config, 1);
  std::vector<Member> all;
  for (std::size_t i = 1; i < 100; ++i) all.push_back(record(i, 5, MemberState::active));
  large.restore(all, start);
  const Member left = record(7, 5, MemberState::left);
  large.merge({left}, start);
  const Sync word = large.answer(Sync{true, {left}, {}});
  ASSERT_EQ(word.members.size(), 1u);
  EXPECT_EQ(word.members.front().id, left.id);
  EXPECT_EQ(word.members.front().state, MemberState::left);
  EXPECT_FALSE(word.reply_wanted);
  EXPECT_EQ(large.answer(Sync{true, all, {}}).members.size(), 100u);
}

// Seed 8373 of the simulator: a peer had moved while another was down. That one's answers went to the old address, as
// long as it heard the new one from nobody.
TEST_F(MembershipCalls, WhoPingsSaysWhereItIs) {
  meet(1);
  (void)live_to(start + seconds(60));  // its record is no news to anyone
  const std::vector<Send> sent = run_to(start + seconds(61));
  ASSERT_FALSE(only<Ping>(sent).empty());
  for (const auto& [to, ping] : only<Ping>(sent)) {
    ASSERT_EQ(ping.gossip.size(), 1u);
    EXPECT_EQ(ping.gossip.front(), peer.self());
  }
  Membership other(sim_member(1, 2000), config, 1);
  Member before = peer.self();
  before.incarnation = 5;
  before.address = "10.0.0.99:1";
  other.restore({before}, start);
  std::vector<Send> answers;
  other.on_ping(peer.self().id, only<Ping>(sent).front().second, start + seconds(61), answers);
  ASSERT_EQ(answers.size(), 1u);
  EXPECT_EQ(answers.front().address, peer.self().address);
}

TEST_F(MembershipCalls, WhoAsksForAProbeSaysWhereItIs) {
  meet(3);
  (void)live_to(start + seconds(60));
  const std::vector<Send> sent = live_to(start + seconds(70), {sim_id(1)});
  ASSERT_FALSE(only<PingRequest>(sent).empty());
  for (const auto& [to, request] : only<PingRequest>(sent))
    EXPECT_NE(std::find(request.gossip.begin(), request.gossip.end(), peer.self()), request.gossip.end());
}

TEST_F(MembershipCalls, AnyOrderOfTheSameGossipGivesTheSameView) {
  std::vector<Member> records;
  for (std::size_t i = 1; i < 6; ++i) {
    for (std::uint64_t incarnation : {5u, 6u}) {
      for (const MemberState state : {MemberState::joining, MemberState::active, MemberState::leaving}) {
        records.push_back(record(i, incarnation, state));
        records.push_back(record(i, incarnation, state, true));
      }
    }
  }
  std::mt19937 random(1);
  std::uint64_t fingerprint = 0;
  for (int round = 0; round < 20; ++round) {
    std::shuffle(records.begin(), records.end(), random);
    Membership other(sim_member(0, 1000), config, 1);
    std::vector<Send> out;
    for (const Member& one : records) other.on_ping(sim_id(9), Ping{1, {one}, 0}, start, out);
    if (round == 0) fingerprint = other.fingerprint();
    EXPECT_EQ(other.fingerprint(), fingerprint);
  }
}

TEST_F(MembershipCalls, AnAccusationIsRefuted) {
  for (const Member& accusation : {record(0, 1000, MemberState::active, true), record(0, 1001, MemberState::down),
                                   record(0, 5000, MemberState::left)}) {
    peer.merge({accusation}, start);
    EXPECT_EQ(peer.self().state, MemberState::active);
    EXPECT_FALSE(peer.self().suspect);
    EXPECT_EQ(peer.self().incarnation, accusation.incarnation + 1);
  }
  const std::uint64_t version = peer.version();
  peer.merge({record(0, 5000, MemberState::down)}, start);  // an old accusation needs no answer
  EXPECT_EQ(peer.version(), version);
}

// Otherwise one claim could keep a peer out for good: no incarnation would be above the largest number.
TEST_F(MembershipCalls, AClaimTooFarAheadIsLeftOut_AndAnyOtherCanBeRefuted) {
  const std::uint64_t most = 1000 + max_incarnation_step;
  const std::uint64_t most_first = max_first_incarnation;
  const Member before = peer.self();
  for (const std::uint64_t ahead : {most + 1, std::uint64_t{1} << 61, max_incarnation}) {
    peer.merge({record(0, ahead, MemberState::left)}, start);
    EXPECT_EQ(peer.self(), before);
  }
  for (const std::uint64_t ahead : {most_first + 1, max_incarnation}) {
    peer.merge({record(1, ahead, MemberState::active)}, start);
    EXPECT_EQ(peer.find(sim_id(1)), nullptr);
  }
  EXPECT_EQ(peer.claims_refused(), 5u);
  peer.merge({record(0, most, MemberState::left)}, start);
  EXPECT_EQ(peer.self().incarnation, most + 1);
  // The others accepted the claim. They accept the refutation too, though they would refuse it of an unknown member.
  Membership other(sim_member(7, 1000), config, 1);
  other.merge({record(0, 1000, MemberState::active)}, start);
  other.merge({record(0, most, MemberState::left)}, start);
  EXPECT_EQ(other.find(sim_id(0))->state, MemberState::left);
  other.merge({peer.self()}, start);
  EXPECT_EQ(*other.find(sim_id(0)), peer.self());
  EXPECT_EQ(other.claims_refused(), 0u);
}

// Clocks have no part in it: a member's number may be anything, and rises in steps.
TEST_F(MembershipCalls, AKnownMemberMayGoOnWhateverTheClockSays) {
  peer.merge({record(1, 1'000'000, MemberState::active)}, start);
  const Time back{};
  peer.merge({record(1, 1'000'000 + max_incarnation_step, MemberState::leaving)}, back);
  EXPECT_EQ(peer.find(sim_id(1))->state, MemberState::leaving);
  peer.merge({record(1, 1'000'001 + 2 * max_incarnation_step, MemberState::left)}, back);
  EXPECT_EQ(peer.find(sim_id(1))->state, MemberState::leaving);
}

TEST_F(MembershipCalls, StoredRecordsTooFarAheadAreHandedBack) {
  const std::vector<Member> refused =
      peer.restore({record(1, 5, MemberState::active), record(2, max_incarnation, MemberState::left),
                    record(3, 6, MemberState::down)},
                   start);
  EXPECT_EQ(refused, std::vector<Member>{record(2, max_incarnation, MemberState::left)});
  EXPECT_EQ(peer.find(sim_id(2)), nullptr);
  EXPECT_EQ(peer.members().size(), 3u);
}

TEST_F(MembershipCalls, HearsayOfADeathMakesSuspect_AndBuriesOnlyALongSuspected) {
  const Time half = start + config.suspicion_time / 2;
  peer.merge({record(1, 5, MemberState::active)}, start);
  peer.merge({record(1, 5, MemberState::down)}, start);
  EXPECT_EQ(*peer.find(sim_id(1)), record(1, 5, MemberState::active, true));
  peer.merge({record(1, 5, MemberState::down)}, half - milliseconds(1));
  EXPECT_EQ(*peer.find(sim_id(1)), record(1, 5, MemberState::active, true));
  peer.merge({record(1, 6, MemberState::active)}, half);  // it answered
  EXPECT_EQ(*peer.find(sim_id(1)), record(1, 6, MemberState::active));
  peer.merge({record(1, 6, MemberState::active, true)}, start);
  peer.merge({record(1, 6, MemberState::down)}, half);
  EXPECT_EQ(*peer.find(sim_id(1)), record(1, 6, MemberState::down));
}

TEST_F(MembershipCalls, HearsayOfADeathDoesNotSetTheClockBack) {
  peer.merge({record(1, 5, MemberState::active)}, start);
  peer.merge({record(1, 5, MemberState::down)}, start);
  peer.merge({record(1, 5, MemberState::down)}, start + seconds(4));
  run_to(start + config.suspicion_time - milliseconds(1));
  EXPECT_EQ(peer.find(sim_id(1))->state, MemberState::active);
  run_to(start + config.suspicion_time);
  EXPECT_EQ(peer.find(sim_id(1))->state, MemberState::down);
}

// A newcomer must know which members the ring waits for; gossip alone never reports dead members.
TEST_F(MembershipCalls, AWelcomeTellsOfTheDead) {
  peer.welcome({record(1, 5, MemberState::down), record(2, 5, MemberState::left), record(3, 5, MemberState::active)},
               start);
  ASSERT_NE(peer.find(sim_id(1)), nullptr);
  EXPECT_EQ(peer.find(sim_id(1))->state, MemberState::down);
  EXPECT_EQ(peer.find(sim_id(2)), nullptr);
  EXPECT_EQ(peer.find(sim_id(3))->state, MemberState::active);
  peer.welcome({record(3, 5, MemberState::down)}, start);
  EXPECT_TRUE(peer.find(sim_id(3))->suspect) << "of a known member a welcome is hearsay as any other";
}

TEST_F(MembershipCalls, ADownMemberReturnsOnlyWithAHigherIncarnation) {
  bury(1);
  peer.merge({record(1, 5, MemberState::active)}, start);
  EXPECT_EQ(peer.find(sim_id(1))->state, MemberState::down);
  peer.merge({record(1, 6, MemberState::active)}, start);
  EXPECT_EQ(peer.find(sim_id(1))->state, MemberState::active);
}

TEST_F(MembershipCalls, UnknownMembersThatAreGoneAreNotTakenUp) {
  peer.merge({record(1, 5, MemberState::down), record(2, 5, MemberState::left), record(3, 5, MemberState::leaving)},
             start);
  EXPECT_EQ(peer.find(sim_id(1)), nullptr);
  EXPECT_EQ(peer.find(sim_id(2)), nullptr);
  EXPECT_NE(peer.find(sim_id(3)), nullptr);
}

TEST_F(MembershipCalls, Swim_ProbeThenIndirectThenSuspectThenDown) {
  peer.merge({record(1, 5, MemberState::active), record(2, 5, MemberState::active), record(3, 5, MemberState::active)},
             start);
  std::vector<Send> out;
  Time probed = start;
  PeerId target;
  for (Time now = start; only<Ping>(out).empty();) {
    now = std::max(peer.next_deadline(), start);
    out = tick(now);
    probed = now;
  }
  ASSERT_EQ(only<Ping>(out).size(), 1u);
  target = only<Ping>(out).front().first;
  const std::uint64_t sequence = only<Ping>(out).front().second.sequence;
  EXPECT_LE(peer.next_deadline(), probed + config.probe_timeout);
  EXPECT_TRUE(only<PingRequest>(run_to(probed + config.probe_timeout - Duration(1))).empty());
  const auto requests = only<PingRequest>(run_to(probed + config.probe_timeout));
  ASSERT_EQ(requests.size(), 2u);
  for (const auto& [to, request] : requests) {
    EXPECT_NE(to, target);
    EXPECT_EQ(request.target.id, target);
    EXPECT_EQ(request.sequence, sequence);
  }
  for (const auto& [to, request] : requests) acknowledge(to, request.sequence, false, probed);  // the relays send nacks
  answer(run_to(probed + 3 * config.probe_timeout - milliseconds(1)), probed);
  EXPECT_FALSE(peer.find(target)->suspect);
  run_to(probed + 3 * config.probe_timeout);
  EXPECT_TRUE(peer.find(target)->suspect);
  EXPECT_TRUE(owns_partitions(*peer.find(target))) << "a suspect still owns what it owned";
  for (Time now = probed; now < probed + seconds(12); now += milliseconds(100)) answer(run_to(now), now);
  EXPECT_EQ(peer.find(target)->state, MemberState::down);
}

// Seed 24494 of the simulator: a peer that was back knew nobody but one that had died since.
TEST_F(MembershipCalls, WhenAProbeFailsOneThatIsDownIsToldOfAll) {
  peer.welcome({record(1, 5, MemberState::active), record(2, 5, MemberState::down)}, start);
  std::size_t told = 0;
  for (Time now = start; now < start + config.sync_every / 2 && !peer.find(sim_id(1))->suspect;
       now += milliseconds(10)) {
    told = 0;
    for (const auto& [to, sync] : only<Sync>(run_to(now)))
      if (to == sim_id(2) && sync.reply_wanted && sync.members.size() == 3) ++told;
  }
  ASSERT_TRUE(peer.find(sim_id(1))->suspect);
  EXPECT_EQ(told, 1u);
}

TEST_F(MembershipCalls, Swim_AnIndirectAckClearsTheProbe_AStrangersDoesNot) {
  for (const bool from_relay : {true, false}) {
    Membership prober(sim_member(0, 1000), config, 3);
    prober.merge({record(1, 5, MemberState::active), record(2, 5, MemberState::active)}, start);
    std::vector<Send> out;
    Time now = start;
    while (only<PingRequest>(out).empty()) {
      now = std::max(prober.next_deadline(), start);
      out.clear();
      prober.tick(now, out);
    }
    const auto [relay, request] = only<PingRequest>(out).front();
    out.clear();
    prober.on_ping_ack(from_relay ? relay : sim_id(8), PingAck{request.sequence, {}, 0}, now, out);
    while (prober.next_deadline() <= now + 2 * config.probe_timeout) prober.tick(prober.next_deadline(), out);
    EXPECT_EQ(prober.find(request.target.id)->suspect, !from_relay);
  }
}

TEST_F(MembershipCalls, AnyMessageFromTheTargetClearsTheProbe) {
  peer.merge({record(1, 5, MemberState::active)}, start);
  for (Time now = start; now < start + seconds(5); now += milliseconds(100)) {
    run_to(now);
    peer.heard_from(sim_id(1), 5, now);
  }
  EXPECT_FALSE(peer.find(sim_id(1))->suspect);
}

TEST_F(MembershipCalls, Swim_ARelayPingsTheTargetAndPassesItsAckOn) {
  peer.merge({record(1, 5, MemberState::active), record(2, 5, MemberState::active)}, start);
  std::vector<Send> out;
  peer.on_ping_request(sim_id(1), PingRequest{77, record(2, 5, MemberState::active), {}}, start, out);
  ASSERT_EQ(only<Ping>(out).size(), 1u);
  EXPECT_EQ(only<Ping>(out).front().first, sim_id(2));
  const std::uint64_t sequence = only<Ping>(out).front().second.sequence;
  out.clear();
  peer.on_ping_ack(sim_id(1), PingAck{sequence, {}, 0}, start, out);  // not the target: no news
  EXPECT_TRUE(out.empty());
  peer.on_ping_ack(sim_id(2), PingAck{sequence, {}, 0}, start, out);
  ASSERT_EQ(only<PingAck>(out).size(), 1u);
  EXPECT_EQ(only<PingAck>(out).front().first, sim_id(1));
  EXPECT_EQ(only<PingAck>(out).front().second.sequence, 77u);
  out.clear();
  peer.on_ping_ack(sim_id(2), PingAck{sequence, {}, 0}, start, out);  // once
  EXPECT_TRUE(out.empty());
}

TEST_F(MembershipCalls, Lifeguard_ASuspectIsToldFirst) {
  peer.merge({record(1, 5, MemberState::active, true)}, start);
  for (std::size_t i = 2; i < 40; ++i) peer.merge({record(i, 5, MemberState::active)}, start);
  for (int round = 0; round < 100; ++round) {
    std::vector<Send> out;
    peer.on_ping(sim_id(1), Ping{1, {}, 0}, start, out);
    const auto acks = only<PingAck>(out);
    ASSERT_EQ(acks.size(), 1u);
    ASSERT_FALSE(acks.front().second.gossip.empty());
    EXPECT_EQ(acks.front().second.gossip.front().id, sim_id(1));
    EXPECT_LE(acks.front().second.gossip.size(), config.gossip_per_message);
  }
}

TEST_F(MembershipCalls, Swim_GossipOfOneChangeEnds) {
  for (std::size_t i = 1; i < 7; ++i) peer.merge({record(i, 5, MemberState::active)}, start);
  std::map<PeerId, int> sent;
  for (int round = 0; round < 200; ++round) {
    std::vector<Send> out;
    peer.on_ping(sim_id(50), Ping{1, {}, 0}, start, out);
    for (const Member& member : std::get<PingAck>(out.front().body).gossip) ++sent[member.id];
  }
  EXPECT_EQ(sent.size(), 7u);
  for (const auto& [id, times] : sent) EXPECT_EQ(times, 9) << "3 * ceil(log2(7 + 1))";
}

TEST_F(MembershipCalls, AnUnknownAskerIsAnsweredWithoutAnAddress) {
  std::vector<Send> out;
  peer.set_directives_fingerprint(42);
  peer.on_ping(sim_id(9), Ping{5, {}, 0}, start, out);
  ASSERT_EQ(out.size(), 1u);
  EXPECT_EQ(out.front().to, sim_id(9));
  EXPECT_EQ(out.front().address, "");
  EXPECT_EQ(std::get<PingAck>(out.front().body).sequence, 5u);
  EXPECT_EQ(std::get<PingAck>(out.front().body).directives_fingerprint, 42u);
}

TEST_F(MembershipCalls, NothingHappensBeforeTheDeadline) {
  for (std::size_t i = 1; i < 5; ++i) peer.merge({record(i, 5, MemberState::active)}, start);
  for (int step = 0; step < 500; ++step) {
    const Time due = peer.next_deadline();
    const std::uint64_t version = peer.version();
    EXPECT_TRUE(tick(due - Duration(1)).empty());
    EXPECT_EQ(peer.version(), version);
    EXPECT_EQ(peer.next_deadline(), due);
    tick(due);
    EXPECT_GT(peer.next_deadline(), due);
  }
}

TEST_F(MembershipCalls, DownMembersAreNotProbedButOfferedAnExchange_LeftOnesAreLeftAlone) {
  bury(1);
  peer.merge({record(2, 5, MemberState::active), record(3, 5, MemberState::active)}, start);
  peer.merge({record(2, 5, MemberState::left)}, start);
  std::map<PeerId, int> exchanges;
  for (Time now = start; now < start + seconds(61); now += milliseconds(100)) {
    const std::vector<Send> sent = run_to(now);
    answer(sent, now);
    for (const auto& [to, ping] : only<Ping>(sent)) EXPECT_EQ(to, sim_id(3));
    for (const auto& [to, sync] : only<Sync>(sent)) {
      ++exchanges[to];
      EXPECT_TRUE(sync.reply_wanted);
      EXPECT_EQ(sync.members.size(), 4u);
      EXPECT_TRUE(sync.seeds.empty());
    }
  }
  EXPECT_GE(exchanges[sim_id(1)], 4);
  EXPECT_EQ(exchanges[sim_id(2)], 0);
  EXPECT_GE(exchanges[sim_id(3)], 4);
}

// A process that has the ring's key and sends with ever new identities costs no memory.
TEST_F(MembershipCalls, NothingIsKeptOfStrangers) {
  meet(2);
  for (std::size_t i = 1; i <= 50; ++i) peer.heard_from(sim_id(i), 5, start);
  const TableSizes sizes = peer.tables();
  const auto heard =
      std::find_if(sizes.begin(), sizes.end(), [](const TableSize& size) { return size.name == "membership.heard"; });
  ASSERT_NE(heard, sizes.end());
  EXPECT_EQ(heard->entries, 2u);
}

TEST_F(MembershipCalls, TheGoneAreForgotten) {
  bury(1);
  peer.merge({record(2, 5, MemberState::active)}, start);
  peer.merge({record(2, 6, MemberState::left)}, start);
  run_to(start + config.forget_after - milliseconds(1));
  EXPECT_NE(peer.find(sim_id(1)), nullptr);
  run_to(start + config.forget_after + config.sync_every);
  EXPECT_EQ(peer.find(sim_id(1)), nullptr);
  EXPECT_EQ(peer.find(sim_id(2)), nullptr);
  EXPECT_EQ(peer.members().size(), 1u);
}

TEST_F(MembershipCalls, AfterStandingStillSuspectsGetTheTimeBack) {
  peer.merge({record(1, 5, MemberState::active, true)}, start);
  run_to(start + seconds(2));
  tick(start + seconds(300));
  EXPECT_EQ(peer.find(sim_id(1))->state, MemberState::active);
  run_to(start + seconds(300) + config.suspicion_time);
  EXPECT_EQ(peer.find(sim_id(1))->state, MemberState::down);
}

TEST_F(MembershipCalls, RestoredMembersCountAsTheyWereUntilProbed) {
  Membership restarted(sim_member(0, 1000), config, 1);
  restarted.restore(
      {record(0, 2000, MemberState::active), record(1, 5, MemberState::active), record(2, 5, MemberState::down)},
      start);
  EXPECT_EQ(restarted.self().incarnation, 2001u) << "larger than any it ever used";
  EXPECT_EQ(*restarted.find(sim_id(1)), record(1, 5, MemberState::active));
  EXPECT_EQ(*restarted.find(sim_id(2)), record(2, 5, MemberState::down));
  std::vector<Send> out;
  restarted.on_ping(sim_id(9), Ping{}, start, out);
  for (const Member& member : std::get<PingAck>(out.front().body).gossip) EXPECT_EQ(member.id, sim_id(0)) << "old news";
}

TEST_F(MembershipCalls, ALeaverSaysSoToEveryoneAndFallsSilent) {
  for (std::size_t i = 1; i < 4; ++i) peer.merge({record(i, 5, MemberState::active)}, start);
  peer.set_state(MemberState::left, start);
  EXPECT_LE(peer.next_deadline(), start);
  const auto farewells = only<Sync>(tick(start));
  ASSERT_EQ(farewells.size(), 3u);
  for (const auto& [to, sync] : farewells) EXPECT_EQ(sync.members, std::vector<Member>{peer.self()});
  EXPECT_EQ(peer.next_deadline(), Time::max());
  EXPECT_TRUE(tick(start + seconds(100)).empty());
}

TEST_F(MembershipCalls, TheNumberOfMembersIsBounded) {
  std::vector<Member> flood;
  for (std::size_t i = 1; i < max_members + 100; ++i) flood.push_back(record(i, 5, MemberState::active));
  peer.merge(flood, start);
  EXPECT_EQ(peer.members().size(), max_members);
  EXPECT_EQ(peer.claims_refused(), 100u);
}

TEST_F(MembershipCalls, FingerprintsDifferWithEveryFieldOfARecord) {
  std::set<std::uint64_t> fingerprints;
  const auto with = [&](auto change) {
    Membership other(sim_member(0, 1000), config, 1);
    Member changed = record(1, 5, MemberState::active);
    change(changed);
    other.merge({changed}, start);
    fingerprints.insert(other.fingerprint());
  };
  with([](Member&) {});
  with([](Member& m) { m.address = "10.0.0.99:1"; });
  with([](Member& m) { m.capacity = 7; });
  with([](Member& m) { m.incarnation = 6; });
  with([](Member& m) { m.state = MemberState::leaving; });
  with([](Member& m) { m.suspect = true; });
  with([](Member& m) { m.started = 4; });
  with([](Member& m) { m.protocol = 9; });
  EXPECT_EQ(fingerprints.size(), 8u);
}

TEST_F(MembershipCalls, VersionGrowsWithEveryChangeAndOnlyThen) {
  std::uint64_t version = peer.version();
  peer.merge({record(1, 5, MemberState::active)}, start);
  EXPECT_GT(peer.version(), version);
  version = peer.version();
  peer.merge({record(1, 5, MemberState::active), record(1, 4, MemberState::down)}, start);
  EXPECT_EQ(peer.version(), version);
  peer.set_state(MemberState::active, start);  // it is already
  EXPECT_EQ(peer.version(), version);
  peer.set_state(MemberState::leaving, start);
  EXPECT_GT(peer.version(), version);
}

}  // namespace
}  // namespace orbweaver::ring
