// Shares of transfers: a late host finds room, a lone host uses all there is, no host is forgotten.
#include "node/frontier/transfer_shares.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <vector>

namespace orbweaver {
namespace {

using Place = TransferShares::Place;

storage::HostKey host(std::uint32_t number) {
  storage::HostKey key;
  key.partition = static_cast<std::uint16_t>(number % 1024);
  for (std::size_t i = 0; i < 4; ++i) key.host[i] = static_cast<std::uint8_t>(number >> (8 * i));
  return key;
}

TEST(TransferShares, AnEighthIsTheDefault) {
  EXPECT_EQ(TransferShares::limits(256, 0, 0), (TransferShares::Limits{256, 32, 32, 32}));
  EXPECT_EQ(TransferShares::limits(256, 5, 300), (TransferShares::Limits{256, 5, 300, 32}));
  EXPECT_EQ(TransferShares::limits(4, 0, 0), (TransferShares::Limits{4, 1, 1, 1}));
  EXPECT_EQ(TransferShares::limits(1, 0, 0), (TransferShares::Limits{1, 1, 1, 0})) << "one transfer is for anybody";
}

TEST(TransferShares, NetworksOfAddresses) {
  using namespace std::string_literals;
  EXPECT_EQ(network_of("\xc0\x00\x02\x07"s), "\xc0\x00\x02"s);
  EXPECT_EQ(network_of("\x20\x01\x0d\xb8\x00\x07\x00\x01\x00\x00\x00\x00\x00\x00\x00\x01"s),
            "\x20\x01\x0d\xb8\x00\x07"s);
  EXPECT_EQ(network_of("\x00\x64\xff\x9b\x00\x00\x00\x00\x00\x00\x00\x00\xc0\x00\x02\x07"s), "\xc0\x00\x02"s)
      << "behind NAT64 all of IPv4 is in one /48";
  EXPECT_EQ(network_of("\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\xff\xff\xc0\x00\x02\x07"s), "\xc0\x00\x02"s);
  EXPECT_EQ(network_of(""), "");
  EXPECT_EQ(network_of("abc"), "");
}

TEST(TransferShares, WhoIsAloneUsesAllButTheReserve) {
  TransferShares shares(TransferShares::limits(256, 0, 0));
  std::uint64_t job = 0;
  while (shares.may_begin({"slow.example", "net"})) shares.begin(++job, {"slow.example", "net"});
  EXPECT_EQ(job, 224u);
  while (shares.may_begin({"good.example", "other"})) shares.begin(++job, {"good.example", "other"});
  EXPECT_EQ(job, 256u) << "who comes late has the reserve";
}

// Transfers that end make room for domains within their share, until the slow domain has only its share left.
TEST(TransferShares, WhileOthersWaitASlowDomainShrinksToItsShare) {
  TransferShares shares(TransferShares::limits(256, 0, 0));
  std::vector<std::uint64_t> slow;
  std::uint64_t job = 0;
  for (; shares.may_begin({"slow.example", "net"}); slow.push_back(job)) shares.begin(++job, {"slow.example", "net"});
  for (int domain = 0; shares.under_way() < 256; ++domain) shares.begin(++job, {"d" + std::to_string(domain), "n"});
  for (int ended = 0; ended < 192; ++ended) {
    shares.end(slow.back());
    slow.pop_back();
    EXPECT_FALSE(shares.may_begin({"slow.example", "net"})) << ended;
    ASSERT_TRUE(shares.may_begin({"e" + std::to_string(ended), std::to_string(ended)})) << ended;
    shares.begin(++job, {"e" + std::to_string(ended), std::to_string(ended)});
  }
  shares.end(slow.back());
  EXPECT_TRUE(shares.may_begin({"slow.example", "net"})) << "31 of 32 are its own";
}

TEST(TransferShares, ANetworkOfManyDomainsHasOneShare) {
  TransferShares shares(TransferShares::limits(64, 0, 0));
  std::uint64_t job = 0;
  for (int i = 0; shares.may_begin({"d" + std::to_string(i), "net"}); ++i)
    shares.begin(++job, {"d" + std::to_string(i), "net"});
  EXPECT_EQ(job, 56u);
  EXPECT_FALSE(shares.may_begin({"new", "net"}));
  EXPECT_TRUE(shares.may_begin({"new", "other"}));
  EXPECT_TRUE(shares.may_begin({"new", ""})) << "of a host without a known address only the domain counts";
}

TEST(TransferShares, HeldHostsAreNamedInTheirOrder) {
  TransferShares shares(TransferShares::limits(8, 0, 0));  // a share of 1, a reserve of 1
  const Place slow{"slow.example", "net"};
  std::uint64_t job = 0;
  while (shares.may_begin(slow)) shares.begin(++job, slow);
  ASSERT_EQ(job, 7u);
  for (std::uint32_t i = 0; i < 5; ++i) shares.wait(host(i), slow);
  shares.wait(host(0), slow);  // waits again: at the end of the line
  EXPECT_EQ(shares.waiting(), 5u);
  EXPECT_FALSE(shares.next_waiting());
  shares.end(7);
  EXPECT_EQ(shares.next_waiting(), host(1));
  shares.begin(++job, slow);
  EXPECT_FALSE(shares.next_waiting()) << "the reserve stays free";
  shares.begin(++job, {"good.example", "other"});
  shares.end(1);
  EXPECT_FALSE(shares.next_waiting()) << "what ends while the reserve is in use goes to others";
  for (std::uint64_t i = 2; i <= 6; ++i) shares.end(i);
  for (const std::uint32_t next : {2u, 3u, 4u, 0u}) EXPECT_EQ(shares.next_waiting(), host(next));
  EXPECT_FALSE(shares.next_waiting());
  EXPECT_EQ(shares.waiting(), 0u);
}

TEST(TransferShares, OneLineThatIsFullKeepsNoOtherWaiting) {
  TransferShares shares(TransferShares::Limits{.slots = 4, .max_domain = 1, .max_network = 4, .reserve = 4});
  shares.begin(1, {"a", "net"});
  shares.begin(2, {"b", "net"});
  shares.wait(host(1), {"a", "net"});
  shares.wait(host(2), {"b", "net"});
  EXPECT_FALSE(shares.any_may_go());
  shares.end(2);
  EXPECT_EQ(shares.next_waiting(), host(2));
  EXPECT_FALSE(shares.next_waiting());
}

// Random transfers and hosts against the plain rule: no host waits that may begin, none is lost.
TEST(TransferShares, NobodyIsForgotten) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    std::mt19937_64 random(seed);
    const auto below = [&](std::uint32_t n) { return static_cast<std::uint32_t>(random() % n); };
    const std::uint32_t slots = 1 + below(40);
    TransferShares shares(TransferShares::limits(slots, below(5), below(5)));
    std::map<std::uint64_t, Place> under_way;
    std::map<storage::HostKey, Place> waiting;
    std::uint64_t job = 0;
    std::uint32_t hosts = 0;
    const auto serve = [&](const storage::HostKey& key, const Place& place) {
      if (under_way.size() < slots && shares.may_begin(place)) {
        shares.begin(++job, place);
        under_way.emplace(job, place);
      } else {
        shares.wait(key, place);
        waiting.emplace(key, place);
      }
    };
    for (int step = 0; step < 2000; ++step) {
      if (random() % 2 == 0 && !under_way.empty()) {
        const auto ended = std::next(under_way.begin(), static_cast<std::ptrdiff_t>(random() % under_way.size()));
        shares.end(ended->first);
        under_way.erase(ended);
      } else {
        const std::uint64_t network = random() % 5;
        serve(host(hosts++), {"d" + std::to_string(random() % 5), network == 0 ? "" : std::to_string(network)});
      }
      while (const auto next = shares.next_waiting()) {
        ASSERT_TRUE(waiting.contains(*next));
        const Place place = waiting.at(*next);
        waiting.erase(*next);
        serve(*next, place);
      }
      ASSERT_EQ(shares.waiting(), waiting.size());
      ASSERT_LE(under_way.size(), slots);
      for (const auto& [key, place] : waiting) ASSERT_FALSE(shares.may_begin(place)) << "seed " << seed;
    }
    for (const auto& [number, place] : std::exchange(under_way, {})) shares.end(number);
    std::size_t named = 0;
    for (; shares.next_waiting(); ++named) {
    }
    EXPECT_EQ(named, waiting.size());
  }
}

}  // namespace
}  // namespace orbweaver
