// An owner that takes no links for long: what depends on it waits, and nothing else (review of the core, F12).
#include <gtest/gtest.h>

#include "tests/sim/scenario.h"

namespace orbweaver::sim {

namespace {

using std::chrono::seconds;

constexpr std::size_t slow_peer = 3;

class SlowOwner : public testing::TestWithParam<std::uint64_t> {
 protected:
  // Few outcomes fit: what hours bring with the default comes within seconds.
  static Parameters parameters() {
    Parameters p = scene(GetParam());
    p.settings.replicas = 2;
    p.settings.max_outbox_records_in_memory = 32;
    p.web.hosts = 24;
    p.web.pages_per_host = 150;
    p.seed_hosts = 24;
    return p;
  }
  // Requests from 10 s to 70 s, when the peer takes no links, if `slow`.
  static std::uint64_t requests(bool slow) {
    World world(parameters(), false);
    std::uint64_t before = 0, after = 0;
    world.at(seconds{10}, [&] {
      before = world.stats().requests;
      if (slow) world.take_no_links(slow_peer, seconds{60});
    });
    world.at(seconds{70}, [&] {
      EXPECT_FALSE(world.ending());
      after = world.stats().requests;
    });
    EXPECT_TRUE(world.run_to_end()) << report(world);
    return after - before;
  }
};

TEST_P(SlowOwner, DoesNotStopTheOthers) {
  const std::uint64_t without = requests(false);
  EXPECT_GT(without, 300u) << "the crawl is too small to show it";
  EXPECT_GE(requests(true) * 10, without * 7);
}

INSTANTIATE_TEST_SUITE_P(Sim, SlowOwner, testing::Range<std::uint64_t>(1, 5));

}  // namespace

}  // namespace orbweaver::sim
