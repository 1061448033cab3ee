// What deeds of the ring may cost, in bytes: functions of the seed, so bounds can be asserted.
#include "tests/sim/deeds.h"

#include <gtest/gtest.h>

#include <map>

namespace orbweaver::sim {

namespace {

std::map<std::string, Deed> deeds_of(const DeedOptions& options) {
  std::map<std::string, Deed> deeds;
  const auto failure = measure_deeds(options, [&](const Deed& deed) { deeds[deed.name] = deed; });
  EXPECT_FALSE(failure) << *failure;
  return deeds;
}

// docs/decisions/0030-compare-by-ranges.md: it was 2.6 MB when each member got the whole table of tenures.
TEST(Deeds, OneOfFiftyPeersStartsAgainForLessThan100Kilobytes) {
  const auto deeds = deeds_of({.peers = 50, .partitions = 1024, .restart_only = true});
  EXPECT_LT(deeds.at("one starts again").bytes, 100'000);
  EXPECT_GT(deeds.at("one starts again").messages, 50) << "it asks every member what it has";
}

}  // namespace

}  // namespace orbweaver::sim
