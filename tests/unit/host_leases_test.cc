// Leases of hosts: one peer at a time, and the host's wait between two leases, also when the owner changes; every peer
// gets a lease in the end.
#include "node/scheduling/host_leases.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace orbweaver {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

const Time start{seconds{1'700'000'000}};
const ring::Md5 host = ring::md5("a.example");
constexpr Duration delay = seconds{1};

HostLeaseBook::Lease lease_of(std::uint8_t peer, std::uint64_t id) {
  HostLeaseBook::Lease lease;
  lease.peer.bytes[0] = peer;
  lease.id = id;
  return lease;
}

TEST(HostLeases, Contract3_OneAtATimeAndTheWaitBetween) {
  HostLeaseBook leases(delay);
  EXPECT_TRUE(leases.ask(host, lease_of(1, 1), false, delay, {}, start).given);
  EXPECT_TRUE(leases.ask(host, lease_of(1, 1), false, delay, {}, start).given) << "the same ask, come twice";
  const auto other = leases.ask(host, lease_of(2, 1), false, delay, {}, start);
  EXPECT_FALSE(other.given);
  EXPECT_GT(other.at, start);
  leases.give_back(host, lease_of(2, 1), Duration{}, {}, start);
  EXPECT_FALSE(leases.ask(host, lease_of(3, 1), false, delay, {}, start).given) << "it was not theirs to give back";
  leases.give_back(host, lease_of(1, 1), seconds{5}, {}, start + seconds{1});
  EXPECT_FALSE(leases.ask(host, lease_of(2, 1), false, delay, {}, start + seconds{5}).given);
  EXPECT_TRUE(leases.ask(host, lease_of(2, 1), false, delay, {}, start + seconds{6}).given);
  EXPECT_TRUE(leases.ask(ring::md5("b.example"), lease_of(1, 2), false, delay, {}, start).given) << "another host";
}

// A robots.txt of another host was here: who asked for that does not know this host's Crawl-delay.
TEST(HostLeases, AfterARequestForAnotherHostTheNextWaitsForItsOwnDelay) {
  HostLeaseBook leases(delay);
  ASSERT_TRUE(leases.ask(host, lease_of(1, 1), false, delay, {}, start).given);
  leases.give_back(host, lease_of(1, 1), delay, {}, start);
  leases.asked_blindly(host, start);
  EXPECT_FALSE(leases.ask(host, lease_of(2, 1), false, seconds{30}, {}, start + seconds{29}).given);
  EXPECT_TRUE(leases.ask(host, lease_of(2, 1), false, seconds{30}, {}, start + seconds{30}).given);
}

// Of two such requests neither knows it. Others that ask the host for its pages have named it, a while ago.
TEST(HostLeases, Contract3_BetweenTwoRequestsForOtherHostsTheCrawlDelayCounts) {
  HostLeaseBook leases(delay);
  ASSERT_TRUE(leases.ask(host, lease_of(1, 1), false, seconds{30}, {}, start).given);
  leases.give_back(host, lease_of(1, 1), seconds{30}, {}, start);
  const Time later = start + std::chrono::hours{1};
  ASSERT_TRUE(leases.ask(ring::md5("b.example"), lease_of(1, 2), false, delay, {}, later).given);
  ASSERT_TRUE(leases.ask(host, lease_of(1, 3), false, delay, {}, later).given);
  leases.give_back(host, lease_of(1, 3), delay, {}, later);
  leases.asked_blindly(host, later);
  EXPECT_FALSE(leases.ask(host, lease_of(2, 1), false, delay, {}, later + seconds{29}).given);
  EXPECT_TRUE(leases.ask(host, lease_of(2, 1), false, delay, {}, later + seconds{30}).given);
}

TEST(HostLeases, ALoanThatIsNotRenewedEndsAndItsDelayIsWaitedFor) {
  HostLeaseBook leases(delay);
  ASSERT_TRUE(leases.ask(host, lease_of(1, 1), false, delay, {}, start).given);
  ASSERT_TRUE(leases.ask(host, lease_of(1, 1), true, delay, {}, start + seconds{6}).given);
  const Time end = start + seconds{6} + HostLeaseBook::lease_time;
  EXPECT_FALSE(leases.ask(host, lease_of(2, 1), false, delay, {}, end - milliseconds{1}).given);
  EXPECT_FALSE(leases.ask(host, lease_of(2, 1), false, delay, {}, end + delay - milliseconds{1}).given);
  EXPECT_TRUE(leases.ask(host, lease_of(2, 1), false, delay, {}, end + delay).given);
  EXPECT_FALSE(leases.ask(host, lease_of(1, 1), true, delay, {}, end + delay).given) << "too late to renew";
}

TEST(HostLeases, Contract3_ANewOwnerTakesOverWhatIsRenewedAndWaitsForTheRest) {
  HostLeaseBook leases(delay);  // owner since start, without any leases
  EXPECT_FALSE(leases.ask(host, lease_of(2, 1), false, delay, start, start + milliseconds{1}).given);
  EXPECT_TRUE(leases.ask(host, lease_of(1, 1), true, delay, start, start + seconds{3}).given)
      << "leased by the old owner";
  EXPECT_FALSE(leases.ask(host, lease_of(3, 1), true, delay, start, start + seconds{3}).given) << "one only";
  leases.give_back(host, lease_of(1, 1), seconds{2}, start, start + seconds{4});
  EXPECT_FALSE(leases.ask(host, lease_of(2, 1), false, delay, start, start + seconds{7}).given);
  EXPECT_TRUE(leases.ask(host, lease_of(2, 1), false, delay, start, start + HostLeaseBook::lease_time + delay).given);
  HostLeaseBook late(delay);  // a return to the old owner that reaches the new one
  late.give_back(host, lease_of(1, 1), Duration{}, start, start + seconds{1});
  EXPECT_FALSE(late.ask(host, lease_of(2, 1), false, delay, start, start + seconds{2}).given);
}

// What it knows is of its first time as the owner. Another peer has leased the host since.
TEST(HostLeases, Contract3_AnOwnerForTheSecondTimeWaitsAsANewOneDoes) {
  HostLeaseBook leases(delay);
  EXPECT_FALSE(leases.ask(host, lease_of(1, 1), false, delay, start, start + seconds{1}).given);
  const Time again = start + seconds{30};
  EXPECT_FALSE(leases.ask(host, lease_of(2, 1), false, delay, again, again + seconds{1}).given);
  EXPECT_TRUE(leases.ask(host, lease_of(3, 7), true, delay, again, again + seconds{2}).given) << "leased in between";
  HostLeaseBook returned(delay);
  ASSERT_TRUE(returned.ask(host, lease_of(1, 1), false, delay, {}, start).given);
  returned.give_back(host, lease_of(1, 1), Duration{}, again, again + seconds{1});
  EXPECT_FALSE(returned.ask(host, lease_of(2, 1), false, delay, again, again + seconds{2}).given);
}

TEST(HostLeases, EveryoneHasATurnInTheEnd) {
  HostLeaseBook leases(delay);
  std::mt19937_64 random(1);
  struct Asker {
    Time next = start;
    int leases = 0;
  };
  std::vector<Asker> askers(30);
  constexpr std::size_t nobody = 99;
  std::size_t holder = nobody;
  Time now = start;
  Time back{};
  Time given_back{};
  for (; now < start + seconds{300}; now += milliseconds{7}) {
    if (holder != nobody && now >= back) {
      leases.give_back(host, lease_of(static_cast<std::uint8_t>(holder), 1), milliseconds{500}, {}, now);
      askers[holder].next = now + milliseconds{500};
      holder = nobody;
      given_back = now;
    }
    for (std::size_t i = 0; i < askers.size(); ++i) {
      if (holder == i || askers[i].next > now) continue;
      const auto answer = leases.ask(host, lease_of(static_cast<std::uint8_t>(i), 1), false, delay, {}, now);
      askers[i].next = answer.at;
      if (!answer.given) continue;
      ASSERT_EQ(holder, nobody) << "two at a time";
      ASSERT_TRUE(given_back == Time{} || now >= given_back + milliseconds{500});
      holder = i;
      back = now + milliseconds{random() % 100};
      ++askers[i].leases;
    }
  }
  for (const Asker& asker : askers) EXPECT_GT(asker.leases, 2);
}

// Else the questions of all that wait fill the queues of the peers, the leased requests take longer, and so on.
TEST(HostLeases, Contract5_TheLongerAHostIsLeasedTheLessOftenTheOthersAsk) {
  HostLeaseBook leases(delay);
  ASSERT_TRUE(leases.ask(host, lease_of(1, 1), false, delay, {}, start).given);
  const Time end = start + seconds{60};
  Time renewed = start;
  int asked = 0;
  for (Time at = start; at < end;) {
    for (; at - renewed >= seconds{3}; renewed += seconds{3})
      ASSERT_TRUE(leases.ask(host, lease_of(1, 1), true, delay, {}, renewed + seconds{3}).given);
    const auto answer = leases.ask(host, lease_of(2, 1), false, delay, {}, at);
    ASSERT_FALSE(answer.given);
    EXPECT_LE(answer.at - at, std::clamp<Duration>(at - start, milliseconds{20}, seconds{2})) << "and not too late";
    at = answer.at;
    ++asked;
  }
  EXPECT_LE(asked, 60);
  leases.give_back(host, lease_of(1, 1), Duration{}, {}, end);
  ASSERT_TRUE(leases.ask(host, lease_of(2, 2), false, delay, {}, end).given);
  const auto answer = leases.ask(host, lease_of(3, 1), false, delay, {}, end + milliseconds{5});
  EXPECT_EQ(answer.at, end + milliseconds{25}) << "a lease that has just begun";
}

TEST(HostLeases, Contract5_HostsWithoutALoanOrAWaitAreForgotten) {
  HostLeaseBook leases(delay);
  for (int i = 0; i < 1000; ++i) {
    const ring::Md5 at = ring::md5(std::to_string(i));
    ASSERT_TRUE(leases.ask(at, lease_of(1, 1), false, delay, {}, start).given);
    leases.give_back(at, lease_of(1, 1), seconds{1}, {}, start);
  }
  EXPECT_EQ(leases.hosts(), 1000u);
  (void)leases.ask(host, lease_of(1, 2), false, delay, {}, start + seconds{60});
  EXPECT_EQ(leases.hosts(), 1u);
}

TEST(HostLeases, Contract5_ACrawlDelayIsForgottenAfterADayAndBeforeTheBookIsFull) {
  HostLeaseBook leases(delay);
  const auto asked_at = [&](int number, Time now) {
    const ring::Md5 at = ring::md5(std::to_string(number));
    ASSERT_TRUE(leases.ask(at, lease_of(1, 1), false, 2 * delay, {}, now).given);
    leases.give_back(at, lease_of(1, 1), 2 * delay, {}, now);
  };
  asked_at(0, start);
  asked_at(1, start + std::chrono::hours{1});
  EXPECT_EQ(leases.hosts(), 2u);
  const Time next_day = start + std::chrono::hours{24} + seconds{3};
  asked_at(2, next_day);
  EXPECT_EQ(leases.hosts(), 2u);
  for (int number = 3; number < static_cast<int>(HostLeaseBook::max_hosts / 2) + 3; ++number)
    asked_at(number, next_day);
  asked_at(0, next_day + seconds{60});
  EXPECT_EQ(leases.hosts(), 1u);
}

}  // namespace
}  // namespace orbweaver
