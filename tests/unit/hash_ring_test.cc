// Ownership is a rule that every peer of every version must compute alike. The vectors come from hash_ring_vectors.py,
// which does not use this code.
#include "ring/hash_ring.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <random>
#include <string>

namespace orbweaver::ring {
namespace {

PeerId id_of(int number) {
  PeerId id;
  id.bytes = md5("peer " + std::to_string(number));
  return id;
}

Member active(int number, std::uint32_t capacity = 100) {
  Member member;
  member.id = id_of(number);
  member.address = "127.0.0.1:" + std::to_string(7000 + number);
  member.capacity = capacity;
  member.incarnation = 1;
  member.state = MemberState::active;
  return member;
}

std::vector<Member> peers(std::vector<std::uint32_t> capacities) {
  std::vector<Member> members;
  for (std::size_t i = 0; i < capacities.size(); ++i) members.push_back(active(static_cast<int>(i), capacities[i]));
  return members;
}

std::string owners_as_text(const HashRing& ring, int peer_count) {
  std::string text;
  for (std::uint32_t partition = 0; partition < ring.partitions(); ++partition) {
    for (int number = 0; number < peer_count; ++number) {
      if (ring.owner(static_cast<Partition>(partition)) == id_of(number)) text += static_cast<char>('0' + number);
    }
  }
  return text;
}

std::string order_as_text(const HashRing& ring, Partition partition, int peer_count) {
  std::string text;
  for (const PeerId& id : ring.owners(partition, 100)) {
    for (int number = 0; number < peer_count; ++number) {
      if (id == id_of(number)) text += static_cast<char>('0' + number);
    }
  }
  return text;
}

TEST(HashRing, Vectors_ThreePeers) {
  const HashRing ring(peers({100, 100, 100}), 256);
  EXPECT_EQ(owners_as_text(ring, 3),
            "2221110212220211021112210110221001002000201111222022102020221200"
            "1202220122010200012211212112210220221200000120002022201101020100"
            "2110200022210002220112021120020221020000201211021010002221100120"
            "1002122122112012100211121221012100210022100122220012212021010221");
  const std::vector<std::string> orders = {"210", "201", "201", "102", "102", "120", "012", "201"};
  for (Partition i = 0; i < 8; ++i) EXPECT_EQ(order_as_text(ring, i, 3), orders[i]);
  EXPECT_EQ(ring.fingerprint(), 0x119b0e4c46ac79e3u);
}

TEST(HashRing, Vectors_FivePeersOfUnequalCapacity) {
  const HashRing ring(peers({100, 50, 200, 100, 25}), 256);
  EXPECT_EQ(owners_as_text(ring, 5),
            "2232113212420212322342414224220302002000224222332222422223231202"
            "2232220122330200433200242422330322222202320120302222433241223300"
            "2112230323220402222012022420240222020040300222232032002323320220"
            "3002022122122302002313022220332103210022102222220032222033320222");
  const std::vector<std::string> orders = {"23140", "23041", "32014", "23104", "12034", "12034", "34021", "23401"};
  for (Partition i = 0; i < 8; ++i) EXPECT_EQ(order_as_text(ring, i, 5), orders[i]);
  EXPECT_EQ(ring.fingerprint(), 0xd38295e7f179fd49u);
}

TEST(HashRing, Vectors_PartitionOfAHost) {
  EXPECT_EQ(partition_of(md5("example.com"), 1024), 362);
  EXPECT_EQ(partition_of(md5("www.debian.org"), 1024), 431);
  EXPECT_EQ(partition_of(md5("127.0.0.1"), 1024), 980);
  EXPECT_EQ(partition_of(md5("example.com"), 1), 0);
  EXPECT_EQ(partition_of(md5("example.com"), 65536), 0x5aba);
}

// The slow obvious twin: for each partition, the peers in order of their nearest clockwise point.
std::vector<PeerId> nearest_peers(const std::vector<Member>& members, std::uint32_t partition) {
  const auto digest = [](std::string bytes, std::uint32_t number) {
    for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>((number >> shift) & 0xff);
    return md5(bytes);
  };
  const std::uint64_t at = leading_bits(digest("partition", partition));
  std::vector<std::pair<std::uint64_t, PeerId>> distances;
  for (const Member& member : members) {
    std::uint64_t least = UINT64_MAX;
    for (std::uint32_t i = 0; i < member.capacity; ++i) {  // two points each; the distance wraps around the circle
      const Md5 points = digest(std::string(reinterpret_cast<const char*>(member.id.bytes.data()), 16), i);
      least = std::min({least, leading_bits(points) - at, trailing_bits(points) - at});
    }
    distances.emplace_back(least, member.id);
  }
  std::sort(distances.begin(), distances.end());
  std::vector<PeerId> order;
  for (const auto& [distance, id] : distances) order.push_back(id);
  return order;
}

// All owners of all partitions: first the nearest peer that has room, then the others by distance.
std::vector<std::vector<PeerId>> slow_owners(const std::vector<Member>& members, std::uint32_t partitions) {
  std::vector<Member> owners;
  double all = 0;
  for (const Member& member : members) {
    if (member.state != MemberState::active || member.capacity == 0) continue;
    owners.push_back(member);
    all += member.capacity;
  }
  std::map<PeerId, double> room;
  for (const Member& member : owners) {
    const double fair = double{1} * partitions * member.capacity / all;
    room[member.id] = std::max(std::ceil(fair), std::floor(1.25 * fair));
  }
  std::vector<std::vector<PeerId>> result;
  for (std::uint32_t partition = 0; partition < partitions; ++partition) {
    std::vector<PeerId> order = nearest_peers(owners, partition);
    const auto chosen = std::find_if(order.begin(), order.end(), [&](const PeerId& id) { return room[id] >= 1; });
    if (chosen != order.end()) {
      --room[*chosen];
      std::rotate(order.begin(), chosen, chosen + 1);
    }
    result.push_back(std::move(order));
  }
  return result;
}

TEST(HashRing, AgreesWithTheSlowTwin_OnRandomRings) {
  std::mt19937 random(1);
  std::size_t second_choices = 0;
  for (int round = 0; round < 20; ++round) {
    std::vector<Member> members;
    const int count = 1 + static_cast<int>(random() % 8);
    for (int i = 0; i < count; ++i) {
      Member member = active(static_cast<int>(random() % 1000) * 10 + i, static_cast<std::uint32_t>(random() % 40));
      member.state = static_cast<MemberState>(random() % 5 == 0 ? random() % 5 : 1);
      members.push_back(member);
    }
    const HashRing ring(members, 64);
    const std::vector<std::vector<PeerId>> expected = slow_owners(members, 64);
    for (std::uint32_t partition = 0; partition < 64; ++partition) {
      ASSERT_EQ(ring.empty(), expected[partition].empty());
      EXPECT_EQ(ring.owners(static_cast<Partition>(partition), 100), expected[partition]);
      if (ring.empty()) continue;
      EXPECT_EQ(ring.owner(static_cast<Partition>(partition)), expected[partition].front());
    }
    std::vector<Member> owners = members;
    std::erase_if(owners, [](const Member& m) { return m.state != MemberState::active || m.capacity == 0; });
    for (std::uint32_t partition = 0; partition < 64 && !ring.empty(); ++partition)
      if (ring.owner(static_cast<Partition>(partition)) != nearest_peers(owners, partition).front()) ++second_choices;
  }
  EXPECT_GT(second_choices, 10u) << "no share was full";
}

TEST(HashRing, OrderOfMembersDoesNotMatter) {
  std::vector<Member> members = peers({100, 70, 30, 100, 10, 100});
  const HashRing ring(members, 1024);
  std::mt19937 random(2);
  for (int round = 0; round < 5; ++round) {
    std::shuffle(members.begin(), members.end(), random);
    const HashRing shuffled(members, 1024);
    EXPECT_EQ(owners_as_text(shuffled, 6), owners_as_text(ring, 6));
    EXPECT_EQ(shuffled.fingerprint(), ring.fingerprint());
  }
}

TEST(HashRing, Karger1997_AJoinMovesPartitionsOnlyToTheJoiner) {
  for (int count = 1; count < 12; ++count) {
    const HashRing before(peers(std::vector<std::uint32_t>(static_cast<std::size_t>(count), 100)), 1024);
    const HashRing after(peers(std::vector<std::uint32_t>(static_cast<std::size_t>(count) + 1, 100)), 1024);
    std::size_t moved = 0;
    for (std::uint32_t i = 0; i < 1024; ++i) {
      const auto partition = static_cast<Partition>(i);
      if (before.owner(partition) == after.owner(partition)) continue;
      ++moved;
      EXPECT_EQ(after.owner(partition), id_of(count));
    }
    EXPECT_EQ(moved, after.partitions_of(id_of(count)).size());
    EXPECT_GT(moved, 1024u / (static_cast<unsigned>(count) + 1) / 2);
    EXPECT_LT(moved, 1024u / (static_cast<unsigned>(count) + 1) * 2);
    EXPECT_NE(before.fingerprint(), after.fingerprint());
  }
}

TEST(HashRing, WhoTakesOverIsTheNextReplica) {
  const std::vector<Member> members = peers({100, 100, 100, 100});
  const HashRing ring(members, 1024);
  for (int gone = 0; gone < 4; ++gone) {
    std::vector<Member> left = members;
    left[static_cast<std::size_t>(gone)].state = MemberState::down;
    const HashRing without(left, 1024);
    for (std::uint32_t i = 0; i < 1024; ++i) {
      std::vector<PeerId> order = ring.owners(static_cast<Partition>(i), 4);
      ASSERT_EQ(order.size(), 4u);
      std::erase(order, id_of(gone));
      EXPECT_EQ(without.owners(static_cast<Partition>(i), 4), order);
    }
  }
}

TEST(HashRing, SharesFollowCapacity) {
  const HashRing ring(peers({100, 100, 100, 200, 50}), 65536);
  const double share = 65536.0 / 550;
  const std::vector<double> capacities = {100, 100, 100, 200, 50};
  std::size_t total = 0;
  for (int i = 0; i < 5; ++i) {
    const std::size_t owned = ring.partitions_of(id_of(i)).size();
    total += owned;
    // 200 points: the standard deviation of a share is about 7 %.
    EXPECT_NEAR(static_cast<double>(owned) / (share * capacities[static_cast<std::size_t>(i)]), 1.0, 0.25);
  }
  EXPECT_EQ(total, 65536u);
}

// Without the bound the largest share is 1.8 and 2.1 times the fair one.
TEST(HashRing, SharesAreBounded_AndAChangeMovesLittleMoreThanItMust) {
  struct Size {
    int peers;
    std::uint32_t partitions;
  };
  for (const auto& [count, partitions] : {Size{100, 1024}, Size{1000, 4096}, Size{1000, 16384}}) {
    const std::vector<Member> members = peers(std::vector<std::uint32_t>(static_cast<std::size_t>(count), 100));
    const HashRing ring(members, partitions);
    std::map<PeerId, std::size_t> shares;
    for (std::uint32_t i = 0; i < partitions; ++i) ++shares[ring.owner(static_cast<Partition>(i))];
    const double fair = double{1} * partitions / count;
    for (const auto& [peer, share] : shares) EXPECT_LE(static_cast<double>(share), 1.25 * fair);
    std::vector<Member> more = members;
    more.push_back(active(count));
    std::vector<Member> fewer = members;
    fewer.pop_back();
    for (const std::vector<Member>& changed : {more, fewer}) {
      const HashRing after(changed, partitions, ring);
      std::size_t moved = 0;
      for (std::uint32_t i = 0; i < partitions; ++i)
        moved += ring.owner(static_cast<Partition>(i)) != after.owner(static_cast<Partition>(i)) ? 1 : 0;
      EXPECT_LT(static_cast<double>(moved), 4 * fair) << count;
    }
  }
}

TEST(HashRing, OnlyIdAndCapacityOfOwnersCount) {
  std::vector<Member> members = peers({100, 100});
  const std::uint64_t fingerprint = HashRing(members, 1024).fingerprint();
  members[0].suspect = true;
  members[0].incarnation = 99;
  members[1].address = "[::1]:1";
  members.push_back(active(7));
  members.back().state = MemberState::joining;
  members.push_back(active(8, 0));
  EXPECT_EQ(HashRing(members, 1024).fingerprint(), fingerprint);
  EXPECT_NE(HashRing(members, 512).fingerprint(), fingerprint);
  members[0].capacity = 101;
  EXPECT_NE(HashRing(members, 1024).fingerprint(), fingerprint);
}

TEST(HashRing, EmptyOrAllWithoutCapacity) {
  EXPECT_TRUE(HashRing().empty());
  EXPECT_TRUE(HashRing({}, 1024).empty());
  EXPECT_TRUE(HashRing({active(1, 0)}, 1024).empty());
  EXPECT_TRUE(HashRing({}, 1024).owners(3, 2).empty());
  EXPECT_TRUE(HashRing({active(1)}, 1024).owners(3, 0).empty());
  EXPECT_TRUE(HashRing({active(1)}, 1024).partitions_of(id_of(2)).empty());
}

// A ring built from another ring equals the ring built from scratch.
TEST(HashRing, TheRingBeforeChangesNothing) {
  std::mt19937 random(7);
  std::vector<Member> members = peers({100, 30, 250});
  HashRing ring(members, 256);
  for (int round = 0; round < 60; ++round) {
    switch (random() % 3) {
      case 0:
        members.push_back(active(10 + static_cast<int>(random() % 20), 1 + static_cast<std::uint32_t>(random() % 300)));
        break;
      case 1:
        if (!members.empty()) members.erase(members.begin() + static_cast<std::ptrdiff_t>(random() % members.size()));
        break;
      default:
        if (!members.empty()) members[random() % members.size()].capacity = static_cast<std::uint32_t>(random() % 300);
        break;
    }
    const std::uint32_t partitions = random() % 10 == 0 ? 512 : 256;
    ring = HashRing(members, partitions, ring);
    const HashRing anew(members, partitions);
    ASSERT_EQ(ring.fingerprint(), anew.fingerprint());
    ASSERT_EQ(HashRing::fingerprint_of(members, partitions), anew.fingerprint());
    for (std::uint32_t i = 0; i < partitions; ++i)
      ASSERT_EQ(ring.owners(static_cast<Partition>(i), 3), anew.owners(static_cast<Partition>(i), 3)) << round;
  }
}

// 100 peers of the largest capacity are 2,000,000 points. Twice as many peers have half as many points each, and their
// shares stay the same.
TEST(HashRing, PointsAreBounded_WhateverTheMembersClaim) {
  const auto shares = [](std::size_t count) {
    std::vector<Member> members;
    for (std::size_t i = 0; i < count; ++i)
      members.push_back(active(static_cast<int>(i), i % 2 == 0 ? max_capacity : max_capacity / 10));
    const HashRing ring(members, 65536);
    EXPECT_LE(ring.points(), HashRing::max_points);
    EXPECT_GT(ring.points(), HashRing::max_points / 4);
    double large = 0;
    for (std::size_t i = 0; i < count; i += 2)
      large += static_cast<double>(ring.partitions_of(id_of(static_cast<int>(i))).size());
    return large / 65536;
  };
  EXPECT_NEAR(shares(180), 10.0 / 11, 0.01);
  EXPECT_NEAR(shares(1800), 10.0 / 11, 0.01);
  std::vector<Member> many;
  for (int i = 0; i < 3000; ++i) many.push_back(active(i, i == 0 ? 1 : max_capacity));
  const HashRing ring(many, 1024);
  EXPECT_LE(ring.points(), HashRing::max_points + many.size());
}

TEST(HashRing, CapacityIsBounded) {
  const HashRing huge({active(1, UINT32_MAX)}, 16);
  EXPECT_EQ(huge.fingerprint(), HashRing({active(1, max_capacity)}, 16).fingerprint());
}

TEST(HashRingDeathTest, PartitionsMustBeAPowerOfTwo) {
  EXPECT_DEATH(HashRing({active(1)}, 1000), "power of two");
  EXPECT_DEATH(HashRing({active(1)}, 0), "power of two");
  EXPECT_DEATH(partition_of(md5("x"), 3), "power of two");
}

TEST(PeerId, HexBothWays) {
  const PeerId id = id_of(3);
  EXPECT_EQ(PeerId::from_hex(id.hex()), id);
  EXPECT_EQ(id.hex().size(), 32u);
  EXPECT_EQ(id.brief(), id.hex().substr(0, 8));
  EXPECT_EQ(PeerId::from_hex("00112233445566778899AABBCCDDEEFF")->hex(), "00112233445566778899aabbccddeeff");
  EXPECT_FALSE(PeerId::from_hex(""));
  EXPECT_FALSE(PeerId::from_hex(std::string(31, '0')));
  EXPECT_FALSE(PeerId::from_hex(std::string(33, '0')));
  EXPECT_FALSE(PeerId::from_hex(std::string(31, '0') + "g"));
}

}  // namespace
}  // namespace orbweaver::ring
