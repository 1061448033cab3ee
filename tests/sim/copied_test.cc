// A data directory that was copied: two processes have one identity. The first goes on, the second must end and say
// why, and the crawl is as if it had never been.
#include <gtest/gtest.h>

#include "tests/sim/scenario.h"

namespace orbweaver::sim {

namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class CopiedDirectory : public Scenario {};

INSTANTIATE_TEST_SUITE_P(Sim, CopiedDirectory, testing::Range<std::uint64_t>(1, 21));

TEST_P(CopiedDirectory, IsRefusedAndTheFirstGoesOn) {
  Parameters p = scene(GetParam());
  p.settings.suspicion_time = seconds{3};
  p.settings.replicas = 1 + GetParam() % 2;
  p.faults_end = seconds{20};
  World world(p, false);
  const Duration when = seconds{4} + milliseconds{37 * GetParam()};
  const std::size_t first = GetParam() % p.peers;
  std::optional<std::size_t> copy;
  expect_under_way(world, when);
  world.at(when, [&] { copy = world.start_copy(first); });
  world.at(when + seconds{10}, [&] {
    EXPECT_EQ(world.peers()[*copy].status, Status::gone);
    EXPECT_EQ(world.peers()[first].status, Status::up);
  });
  judge(world);
  ASSERT_TRUE(copy);
  ASSERT_TRUE(world.peers()[*copy].exit);
  EXPECT_EQ(world.peers()[*copy].exit->code, static_cast<int>(ErrorCode::in_use));
  EXPECT_NE(world.peers()[*copy].exit->message.find("copied"), std::string::npos);
}

}  // namespace

}  // namespace orbweaver::sim
