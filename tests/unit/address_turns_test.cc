// Turns of an address: never nearer than the delay, whoever owns it, and everyone has one in time.
#include "node/crawl/address_turns.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <vector>

namespace orbweaver {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

const Time start{seconds{1'700'000'000}};
constexpr Duration delay = milliseconds{400};
constexpr Duration quarter = delay / 4;

TEST(AddressTurns, Issue4_6_TurnsAreADelayAndAQuarterApart) {
  AddressTurns turns(delay);
  for (int i = 0; i < 4; ++i) {
    const AddressTurns::Turn turn = turns.ask("a", quarter, {}, start);
    EXPECT_TRUE(turn.given);
    EXPECT_EQ(turn.at, start + i * milliseconds{500});
  }
  EXPECT_EQ(turns.good_for(), milliseconds{100});
  EXPECT_TRUE(turns.ask("b", quarter, {}, start).given) << "another address has its own";
  EXPECT_EQ(turns.ask("b", quarter, {}, start + seconds{9}).at, start + seconds{9});
}

TEST(AddressTurns, NoneBeyondTheHorizon_AndThoseTurnedAwayComeBackOneByOne) {
  AddressTurns turns(delay);
  Time last{};
  int given = 0;
  for (int i = 0; i < 100; ++i) {
    const AddressTurns::Turn turn = turns.ask("a", quarter, {}, start);
    given += turn.given ? 1 : 0;
    if (turn.given) {
      EXPECT_LE(turn.at, start + AddressTurns::horizon);
    } else {
      EXPECT_GT(turn.at, start);
      EXPECT_GE(turn.at - last, milliseconds{500});
      last = turn.at;
    }
  }
  EXPECT_EQ(given, 5);
}

TEST(AddressTurns, Contract3_ANewOwnerWaitsForTheTurnsOfTheOldOne) {
  AddressTurns old_owner(delay);
  Time last{};
  for (int i = 0; i < 50; ++i)
    if (const auto turn = old_owner.ask("a", quarter, {}, start); turn.given) last = std::max(last, turn.at);
  AddressTurns new_owner(delay);
  Time asked = start + milliseconds{1};
  auto turn = new_owner.ask("a", quarter, start, asked);
  for (; !turn.given; turn = new_owner.ask("a", quarter, start, asked)) asked = turn.at;
  EXPECT_GE(turn.at, last + delay);
}

// A thousand askers with one owner that changes: at the server no two requests are nearer than the delay, and the
// address is never idle for long.
TEST(AddressTurns, Issue4_6_AThousandHostsAreOnePoliteGuest) {
  std::mt19937_64 random(1);
  AddressTurns turns(delay);
  Time since{};
  std::multimap<Time, int> due;  // when an asker asks next
  for (int asker = 0; asker < 1000; ++asker) due.emplace(start + milliseconds{random() % 3000}, asker);
  std::vector<Time> requests;
  int asked = 0;
  Time now = start;
  while (requests.size() < 2000) {
    const auto [at, asker] = *due.begin();
    due.erase(due.begin());
    now = at;
    if (++asked % 5000 == 0) {
      turns = AddressTurns(delay);
      since = now;
    }
    const AddressTurns::Turn turn = turns.ask("a", quarter, since, now);
    if (!turn.given) {
      due.emplace(turn.at, asker);
      continue;
    }
    requests.push_back(turn.at + turns.good_for() * (random() % 100) / 100);
    due.emplace(requests.back() + seconds{1}, asker);
  }
  std::sort(requests.begin(), requests.end());
  for (std::size_t i = 1; i < requests.size(); ++i) ASSERT_GE(requests[i] - requests[i - 1], delay) << i;
  const Duration all = requests.back() - requests.front();
  EXPECT_LT(all, 2000 * milliseconds{500} * 3 / 2) << "two thirds of the turns are used at least";
  EXPECT_LT(asked, 30'000) << "who is turned away does not ask all the time";
}

TEST(AddressTurns, WhoIsFarAwayTakesLonger) {
  AddressTurns turns(delay);
  EXPECT_EQ(turns.ask("a", milliseconds{300}, {}, start).at, start);
  EXPECT_EQ(turns.ask("a", milliseconds{10}, {}, start).at, start + milliseconds{700});
  EXPECT_EQ(turns.ask("a", seconds{100}, {}, start).at, start + milliseconds{1200});
  EXPECT_FALSE(turns.ask("a", quarter, {}, start).given) << "no longer than the horizon";
}

TEST(AddressTurns, AddressesWithoutTurnsAheadAreForgotten) {
  AddressTurns turns(delay);
  for (int i = 0; i < 1000; ++i) turns.ask(std::to_string(i), quarter, {}, start);
  EXPECT_EQ(turns.addresses(), 1000u);
  turns.ask("a", quarter, {}, start + seconds{10});
  EXPECT_EQ(turns.addresses(), 1u);
}

}  // namespace
}  // namespace orbweaver
