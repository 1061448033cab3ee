// The measurements of the scale program, on rings small enough for a test.
#include "tests/sim/scale.h"

#include <gtest/gtest.h>

#include "node/config/settings_table.h"
#include "node/settings/settings.h"

namespace orbweaver::sim {

namespace {

double in_seconds(Duration duration) { return std::chrono::duration<double>(duration).count(); }

TEST(Scale, EveryPeerLearnsOfAJoinALeaveAndACrash) {
  const RingScale ring = measure_ring(12, 1, 2);
  const double suspicion = in_seconds(default_settings().suspicion_time);
  EXPECT_LT(ring.join_seconds.largest, 1);
  EXPECT_LT(ring.leave_seconds.largest, 1);
  EXPECT_GE(ring.first_down_seconds.mean, suspicion);
  EXPECT_GE(ring.crash_seconds.mean, ring.first_down_seconds.mean);
  EXPECT_LT(ring.crash_seconds.largest, 2 * suspicion);
  EXPECT_GT(ring.join_bytes, 0);
}

// SWIM: the number of messages per peer does not grow with the ring.
TEST(Scale, ALargerRingSendsNoMoreMessagesForAPeer) {
  const RingScale small = measure_ring(12, 1, 1);
  const RingScale large = measure_ring(48, 1, 1);
  EXPECT_NEAR(small.gossip_messages_a_second, large.gossip_messages_a_second, 0.5);
  EXPECT_GT(small.gossip_messages_a_second, 1);
}

TEST(Scale, SameSeedSameFigures) {
  const RingScale first = measure_ring(12, 7, 1);
  const RingScale second = measure_ring(12, 7, 1);
  EXPECT_EQ(first.gossip_bytes_a_second, second.gossip_bytes_a_second);
  EXPECT_EQ(first.crash_seconds.mean, second.crash_seconds.mean);
  EXPECT_EQ(first.join_bytes, second.join_bytes);
}

// DESIGN: a join or leave moves about 1/N of the partitions and no others.
TEST(Scale, AJoinOrLeaveMovesItsShareAndNoOthers) {
  const OwnersScale owners = measure_owners(16, 4096, 3, 8);
  EXPECT_EQ(owners.moved_elsewhere, 0u);
  EXPECT_EQ(owners.leave_moved_over_least.largest, 1);
  EXPECT_NEAR(owners.join_moved_over_least.mean, 1, 0.3);
  EXPECT_GE(owners.largest_over_fair, 1);
  EXPECT_LE(owners.smallest_over_fair, 1);
}

}  // namespace

}  // namespace orbweaver::sim
