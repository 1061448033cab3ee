// The common starting point of the named scenarios. Thread rule: functions of their arguments.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "tests/sim/world.h"

namespace orbweaver::sim {

// Parameters, the last events and the failures, as text for people.
std::string report(const World& world);

// Some host has work for half a minute at one request per second, whatever the scope is.
bool lasts(const Parameters& p);

// Four peers, a calm network, a web of a dozen hosts that takes half a minute or more.
Parameters scene(std::uint64_t seed);

// A named scenario, on several webs.
class Scenario : public testing::TestWithParam<std::uint64_t> {
 protected:
  // The fault must come while the crawl is in progress, else the scenario tests nothing.
  static void expect_under_way(World& world, Duration at) {
    world.at(at, [&world] { EXPECT_FALSE(world.ending()) << "the crawl was over before the scenario began"; });
  }
  static void judge(World& world) {
    EXPECT_TRUE(world.run_to_end()) << report(world);
    for (const auto& [what, times] : world.stats().tolerated) {
      std::string name = what;
      std::replace(name.begin(), name.end(), ' ', '_');
      RecordProperty(name, std::to_string(times));
    }
  }
};

}  // namespace orbweaver::sim
