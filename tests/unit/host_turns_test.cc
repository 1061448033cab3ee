// Turns of hosts: one asker at a time, the host's wait between two, also over a change of the owner; and everyone has a
// turn in the end.
#include "node/crawl/host_turns.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace orbweaver {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

const Time start{seconds{1'700'000'000}};
const ring::Md5 host = ring::md5("a.example");
constexpr Duration delay = seconds{1};

HostTurns::Loan loan_of(std::uint8_t peer, std::uint64_t id) {
  HostTurns::Loan loan;
  loan.peer.bytes[0] = peer;
  loan.id = id;
  return loan;
}

TEST(HostTurns, Contract3_OneAtATimeAndTheWaitBetween) {
  HostTurns turns;
  EXPECT_TRUE(turns.ask(host, loan_of(1, 1), false, delay, {}, start).given);
  EXPECT_TRUE(turns.ask(host, loan_of(1, 1), false, delay, {}, start).given) << "the same ask, come twice";
  const auto other = turns.ask(host, loan_of(2, 1), false, delay, {}, start);
  EXPECT_FALSE(other.given);
  EXPECT_GT(other.at, start);
  turns.give_back(host, loan_of(2, 1), Duration{}, {}, start);
  EXPECT_FALSE(turns.ask(host, loan_of(3, 1), false, delay, {}, start).given) << "it was not theirs to give back";
  turns.give_back(host, loan_of(1, 1), seconds{5}, {}, start + seconds{1});
  EXPECT_FALSE(turns.ask(host, loan_of(2, 1), false, delay, {}, start + seconds{5}).given);
  EXPECT_TRUE(turns.ask(host, loan_of(2, 1), false, delay, {}, start + seconds{6}).given);
  EXPECT_TRUE(turns.ask(ring::md5("b.example"), loan_of(1, 2), false, delay, {}, start).given) << "another host";
}

TEST(HostTurns, ALoanThatIsNotRenewedEndsAndItsDelayIsWaitedFor) {
  HostTurns turns;
  ASSERT_TRUE(turns.ask(host, loan_of(1, 1), false, delay, {}, start).given);
  ASSERT_TRUE(turns.ask(host, loan_of(1, 1), true, delay, {}, start + seconds{6}).given);
  const Time end = start + seconds{6} + HostTurns::loan_time;
  EXPECT_FALSE(turns.ask(host, loan_of(2, 1), false, delay, {}, end - milliseconds{1}).given);
  EXPECT_FALSE(turns.ask(host, loan_of(2, 1), false, delay, {}, end + delay - milliseconds{1}).given);
  EXPECT_TRUE(turns.ask(host, loan_of(2, 1), false, delay, {}, end + delay).given);
  EXPECT_FALSE(turns.ask(host, loan_of(1, 1), true, delay, {}, end + delay).given) << "too late to renew";
}

TEST(HostTurns, Contract3_ANewOwnerTakesOverWhatIsRenewedAndWaitsForTheRest) {
  HostTurns turns;  // owner since start, knows nothing
  EXPECT_FALSE(turns.ask(host, loan_of(2, 1), false, delay, start, start + milliseconds{1}).given);
  EXPECT_TRUE(turns.ask(host, loan_of(1, 1), true, delay, start, start + seconds{3}).given) << "lent by the old owner";
  EXPECT_FALSE(turns.ask(host, loan_of(3, 1), true, delay, start, start + seconds{3}).given) << "one only";
  turns.give_back(host, loan_of(1, 1), seconds{2}, start, start + seconds{4});
  EXPECT_FALSE(turns.ask(host, loan_of(2, 1), false, delay, start, start + seconds{7}).given);
  EXPECT_TRUE(turns.ask(host, loan_of(2, 1), false, delay, start, start + HostTurns::loan_time + delay).given);
  HostTurns late;  // a word to the old owner that comes to the new one
  late.give_back(host, loan_of(1, 1), Duration{}, start, start + seconds{1});
  EXPECT_FALSE(late.ask(host, loan_of(2, 1), false, delay, start, start + seconds{2}).given);
}

TEST(HostTurns, EveryoneHasATurnInTheEnd) {
  HostTurns turns;
  std::mt19937_64 random(1);
  struct Asker {
    Time next = start;
    int turns = 0;
  };
  std::vector<Asker> askers(30);
  constexpr std::size_t nobody = 99;
  std::size_t holder = nobody;
  Time now = start;
  Time back{};
  Time given_back{};
  for (; now < start + seconds{300}; now += milliseconds{7}) {
    if (holder != nobody && now >= back) {
      turns.give_back(host, loan_of(static_cast<std::uint8_t>(holder), 1), milliseconds{500}, {}, now);
      askers[holder].next = now + milliseconds{500};
      holder = nobody;
      given_back = now;
    }
    for (std::size_t i = 0; i < askers.size(); ++i) {
      if (holder == i || askers[i].next > now) continue;
      const auto answer = turns.ask(host, loan_of(static_cast<std::uint8_t>(i), 1), false, delay, {}, now);
      askers[i].next = answer.at;
      if (!answer.given) continue;
      ASSERT_EQ(holder, nobody) << "two at a time";
      ASSERT_TRUE(given_back == Time{} || now >= given_back + milliseconds{500});
      holder = i;
      back = now + milliseconds{random() % 100};
      ++askers[i].turns;
    }
  }
  for (const Asker& asker : askers) EXPECT_GT(asker.turns, 2);
}

TEST(HostTurns, Contract5_HostsWithoutALoanOrAWaitAreForgotten) {
  HostTurns turns;
  for (int i = 0; i < 1000; ++i) {
    const ring::Md5 at = ring::md5(std::to_string(i));
    ASSERT_TRUE(turns.ask(at, loan_of(1, 1), false, delay, {}, start).given);
    turns.give_back(at, loan_of(1, 1), seconds{1}, {}, start);
  }
  EXPECT_EQ(turns.hosts(), 1000u);
  (void)turns.ask(host, loan_of(1, 2), false, delay, {}, start + seconds{60});
  EXPECT_EQ(turns.hosts(), 1u);
}

}  // namespace
}  // namespace orbweaver
