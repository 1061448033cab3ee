// When a peer's disk counts as almost full (setting min_free_disk).
#include "node/settings/disk_room.h"

#include <gtest/gtest.h>

namespace orbweaver {
namespace {

constexpr std::uint64_t mib = 1 << 20;

TEST(DiskRoom, WithoutASettingItFollowsTheDisk) {
  EXPECT_EQ(min_free_disk(0, 1'000'000 * mib), 512 * mib);
  EXPECT_EQ(min_free_disk(0, 100 * mib), 2 * mib);
  EXPECT_EQ(min_free_disk(1, 100 * mib), 1u) << "never";
  EXPECT_EQ(min_free_disk(50'000 * mib, 100 * mib), 50'000 * mib) << "what its user says counts";
}

TEST(DiskRoom, ItIsLowBelowTheBoundAndHasRoomAgainWithAQuarterMore) {
  EXPECT_FALSE(is_disk_low(100, 100, false));
  EXPECT_TRUE(is_disk_low(99, 100, false));
  EXPECT_TRUE(is_disk_low(124, 100, true));
  EXPECT_FALSE(is_disk_low(125, 100, true));
  EXPECT_FALSE(is_disk_low(1, 1, false));
}

}  // namespace
}  // namespace orbweaver
