// Slots of an address: never closer than the delay, whichever peer owns the address; every host gets one in time.
#include "node/scheduling/address_slots.h"

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
constexpr Duration least = delay / 20;  // minimum time for which a slot is valid

AddressSlotBook::Ask by(std::uint8_t peer, Duration wanted = {}, Duration good_for = {}, Duration in = {}) {
  AddressSlotBook::Ask ask{.asker = {}, .delay = wanted, .good_for = good_for, .in = in};
  ask.asker.peer.bytes[0] = peer;
  return ask;
}

TEST(AddressSlots, OnePeersTurnsAreADelayApart) {
  AddressSlotBook slots(delay);
  for (int i = 0; i < 4; ++i) {
    const AddressSlotBook::Slot slot = slots.ask("a", by(1), {}, start);
    EXPECT_TRUE(slot.given);
    EXPECT_EQ(slot.at, start + i * delay);
  }
  EXPECT_TRUE(slots.ask("b", by(1), {}, start).given) << "another address has its own";
  EXPECT_EQ(slots.ask("b", by(1), {}, start + seconds{9}).at, start + seconds{9});
}

TEST(AddressSlots, AnothersTurnComesAfterTheEndOfTheLast) {
  AddressSlotBook slots(delay);
  EXPECT_EQ(slots.ask("a", by(1), {}, start).at, start);
  EXPECT_EQ(slots.ask("a", by(2), {}, start).at, start + delay + least);
  EXPECT_EQ(slots.ask("a", by(2), {}, start).at, start + 2 * delay + least);
  EXPECT_EQ(slots.ask("a", by(1), {}, start).at, start + 3 * (delay) + 2 * least);
  // A restarted peer does not know its last request.
  AddressSlotBook::Ask later = by(1);
  later.asker.incarnation = 7;
  EXPECT_EQ(slots.ask("a", later, {}, start).at, start + 4 * delay + 3 * least);
}

TEST(AddressSlots, NeverMoreThanTheHostsDelay) {
  AddressSlotBook slots(delay);
  for (int i = 0; i < 50; ++i)
    EXPECT_EQ(slots.ask("a", by(1, milliseconds{20}), {}, start).at, start + i * milliseconds{20});
  // A slower host of the same address reserves it for longer, after its own request; at most for the ring's delay.
  EXPECT_EQ(slots.ask("a", by(1, seconds{9}), {}, start).at, start + seconds{1});
  EXPECT_EQ(slots.ask("a", by(1, milliseconds{20}), {}, start).at, start + seconds{1} + delay);
}

TEST(AddressSlots, ATurnMayBeAskedForAheadOfItsTime) {
  AddressSlotBook slots(delay);
  EXPECT_EQ(slots.ask("a", by(1, {}, {}, milliseconds{30}), {}, start).at, start + milliseconds{30});
  EXPECT_EQ(slots.ask("a", by(1), {}, start).at, start + milliseconds{30} + delay);
  EXPECT_FALSE(slots.ask("b", by(1, {}, {}, seconds{3}), {}, start).given) << "not beyond the horizon";
}

TEST(AddressSlots, NoneBeyondTheHorizon_AndThoseTurnedAwayComeBackOneByOne) {
  AddressSlotBook slots(delay);
  Time last{};
  int given = 0;
  for (int i = 0; i < 100; ++i) {
    const AddressSlotBook::Slot slot = slots.ask("a", by(1), {}, start);
    given += slot.given ? 1 : 0;
    if (slot.given) {
      EXPECT_LE(slot.at, start + AddressSlotBook::horizon);
    } else {
      EXPECT_GT(slot.at, start);
      EXPECT_GE(slot.at - last, delay);
      last = slot.at;
    }
  }
  EXPECT_EQ(given, 6);
}

TEST(AddressSlots, Contract3_ANewOwnerWaitsForTheTurnsOfTheOldOne) {
  AddressSlotBook old_owner(delay);
  Time last{};
  const Duration longest = AddressSlotBook::horizon;
  for (int i = 0; i < 50; ++i)
    if (const auto slot = old_owner.ask("a", by(1, {}, longest), {}, start); slot.given)
      last = std::max(last, slot.at + longest);
  AddressSlotBook new_owner(delay);
  Time asked = start + milliseconds{1};
  auto slot = new_owner.ask("a", by(1), start, asked);
  for (; !slot.given; slot = new_owner.ask("a", by(1), start, asked)) asked = slot.at;
  EXPECT_GE(slot.at, last + delay);
}

// What it knows is of its first time as the owner. Another peer has given slots since.
TEST(AddressSlots, Contract3_AnOwnerForTheSecondTimeWaitsAsANewOneDoes) {
  const Duration all_slots = 2 * AddressSlotBook::horizon + delay;
  AddressSlotBook slots(delay);
  ASSERT_TRUE(slots.ask("a", by(1), {}, start).given);
  const Time again = start + milliseconds{100};
  const auto slot = slots.ask("a", by(1), again, again + all_slots - AddressSlotBook::horizon);
  ASSERT_TRUE(slot.given);
  EXPECT_GE(slot.at, again + all_slots);
}

// A thousand hosts of some peers, and one owner that changes. At the server each request reserves the address for its
// delay, and the address is never idle for long.
void check_polite_guest(int peers, double used_least) {
  std::mt19937_64 random(1);
  AddressSlotBook slots(delay);
  std::vector<OwnRequests> own(static_cast<std::size_t>(peers));
  Time since{};
  struct Request {
    Time at{};
    Duration keeps{};
  };
  struct Host {
    int number = 0;
    std::optional<AddressSlotBook::Slot> slot;
    Duration good{};
  };
  std::multimap<Time, Host> due;  // by the time at which a host is checked next
  for (int host = 0; host < 1000; ++host) due.emplace(start + milliseconds{random() % 3000}, Host{host, {}, {}});
  const auto delay_of = [](int host) { return host % 10 == 0 ? delay / 8 : delay; };
  std::vector<Request> requests;
  int asked = 0;
  while (requests.size() < 2000) {
    auto [now, host] = *due.begin();
    due.erase(due.begin());
    const auto peer = static_cast<std::size_t>(host.number % peers);
    if (host.slot) {
      const Time at = std::max(host.slot->at, own[peer].next("a"));
      if (now < at) {
        due.emplace(at, host);
        continue;
      }
      if (now <= host.slot->at + host.good) {
        own[peer].begins("a", delay_of(host.number), now);
        requests.push_back({now, delay_of(host.number)});
        due.emplace(now + seconds{1}, Host{host.number, {}, {}});
        continue;
      }
    }
    if (++asked % 5000 == 0) {
      slots = AddressSlotBook(delay);
      since = now;
    }
    host.good = AddressSlotBook::good_for(delay_of(host.number), {});
    const auto slot = slots.ask("a", by(static_cast<std::uint8_t>(peer), delay_of(host.number)), since, now);
    host.slot = slot.given ? std::optional(slot) : std::nullopt;
    // The loop is sometimes late, but within the time for which the slot is valid.
    due.emplace(slot.given ? slot.at + host.good * static_cast<int>(random() % 100) / 100 : slot.at, host);
  }
  Duration kept{};
  for (std::size_t i = 1; i < requests.size(); ++i) {
    ASSERT_GE(requests[i].at - requests[i - 1].at, requests[i - 1].keeps) << i;
    kept += requests[i - 1].keeps;
  }
  const Duration all = requests.back().at - requests.front().at;
  EXPECT_GT(static_cast<double>(kept.count()) / static_cast<double>(all.count()), used_least);
  EXPECT_LT(asked, 60'000) << "who is turned away does not ask all the time";
}

TEST(AddressSlots, AThousandHostsAreOnePoliteGuest) { check_polite_guest(7, 2.0 / 3); }
TEST(AddressSlots, AThousandHostsOfOnePeerUseTheAddressWhole) { check_polite_guest(1, 0.95); }

TEST(AddressSlots, WhoIsFarAwayTakesLonger) {
  AddressSlotBook slots(delay);
  EXPECT_EQ(slots.ask("a", by(1, {}, milliseconds{300}), {}, start).at, start);
  EXPECT_EQ(slots.ask("a", by(2, {}, milliseconds{10}), {}, start).at, start + milliseconds{700});
  EXPECT_EQ(slots.ask("a", by(3, {}, seconds{100}), {}, start).at, start + milliseconds{1120});
  EXPECT_FALSE(slots.ask("a", by(4), {}, start).given) << "good for no longer than the horizon";
  EXPECT_TRUE(slots.ask("a", by(3), {}, start).given) << "the same peer knows when it began";
}

TEST(AddressSlots, AddressesWithoutTurnsAheadAreForgotten) {
  AddressSlotBook slots(delay);
  for (int i = 0; i < 1000; ++i) slots.ask(std::to_string(i), by(1), {}, start);
  EXPECT_EQ(slots.addresses(), 1000u);
  slots.ask("a", by(1), {}, start + seconds{10});
  EXPECT_EQ(slots.addresses(), 1u);
}

TEST(OwnRequests, KeepTheDelayOfTheLastAndForgetWhatIsOver) {
  OwnRequests own;
  EXPECT_EQ(own.next("a"), Time{});
  own.begins("a", delay, start);
  EXPECT_EQ(own.next("a"), start + delay);
  EXPECT_EQ(own.next("b"), Time{});
  own.begins("a", milliseconds{20}, start + milliseconds{1});
  EXPECT_EQ(own.next("a"), start + delay) << "a shorter one does not shorten it";
  for (int i = 0; i < 1000; ++i) own.begins(std::to_string(i), delay, start + i * delay);
  EXPECT_EQ(own.next("0"), Time{});
}

}  // namespace
}  // namespace orbweaver
