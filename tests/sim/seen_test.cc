// Simulated rings whose seen-sets are Bloom filters (docs/inside/seen-set.md). With a filter that gives no false
// positive the contract holds through joins, leaves, cuts, crashes, restarts and lost disks, as without a filter.
#include <gtest/gtest.h>

#include "tests/sim/scenario.h"

namespace orbweaver::sim {

namespace {

Parameters with_bloom(std::uint64_t seed, std::uint64_t urls, const char* rate) {
  Parameters p = Parameters::draw(seed);
  p.settings.seen = SeenSet::bloom;
  p.settings.seen_urls = urls;
  p.settings.seen_false_positives = rate;
  return p;
}

class SeenSeeds : public testing::TestWithParam<std::uint64_t> {};

TEST_P(SeenSeeds, ContractHoldsBehindAWideFilter) {
  World world(with_bloom(GetParam(), 20'000, "1e-12"), false);
  EXPECT_TRUE(world.run_to_end()) << report(world);
}

INSTANTIATE_TEST_SUITE_P(Sim, SeenSeeds, testing::Range<std::uint64_t>(1, 31));

TEST(SimSeen, TheSameSeedGivesTheSameRun) {
  for (const std::uint64_t seed : {3u, 17u, 39u}) {
    World first(with_bloom(seed, 300, "0.01"), false);
    World second(with_bloom(seed, 300, "0.01"), false);
    first.run_to_end();
    second.run_to_end();
    EXPECT_EQ(first.trace().digest(), second.trace().digest()) << "seed " << seed;
  }
}

// The seeds above would find a filter that loses pages.
TEST(SimSeen, ATinyFilterIsFoundOut) {
  int lost = 0;
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    World world(with_bloom(seed, 10, "0.3"), false);
    if (!world.run_to_end() && world.failures().front().starts_with("lost:")) ++lost;
  }
  EXPECT_GT(lost, 0);
}

}  // namespace

}  // namespace orbweaver::sim
