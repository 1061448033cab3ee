// The waves, message by message: several members with queues, outboxes and fetches, a network that delays, doubles,
// drops and reorders, and an observer that sees all of it. The waves must not report the end of the crawl while any
// member has work, and must report it in the end.
#include "node/coordination/termination_detector.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <ostream>
#include <random>
#include <set>
#include <variant>

#include "tests/unit/crawl_keys.h"

namespace orbweaver {
namespace {

using std::chrono::milliseconds;
using test::below;
using test::peer_id;

struct Batch {
  std::uint64_t sequence = 0;
  std::uint64_t urls = 0;
};
struct BatchAck {
  std::uint64_t sequence = 0;
};
using Packet = std::variant<ring::WaveProbe, ring::WaveReply, Batch, BatchAck>;

// A crawling peer as the waves see it, after node/peer/peer.h: pages lead to pages, some of them at other peers.
struct Member {
  ring::PeerId id;
  std::uint64_t life = 1;
  std::uint64_t queued = 0;
  std::uint64_t in_flight = 0;
  std::map<std::uint64_t, std::pair<std::size_t, std::uint64_t>> outbox{};  // sequence -> to, URLs; until acknowledged
  std::set<std::pair<std::size_t, std::uint64_t>> committed{};              // from, sequence: a repeat is not new
  std::uint64_t next_sequence = 1;
  std::uint64_t fetched = 0;
  std::uint64_t sent = 0;
  std::uint64_t received = 0;
  std::uint64_t cap = 0;
  std::uint64_t last_wave = 0;
};

class World {
 public:
  World(std::uint64_t seed, std::size_t members, std::uint64_t max_pages, bool faults)
      : random_(seed), faults_(faults), max_pages_(max_pages) {
    for (std::size_t i = 0; i < members; ++i) members_.push_back({.id = peer_id(i)});
    std::sort(members_.begin(), members_.end(), [](const Member& a, const Member& b) { return a.id < b.id; });
    for (const Member& member : members_) ids_.push_back(member.id);
    start_waves();
    pages_left_to_beget_ = 30 + below(random_, 200);
    for (std::size_t i = 0; i < 3; ++i) ++members_[below(random_, members)].queued;
    total_pages_ = 3;
  }

  void step();
  bool ended() const { return detector_->end().has_value(); }
  // Whether any work is left or in progress anywhere.
  bool anything_left() const {
    for (const Member& m : members_)
      if (m.in_flight > 0 || !m.outbox.empty() || (m.queued > 0 && !limit_reached())) return true;
    return false;
  }
  bool limit_reached() const { return max_pages_ > 0 && pages_fetched() >= max_pages_; }
  std::uint64_t pages_fetched() const {
    std::uint64_t pages = 0;
    for (const Member& m : members_) pages += m.fetched;
    return pages;
  }
  std::uint64_t caps() const {
    std::uint64_t caps = 0;
    for (const Member& m : members_) caps += std::max(m.cap, m.fetched + m.in_flight);
    return caps;
  }
  std::uint64_t pages_there_are() const { return total_pages_; }
  // The initiator's process ends and starts again: its memory is lost, its store is not.
  void restart_initiator() {
    Member& m = members_[0];
    m.queued += m.in_flight;
    m.in_flight = 0;
    m.sent = m.received = 0;
    m.last_wave = 0;
    m.cap = 0;
    ++m.life;
    start_waves();
  }
  void restart_member(std::size_t i) {
    Member& m = members_[i];
    m.queued += m.in_flight;
    m.in_flight = 0;
    m.sent = m.received = 0;
    m.last_wave = 0;
    m.cap = 0;
    ++m.life;
  }
  void lose_everything_under_way() { network_.clear(); }
  const TerminationDetector& detector() const { return *detector_; }

 private:
  void start_waves() {
    TerminationDetector::Config config;
    config.max_pages = max_pages_;
    config.stop_when_done = true;
    detector_.emplace(config, RisingNumber(members_[0].life));
  }
  bool may_start(const Member& m) const { return max_pages_ == 0 || m.fetched + m.in_flight < m.cap; }
  bool passive(const Member& m) const {
    return m.in_flight == 0 && m.outbox.empty() && (m.queued == 0 || (max_pages_ > 0 && !may_start(m)));
  }
  ring::WaveReply reply_of(Member& m) {
    const std::uint64_t used = m.fetched + m.in_flight;
    if (m.queued == 0) m.cap = used;
    ring::WaveReply reply;
    reply.ring_fingerprint = 1;
    reply.life = m.life;
    reply.passive = passive(m);
    reply.sent = m.sent;
    reply.received = m.received;
    reply.counts = {{"fetched", m.fetched},
                    {"cap", std::max(m.cap, used)},
                    {"unspent", std::max(m.cap, used) - m.fetched},
                    {"wants", max_pages_ > 0 && m.queued > 0 && !may_start(m) ? 1u : 0u}};
    return reply;
  }
  void send(std::size_t from, std::size_t to, const Packet& packet) {
    const std::size_t copies = !faults_ ? 1 : below(random_, 5) == 0 ? 0 : below(random_, 5) == 0 ? 2 : 1;
    for (std::size_t i = 0; i < copies; ++i)
      network_.emplace(now_ + milliseconds(1 + below(random_, faults_ && below(random_, 10) == 0 ? 3'000 : 30)),
                       std::tuple(from, to, packet));
  }
  void deliver(std::size_t from, std::size_t to, const Packet& packet);
  void work(std::size_t at);
  void waves_tick();

  std::mt19937_64 random_;
  bool faults_;
  std::uint64_t max_pages_;
  std::vector<Member> members_;
  std::vector<ring::PeerId> ids_;
  std::optional<TerminationDetector> detector_;  // of members_[0], the lowest id
  Time now_ = test::at_ms(1'000'000);
  std::multimap<Time, std::tuple<std::size_t, std::size_t, Packet>> network_;
  std::uint64_t pages_left_to_beget_ = 0;
  std::uint64_t total_pages_ = 0;
};

void World::deliver(std::size_t from, std::size_t to, const Packet& packet) {
  Member& m = members_[to];
  if (const auto* probe = std::get_if<ring::WaveProbe>(&packet)) {
    if (probe->wave < m.last_wave) return;  // a late copy
    if (probe->grant_wave != 0 && probe->grant_wave == m.last_wave && probe->wave > m.last_wave)
      m.cap = std::max(m.cap, probe->grant_pages);
    m.last_wave = probe->wave;
    ring::WaveReply reply = reply_of(m);
    reply.wave = probe->wave;
    send(to, from, reply);
  } else if (const auto* reply = std::get_if<ring::WaveReply>(&packet)) {
    detector_->on_reply(members_[from].id, *reply);
  } else if (const auto* batch = std::get_if<Batch>(&packet)) {
    if (m.committed.emplace(from, batch->sequence).second) m.queued += batch->urls;
    ++m.received;
    send(to, from, BatchAck{batch->sequence});
  } else if (const auto* ack = std::get_if<BatchAck>(&packet)) {
    if (m.outbox.erase(ack->sequence) > 0) ++m.sent;
  }
}

// Fetches begin and end; a page that ends may link to others, local or remote. Long silences are common.
void World::work(std::size_t at) {
  Member& m = members_[at];
  if (m.queued > 0 && may_start(m) && below(random_, 4) == 0) {
    --m.queued;
    ++m.in_flight;
  }
  if (m.in_flight > 0 && below(random_, 40) == 0) {
    --m.in_flight;
    ++m.fetched;
    for (std::size_t link = below(random_, 4); link > 0 && pages_left_to_beget_ > 0; --link) {
      --pages_left_to_beget_;
      ++total_pages_;
      const std::size_t owner = below(random_, members_.size());
      if (owner == at) {
        ++m.queued;
      } else {
        m.outbox[m.next_sequence++] = {owner, 1};
      }
    }
  }
  for (const auto& [sequence, to] : m.outbox)
    if (below(random_, 30) == 0) send(at, to.first, Batch{sequence, to.second});
}

void World::waves_tick() {
  Member& self = members_[0];
  if (detector_->end() || (!passive(self) && max_pages_ == 0)) return;
  std::vector<TerminationDetector::Probe> probes;
  detector_->tick(now_, self.id, ids_, true, 1, reply_of(self), probes);
  for (const TerminationDetector::Probe& probe : probes) {
    const auto to = std::find(ids_.begin(), ids_.end(), probe.to) - ids_.begin();
    send(0, static_cast<std::size_t>(to), probe.probe);
  }
  if (const auto grant = detector_->own_grant()) self.cap = std::max(self.cap, *grant);
}

void World::step() {
  now_ += milliseconds(5);
  while (!network_.empty() && network_.begin()->first <= now_) {
    const auto [from, to, packet] = network_.begin()->second;
    network_.erase(network_.begin());
    deliver(from, to, packet);
  }
  for (std::size_t i = 0; i < members_.size(); ++i) work(i);
  waves_tick();
}

struct Run {
  std::uint64_t members;
  std::uint64_t max_pages;
  bool faults;
};

void PrintTo(const Run& run, std::ostream* out) {
  *out << run.members << " peers, at most " << run.max_pages << " pages" << (run.faults ? ", faults" : "");
}

class WavesTest : public testing::TestWithParam<Run> {};

constexpr int max_steps = 60'000;  // five minutes of the world's time

// `disturb(world, step)` is called before each step.
template <class Disturb>
void run_to_the_end(std::uint64_t seed, const Run& run, Disturb disturb) {
  SCOPED_TRACE("seed " + std::to_string(seed));
  World world(seed, run.members, run.max_pages, run.faults);
  for (int step = 0; step < max_steps && !world.ended(); ++step) {
    disturb(world, step);
    world.step();
    if (run.max_pages > 0) {
      ASSERT_LE(world.caps(), run.max_pages) << "step " << step;
    }
    if (world.ended()) {
      ASSERT_FALSE(world.anything_left()) << "ended too early, at step " << step;
    }
  }
  ASSERT_TRUE(world.ended()) << "never ended";
  const TerminationDetector::End end = *world.detector().end();
  EXPECT_EQ(end.totals.at("fetched"), world.pages_fetched());
  EXPECT_FALSE(end.reason.empty());
  if (run.max_pages > 0) {
    EXPECT_EQ(world.pages_fetched(), std::min(run.max_pages, world.pages_there_are())) << "every allowed page is used";
  } else {
    EXPECT_EQ(world.pages_fetched(), world.pages_there_are());
  }
}

TEST_P(WavesTest, Contract6_EndsWhenNothingIsLeftAndNotBefore) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    run_to_the_end(seed, GetParam(), [](World&, int) {});
    if (HasFatalFailure()) return;
  }
}

// kill -9 and restart of the peer that asks: the others have answered waves with higher numbers than its first.
TEST_P(WavesTest, Contract6_EndsAfterARestartOfThePeerThatAsks) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    run_to_the_end(seed, GetParam(), [](World& world, int step) {
      if (step == 400 || step == 900) {
        world.lose_everything_under_way();
        world.restart_initiator();
      }
    });
    if (HasFatalFailure()) return;
  }
}

TEST_P(WavesTest, Contract6_EndsAfterRestartsOfOthers) {
  if (GetParam().members < 3) GTEST_SKIP() << "there are no others to restart";
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    run_to_the_end(seed, GetParam(), [](World& world, int step) {
      if (step % 500 == 250 && step < 3'000) {
        world.lose_everything_under_way();
        world.restart_member(1 + static_cast<std::size_t>(step / 500) % 2);
      }
    });
    if (HasFatalFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(Rings, WavesTest,
                         testing::Values(Run{1, 0, false}, Run{2, 0, false}, Run{3, 0, true}, Run{7, 0, true},
                                         Run{1, 10, false}, Run{2, 20, false}, Run{3, 50, false}, Run{3, 50, true},
                                         Run{5, 7, true}, Run{4, 1, true}, Run{3, 100'000, true}),
                         [](const testing::TestParamInfo<Run>& run) {
                           return std::to_string(run.param.members) + "Peers" +
                                  (run.param.max_pages > 0 ? std::to_string(run.param.max_pages) + "Pages"
                                                           : "NoLimit") +
                                  (run.param.faults ? "Faults" : "");
                         });

// --- one rule at a time -------------------------------------------------------------------------------------------

class WaveRules : public testing::Test {
 protected:
  WaveRules() { std::sort(ids_.begin(), ids_.end()); }
  static TerminationDetector::Config ending(std::uint64_t max_pages = 0) {
    TerminationDetector::Config config;
    config.stop_when_done = true;
    config.max_pages = max_pages;
    return config;
  }
  static ring::WaveReply passive(std::uint64_t sent = 0, std::uint64_t received = 0) {
    ring::WaveReply reply;
    reply.ring_fingerprint = 1;
    reply.life = 1;
    reply.passive = true;
    reply.sent = sent;
    reply.received = received;
    return reply;
  }
  std::vector<TerminationDetector::Probe> tick(TerminationDetector& detector, const ring::WaveReply& own = passive()) {
    std::vector<TerminationDetector::Probe> probes;
    now_ += milliseconds(100);
    detector.tick(now_, ids_[0], ids_, true, 1, own, probes);
    return probes;
  }
  // One wave: asks, lets all members answer `theirs`, and evaluates.
  void wave(TerminationDetector& detector, ring::WaveReply theirs, const ring::WaveReply& own = passive()) {
    std::vector<TerminationDetector::Probe> probes;
    for (int tries = 0; tries < 20 && probes.empty(); ++tries) probes = tick(detector, own);
    ASSERT_EQ(probes.size(), ids_.size() - 1);
    theirs.wave = probes[0].probe.wave;
    for (const TerminationDetector::Probe& probe : probes) detector.on_reply(probe.to, theirs);
    tick(detector, own);
  }
  std::vector<ring::PeerId> ids_{peer_id(0), peer_id(1), peer_id(2)};
  Time now_ = test::at_ms(5'000'000);
};

TEST_F(WaveRules, Mattern_TwoEqualPassiveWavesAreTheEndAndOneIsNot) {
  TerminationDetector detector(ending(), RisingNumber(1));
  wave(detector, passive(3, 4));
  EXPECT_FALSE(detector.end());
  wave(detector, passive(3, 4));
  ASSERT_TRUE(detector.end());
  EXPECT_FALSE(detector.next_deadline()) << "nothing more to ask";
}

TEST_F(WaveRules, AnEndThatIsTakenBackIsFoundAgainByTwoMoreWaves) {
  TerminationDetector detector(ending(), RisingNumber(1));
  wave(detector, passive(3, 4));
  wave(detector, passive(3, 4));
  ASSERT_TRUE(detector.end());
  detector.take_back(now_);
  EXPECT_FALSE(detector.end());
  EXPECT_TRUE(tick(detector).empty()) << "after a pause";
  wave(detector, passive(3, 4));
  EXPECT_FALSE(detector.end());
  wave(detector, passive(3, 4));
  EXPECT_TRUE(detector.end());
}

TEST_F(WaveRules, Mattern_ACountThatMovedBetweenTheWavesIsNoEnd) {
  for (const auto& second : {passive(3, 5), passive(4, 4), passive(4, 5)}) {
    TerminationDetector detector(ending(), RisingNumber(1));
    wave(detector, passive(3, 4));
    wave(detector, second);
    EXPECT_FALSE(detector.end());
    wave(detector, second);
    EXPECT_TRUE(detector.end());
  }
}

TEST_F(WaveRules, ARestartOrAnotherViewBetweenTheWavesIsNoEnd) {
  ring::WaveReply restarted = passive(3, 4), other_view = passive(3, 4), active = passive(3, 4), seeds = passive(3, 4);
  restarted.life = 2;
  seeds.directives_fingerprint = 2;
  other_view.ring_fingerprint = 2;
  active.passive = false;
  for (const auto& second : {restarted, other_view, active, seeds}) {
    TerminationDetector detector(ending(), RisingNumber(1));
    wave(detector, passive(3, 4));
    wave(detector, second);
    EXPECT_FALSE(detector.end());
  }
  TerminationDetector detector(ending(), RisingNumber(1));
  for (int i = 0; i < 5; ++i) wave(detector, other_view);
  EXPECT_FALSE(detector.end()) << "views must agree";
}

TEST_F(WaveRules, OnlyTheLowestOfACompleteRingAsks) {
  std::vector<TerminationDetector::Probe> probes;
  TerminationDetector detector(ending(), RisingNumber(1));
  detector.tick(now_, ids_[1], ids_, true, 1, passive(), probes);
  EXPECT_TRUE(probes.empty());
  EXPECT_FALSE(detector.next_deadline());
  detector.tick(now_, ids_[0], ids_, false, 1, passive(), probes);
  EXPECT_TRUE(probes.empty()) << "a member is down: its queue is unknown";
  EXPECT_FALSE(detector.next_deadline());
  detector.tick(now_, ids_[0], ids_, true, 1, passive(), probes);
  EXPECT_EQ(probes.size(), 2u);
}

TEST_F(WaveRules, OneThatIsAloneEndsSoonAfterItsLastPage) {
  TerminationDetector detector(ending(), RisingNumber(1));
  ring::WaveReply at_work = passive();
  at_work.passive = false;
  ids_.resize(1);
  for (int i = 0; i < 60; ++i) tick(detector, at_work);  // until a ring of many would wait for half a second
  tick(detector);
  EXPECT_FALSE(detector.end()) << "one wave is not enough";
  ASSERT_TRUE(detector.next_deadline());
  EXPECT_LE(*detector.next_deadline(), now_ + milliseconds(50));
  tick(detector);
  EXPECT_TRUE(detector.end());
}

TEST_F(WaveRules, AloneTooAnEndThatIsTakenBackIsFoundAgainAfterAPause) {
  TerminationDetector detector(ending(), RisingNumber(1));
  ids_.resize(1);
  for (int i = 0; i < 4; ++i) tick(detector);
  ASSERT_TRUE(detector.end());
  detector.take_back(now_);
  for (int i = 0; i < 4; ++i) tick(detector);
  EXPECT_FALSE(detector.end());
  for (int i = 0; i < 4; ++i) tick(detector);
  EXPECT_TRUE(detector.end());
}

TEST_F(WaveRules, AYoungCrawlIsAskedMoreOftenThanAnOldOne) {
  ring::WaveReply at_work = passive();
  at_work.passive = false;
  const auto pause = [&](TerminationDetector& detector) {
    wave(detector, at_work, at_work);
    return *detector.next_deadline() - now_;
  };
  TerminationDetector detector(ending(), RisingNumber(1));
  EXPECT_EQ(pause(detector), milliseconds(50));
  for (int i = 0; i < 6; ++i) pause(detector);
  EXPECT_GT(pause(detector), milliseconds(100));
  for (int i = 0; i < 20; ++i) pause(detector);
  EXPECT_EQ(pause(detector), milliseconds(500));

  // A thousand peers are asked as seldom as ever.
  for (int i = 3; i < 1000; ++i) ids_.push_back(peer_id(static_cast<std::size_t>(i)));
  std::sort(ids_.begin(), ids_.end());
  TerminationDetector large(ending(), RisingNumber(1));
  EXPECT_EQ(pause(large), milliseconds(500));
}

TEST_F(WaveRules, ACrawlThatIsToGoOnNeverEnds) {
  TerminationDetector detector(TerminationDetector::Config{}, RisingNumber(1));
  for (int i = 0; i < 20; ++i) EXPECT_TRUE(tick(detector).empty());
  EXPECT_FALSE(detector.end());
}

TEST_F(WaveRules, AProbeNotAnsweredGoesOutAgainToThatMemberOnly) {
  TerminationDetector detector(ending(), RisingNumber(1));
  const auto first = tick(detector);
  ASSERT_EQ(first.size(), 2u);
  ring::WaveReply answer = passive();
  answer.wave = first[0].probe.wave;
  detector.on_reply(first[0].to, answer);
  std::vector<TerminationDetector::Probe> again;
  for (int i = 0; i < 20 && again.empty(); ++i) again = tick(detector);
  ASSERT_EQ(again.size(), 1u);
  EXPECT_EQ(again[0].to, first[1].to);
  EXPECT_EQ(again[0].probe.wave, first[1].probe.wave);
}

TEST_F(WaveRules, BadInput_RepliesOfOtherWavesAndOfStrangersCountForNothing) {
  TerminationDetector detector(ending(), RisingNumber(1));
  for (int i = 0; i < 10; ++i) {
    const auto probes = tick(detector);
    for (const TerminationDetector::Probe& probe : probes) {
      ring::WaveReply stale = passive();
      stale.wave = probe.probe.wave - 1;
      detector.on_reply(probe.to, stale);
      stale.wave = probe.probe.wave;
      detector.on_reply(peer_id(99), stale);
    }
  }
  EXPECT_FALSE(detector.end());
}

TEST_F(WaveRules, AnAnswerTakenIsNotAskedForTwiceAndTimeMovesOn) {
  TerminationDetector detector(ending(), RisingNumber(1));
  for (int i = 0; i < 50; ++i) {
    (void)tick(detector);
    const auto deadline = detector.next_deadline();
    ASSERT_TRUE(deadline);
    EXPECT_GT(*deadline, now_) << "a deadline that has passed makes the loop spin";
  }
}

// Whatever the clock says: only what a process says first is above all that the one before it said.
TEST_F(WaveRules, NumbersRiseOverARestartThoughTheClockIsSetBack) {
  TerminationDetector first(ending(), RisingNumber(1));
  const std::uint64_t before = tick(first).at(0).probe.wave;
  now_ -= std::chrono::hours{24 * 365};
  TerminationDetector second(ending(), RisingNumber(2));
  EXPECT_GT(tick(second).at(0).probe.wave, before);
}

TEST_F(WaveRules, AGrantNamesTheWaveThatItWasMadeFrom) {
  TerminationDetector detector(ending(100), RisingNumber(1));
  ring::WaveReply wanting = passive();
  wanting.counts = {{"fetched", 0}, {"cap", 0}, {"unspent", 0}, {"wants", 1}};
  wave(detector, wanting);
  std::vector<TerminationDetector::Probe> probes;
  for (int tries = 0; tries < 20 && probes.empty(); ++tries) probes = tick(detector);
  ASSERT_EQ(probes.size(), 2u);
  EXPECT_GT(probes[0].probe.grant_pages, 0u);
  EXPECT_EQ(probes[0].probe.grant_wave + 1, probes[0].probe.wave);
}

TEST_F(WaveRules, TheOwnGrantIsGivenOnce) {
  ids_ = {ids_[0]};
  TerminationDetector detector(ending(100), RisingNumber(1));
  ring::WaveReply wanting = passive();
  wanting.counts = {{"fetched", 0}, {"cap", 0}, {"unspent", 0}, {"wants", 1}};
  tick(detector, wanting);
  ASSERT_TRUE(detector.own_grant());
  const std::uint64_t granted = *detector.own_grant();
  EXPECT_GT(granted, 0u);
  // Its queue is empty: it has returned the unused part, and must not get it again without asking.
  ring::WaveReply satisfied;
  satisfied.ring_fingerprint = 1;
  satisfied.life = 1;
  satisfied.counts = {{"fetched", 1}, {"cap", 1}, {"unspent", 0}, {"wants", 0}};
  for (int i = 0; i < 20; ++i) {
    tick(detector, satisfied);
    EXPECT_FALSE(detector.own_grant() && *detector.own_grant() > 1);
  }
}

}  // namespace
}  // namespace orbweaver
