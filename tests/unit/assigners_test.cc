// Methods that assign keys to peers: each against the promise of its source, and against a slow obvious twin.
#include "node/lab/assigners.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <numeric>
#include <random>

#include "node/lab/partition_lab.h"
#include "ring/hash_ring.h"
#include "ring/messages.h"
#include "storage/link_trace.h"
#include "tests/unit/temp_dir.h"

namespace orbweaver {
namespace {

using Method = AssignerKind::Method;

std::vector<std::uint64_t> names(std::size_t count) {
  std::vector<std::uint64_t> peers(count);
  std::iota(peers.begin(), peers.end(), 1);
  return peers;
}

std::vector<std::uint64_t> keys(std::size_t count) {
  std::mt19937_64 random(1);
  std::vector<std::uint64_t> all(count);
  for (std::uint64_t& key : all) key = random();
  return all;
}

TEST(Assigners, EveryPeerIsNamedByItsPlaceAndTheChoiceIsTheSameEveryTime) {
  for (const AssignerKind& kind : assigner_kinds()) {
    SCOPED_TRACE(kind.name());
    for (const std::size_t peers : {1u, 2u, 7u}) {
      const auto first = make_assigner(kind, names(peers));
      const auto second = make_assigner(kind, names(peers));
      for (const std::uint64_t key : keys(500)) {
        ASSERT_LT(first->owner(key), peers);
        ASSERT_EQ(first->owner(key), second->owner(key));
      }
    }
  }
}

// When a peer joins, only the keys that it gets move; only modulo breaks this.
TEST(Assigners, WhenAPeerJoinsKeysMoveToItAndNowhereElse) {
  for (const AssignerKind& kind : assigner_kinds()) {
    SCOPED_TRACE(kind.name());
    const auto before = make_assigner(kind, names(8));
    const auto after = make_assigner(kind, names(9));
    std::size_t astray = 0;
    for (const std::uint64_t key : keys(2000))
      astray += before->owner(key) != after->owner(key) && after->owner(key) != 8 ? 1 : 0;
    EXPECT_EQ(astray > 0, kind.method == Method::modulo);
  }
}

TEST(Assigners, WhenAPeerLeavesOnlyItsKeysMove) {
  for (const AssignerKind& kind : assigner_kinds()) {
    if (kind.method == Method::modulo || kind.method == Method::jump) continue;  // these do not use the peers' names
    SCOPED_TRACE(kind.name());
    std::vector<std::uint64_t> fewer = names(8);
    fewer.erase(fewer.begin() + 3);
    const auto before = make_assigner(kind, names(8));
    const auto after = make_assigner(kind, fewer);
    for (const std::uint64_t key : keys(2000)) {
      const std::uint64_t was = names(8)[before->owner(key)];
      if (was != 4) {
        EXPECT_EQ(fewer[after->owner(key)], was);
      }
    }
  }
}

TEST(Assigners, ModuloIsTheRemainder) {
  const auto assigner = make_assigner({Method::modulo, 0}, names(7));
  for (const std::uint64_t key : keys(100)) EXPECT_EQ(assigner->owner(key), key % 7);
}

TEST(Assigners, LampingVeach_JumpIsEvenAndMovesTheLeast) {
  const auto ten = make_assigner({Method::jump, 0}, names(10));
  const auto eleven = make_assigner({Method::jump, 0}, names(11));
  std::vector<std::size_t> shares(10);
  std::size_t moved = 0;
  for (const std::uint64_t key : keys(110'000)) {
    ++shares[ten->owner(key)];
    moved += ten->owner(key) == eleven->owner(key) ? 0 : 1;
  }
  for (const std::size_t share : shares) EXPECT_NEAR(static_cast<double>(share), 11'000, 500);
  EXPECT_NEAR(static_cast<double>(moved), 10'000, 500);
}

TEST(Assigners, Karger_MorePointsAreMoreEven) {
  double before = 1e9;
  for (const std::uint32_t points : {1u, 10u, 100u, 1000u}) {
    double spread = 0;
    for (std::uint64_t set = 0; set < 5; ++set) {
      std::vector<std::uint64_t> peers = names(16);
      for (std::uint64_t& peer : peers) peer += set * 100;
      const auto assigner = make_assigner({Method::consistent, points}, peers);
      std::vector<std::size_t> shares(16);
      for (const std::uint64_t key : keys(20'000)) ++shares[assigner->owner(key)];
      spread += static_cast<double>(*std::max_element(shares.begin(), shares.end()));
    }
    EXPECT_LT(spread, before) << points;
    before = spread;
  }
}

TEST(Assigners, RendezvousHasNoPeerWithoutAFairShare) {
  const auto assigner = make_assigner({Method::rendezvous, 0}, names(16));
  std::vector<std::size_t> shares(16);
  for (const std::uint64_t key : keys(32'000)) ++shares[assigner->owner(key)];
  for (const std::size_t share : shares) EXPECT_NEAR(static_cast<double>(share), 2000, 250);
}

TEST(Assigners, TheRingIsTheCrawlersOwn) {
  std::vector<ring::Member> members(5);
  for (std::size_t i = 0; i < members.size(); ++i) {
    const ring::Md5 digest = ring::md5("peer " + std::to_string(i + 1));
    std::copy_n(digest.begin(), members[i].id.bytes.size(), members[i].id.bytes.begin());
    members[i].state = ring::MemberState::active;
  }
  const ring::HashRing ring(members, assigner_partitions);
  const auto assigner = make_assigner({Method::ring, 0}, names(5));
  for (int i = 0; i < 500; ++i) {
    const ring::Md5 digest = ring::md5(std::to_string(i));
    const ring::PeerId owner = ring.owner(ring::partition_of(digest, assigner_partitions));
    EXPECT_EQ(members[assigner->owner(ring::leading_bits(digest))].id, owner);
  }
}

// --- the experiment

TEST(PartitionLab, ByUrlMostLinksCrossAndByDomainTheFewest) {
  const test::TempDir dir;
  auto writer = storage::LinkTraceWriter::open({dir.path(), "t", 1u << 30, {{"peer", "01"}}});
  ASSERT_TRUE(writer);
  std::mt19937_64 random(3);
  const auto url_of = [](std::uint64_t site, std::uint64_t page) {
    return "http://h" + std::to_string(site % 4) + ".d" + std::to_string(site / 4) + ".example/" + std::to_string(page);
  };
  for (std::uint64_t i = 0; i < 2000; ++i) {
    storage::TracePage page;
    const std::uint64_t site = i % 80;
    page.url = url_of(site, i);
    for (int link = 0; link < 10; ++link) {  // half on the host, the other half on its domain
      const std::uint64_t to = link < 5 ? site : site / 4 * 4 + random() % 4;
      page.links.push_back({url_of(to, random() % 2000), 0});
    }
    ASSERT_TRUE(writer->add(page));
  }
  ASSERT_TRUE(writer->close());
  PartitionLabOptions options;
  options.traces = {dir.path()};
  options.peers = {2, 8};
  options.repeats = 2;
  const auto report = run_partition_lab(options);
  ASSERT_TRUE(report) << report.error().message;
  ASSERT_EQ(report->tables.size(), 2u);
  const auto& rows = report->tables[0].rows;  // host 2, host 8, domain 2, domain 8, url 2, url 8
  ASSERT_EQ(rows.size(), 6u);
  EXPECT_DOUBLE_EQ(std::get<double>(rows[3][2]), 0) << "no link leaves its domain";
  EXPECT_GT(std::get<double>(rows[1][2]), 15);
  EXPECT_LT(std::get<double>(rows[1][2]), 45);
  EXPECT_NEAR(std::get<double>(rows[5][2]), 87.5, 3);
  EXPECT_EQ(std::get<std::uint64_t>(rows[1][6]), 0u) << "by host one peer asks for its robots.txt";
  EXPECT_GT(std::get<std::uint64_t>(rows[5][6]), 80u * 6) << "by URL nearly all eight do";
  EXPECT_EQ(report->tables[1].rows.size(), 2 * assigner_kinds().size());
}

TEST(PartitionLab, BadInputIsToldByName) {
  const test::TempDir dir;
  PartitionLabOptions options;
  options.traces = {dir.file("none")};
  EXPECT_NE(run_partition_lab(options).error().message.find("none is not there"), std::string::npos);
  options.peers = {1};
  EXPECT_NE(run_partition_lab(options).error().message.find("--peers holds 1"), std::string::npos);
  options.peers = {2};
  std::ofstream(dir.file("empty.links"));
  options.traces = {dir.path()};
  EXPECT_NE(run_partition_lab(options).error().message.find("empty.links is empty"), std::string::npos);
}

}  // namespace
}  // namespace orbweaver
