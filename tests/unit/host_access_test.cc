// For an address that this peer owns, the slot is known without a question. So a page that may be requested now is
// requested in the step that finds its host's address. A real Peer on a store in memory.
#include "node/scheduling/host_access.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <utility>

#include "node/config/sources/load_settings.h"
#include "node/peer/core.h"
#include "storage/memory_kv.h"
#include "tests/unit/crawl_keys.h"
#include "tests/unit/peer_rig.h"

namespace orbweaver {
namespace {

using std::chrono::milliseconds;

constexpr Duration address_delay = milliseconds{400};

class HostAccessTest : public testing::Test {
 protected:
  void start(std::vector<std::string> seeds) {
    PeerStart start;
    start.settings =
        load_settings(
            "", {{"robots", "no"}, {"delay", "1s"}, {"address_delay", "400ms"}, {"scope", "host"}, {"replicas", "1"}})
            .value();
    start.address = "127.0.0.1:7700";
    start.fresh_id.bytes.fill(1);
    start.fresh_ring.bytes.fill(2);
    start.seeds = std::move(seeds);
    auto opened = Core::open(std::move(start), store_, now_);
    ASSERT_TRUE(opened) << opened.error().message;
    peer_ = std::move(*opened);
  }
  Commands step(Event event = TickEvent{}) {
    Commands commands;
    peer_->step(now_, std::move(event), commands);
    return commands;
  }
  // Steps at this time until this many hosts are looked up.
  std::vector<ResolveHost> asked_for(std::size_t count) {
    std::vector<ResolveHost> asked;
    for (int i = 0; i < 100 && asked.size() < count; ++i)
      for (Command& command : step())
        if (auto* resolve = std::get_if<ResolveHost>(&command)) asked.push_back(std::move(*resolve));
    EXPECT_EQ(asked.size(), count);
    return asked;
  }
  static std::size_t fetches_in(const Commands& commands) {
    return static_cast<std::size_t>(std::count_if(commands.begin(), commands.end(), [](const Command& command) {
      return std::holds_alternative<StartFetch>(command);
    }));
  }
  HostResolved at_one_address(const ResolveHost& asked) { return {asked.host, std::string("\x7f\0\0\1", 4)}; }

  storage::MemoryKv kv_;
  storage::Store store_ = *storage::Store::open(kv_);
  std::unique_ptr<Core> peer_;
  Time now_{std::chrono::hours{24 * 365 * 50}};
};

TEST_F(HostAccessTest, AHostWhoseSlotIsThereNowIsTakenOnce) {
  start({"http://a.test/"});
  const std::vector<ResolveHost> asked = asked_for(1);
  ASSERT_EQ(asked.size(), 1u);
  EXPECT_EQ(asked[0].name, "a.test");
  EXPECT_EQ(asked[0].port, 80);
  EXPECT_EQ(fetches_in(step(at_one_address(asked[0]))), 1u) << "in the step that knows the address";
}

TEST_F(HostAccessTest, HostsOfOneAddressAreAskedADelayApart) {
  start({"http://a.test/", "http://b.test/", "http://c.test/"});
  const std::vector<ResolveHost> asked = asked_for(3);
  ASSERT_EQ(asked.size(), 3u);
  std::size_t fetches = 0;
  for (const ResolveHost& host : asked) fetches += fetches_in(step(at_one_address(host)));
  EXPECT_EQ(fetches, 1u);
  std::vector<Time> begun{now_};
  for (int i = 0; i < 2'000 && begun.size() < 3; ++i) {
    now_ += milliseconds{1};
    if (fetches_in(step()) > 0) begun.push_back(now_);
  }
  ASSERT_EQ(begun.size(), 3u);
  for (std::size_t i = 1; i < begun.size(); ++i) {
    EXPECT_GE(begun[i] - begun[i - 1], address_delay);
    EXPECT_LE(begun[i] - begun[i - 1], address_delay + milliseconds{5}) << "and no later than its slot";
  }
}

// The part alone, with an address that another peer owns.
class SlotOfAnotherPeer : public testing::Test {
 protected:
  static Settings settings() {
    Settings settings = rig_settings();
    settings.delay = std::chrono::seconds{1};
    settings.address_delay = address_delay;
    return settings;
  }
  SlotOfAnotherPeer() {
    rig_.add_member(2, ring::MemberState::active);
    rig_.enter();
    access_.owners_changed(rig_.now);
    storage::Commit commit;
    commit.merges.push_back(test::queued_merge(1, 1));
    commit.merges.push_back(test::queued_merge(2, 1));
    EXPECT_TRUE(rig_.writer.commit(rig_.step(), commit));
  }
  BenchHost* take() { return rig_.bench.take(rig_.now).value(); }
  // Finds the first address that peer 2 owns: its slot is requested.
  bool asks_for_slot(BenchHost& host) {
    for (char number = 1; number < 100; ++number) {
      host.address = std::string{10, 0, 0, number};
      if (access_.may_ask(rig_.now, host) == HostAccess::Verdict::asked) return true;
      host.address_slot = Time{};
      host.next_allowed = Time{};
    }
    return false;
  }
  ring::SlotAsk question() {
    rig_.clear();
    access_.tick(rig_.step());
    const auto requests = rig_.sent<ring::SlotRequest>();
    EXPECT_EQ(requests.size(), 1u);
    return requests.empty() ? ring::SlotAsk{} : requests[0].asks.at(0);
  }

  PeerRig rig_{settings()};
  HostAccess access_{rig_.state,
                     rig_.members.membership(),
                     rig_.members.view(),
                     rig_.bench,
                     rig_.messenger,
                     rig_.replication.partition_manager.tenures(),
                     true};
};

TEST_F(SlotOfAnotherPeer, AGivenOneLeadsStraightToTheFetch) {
  BenchHost* const host = take();
  ASSERT_NE(host, nullptr);
  ASSERT_TRUE(asks_for_slot(*host));
  const ring::SlotAsk asked = question();
  rig_.now += milliseconds{5};
  access_.on_answer(rig_.now, rig_id(2), {{{.id = asked.id, .given = true, .wait = 30'000}}});
  EXPECT_TRUE(host->busy) << "it waits for its slot, and nothing else is asked of it";
  BenchHost* const other = take();
  ASSERT_NE(other, nullptr);
  EXPECT_NE(other, host) << "others have their turn meanwhile";
  EXPECT_EQ(rig_.bench.next_deadline(), rig_.now + milliseconds{30});
  rig_.now += milliseconds{30};
  ASSERT_EQ(take(), host);
  EXPECT_EQ(access_.may_ask(rig_.now, *host), HostAccess::Verdict::now);
}

TEST_F(SlotOfAnotherPeer, AHostThatGotNoneGoesBackToItsPlaceInLine) {
  BenchHost* const host = take();
  ASSERT_NE(host, nullptr);
  ASSERT_TRUE(asks_for_slot(*host));
  const ring::SlotAsk asked = question();
  access_.on_answer(rig_.now, rig_id(2), {{{.id = asked.id, .given = false, .wait = 2'000'000}}});
  EXPECT_FALSE(host->busy);
  EXPECT_EQ(host->next_allowed, rig_.now + std::chrono::seconds{2});
}

// A busy owner: each answer comes after the time in which the slot is first asked for again.
TEST_F(SlotOfAnotherPeer, AnOwnerThatAnswersLateIsHeard) {
  constexpr milliseconds late{1'500};
  BenchHost* const host = take();
  ASSERT_NE(host, nullptr);
  ASSERT_TRUE(asks_for_slot(*host));
  std::deque<std::pair<Time, std::uint64_t>> asked;
  bool may_ask = false;
  for (const Time end = rig_.now + std::chrono::seconds{10}; !may_ask && rig_.now < end; rig_.now += milliseconds{10}) {
    rig_.clear();
    access_.tick(rig_.step());
    for (const ring::SlotRequest& request : rig_.sent<ring::SlotRequest>())
      for (const ring::SlotAsk& ask : request.asks) asked.emplace_back(rig_.now + late, ask.id);
    for (; !asked.empty() && asked.front().first <= rig_.now; asked.pop_front())
      access_.on_answer(rig_.now, rig_id(2), {{{.id = asked.front().second, .given = true, .wait = 0}}});
    const Result<BenchHost*> resumed = rig_.bench.take_resumed(rig_.now);
    if (resumed && *resumed == host) may_ask = access_.may_ask(rig_.now, *host) == HostAccess::Verdict::now;
  }
  EXPECT_TRUE(may_ask);
}

TEST_F(SlotOfAnotherPeer, AnAnswerThatComesTwiceChangesNothing) {
  BenchHost* const host = take();
  ASSERT_NE(host, nullptr);
  ASSERT_TRUE(asks_for_slot(*host));
  const ring::SlotAsk asked = question();
  for (int i = 0; i < 2; ++i) access_.on_answer(rig_.now, rig_id(2), {{{.id = asked.id, .given = true, .wait = 0}}});
  EXPECT_EQ(take(), host);
  access_.on_answer(rig_.now, rig_id(2), {{{.id = asked.id, .given = false, .wait = 1'000}}});
  EXPECT_TRUE(host->busy) << "it is being fetched";
}

}  // namespace
}  // namespace orbweaver
