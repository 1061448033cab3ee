// The plan of descriptors: how many each user gets, what is reduced, and in which order.
#include "node/settings/descriptor_plan.h"

#include <gtest/gtest.h>

#include "node/config/settings_table.h"

namespace orbweaver {
namespace {

TEST(DescriptorPlan, DefaultsFitIntoWhatTheSystemUsuallyAllows) {
  const Settings settings = default_settings();
  const DescriptorPlan plan = plan_descriptors(settings, open_files_usual);
  EXPECT_TRUE(plan.fits);
  EXPECT_EQ(plan.max_fetches, settings.max_fetches);
  EXPECT_EQ(plan.kept_connections, 4096u);
  EXPECT_EQ(plan.store_files, 512u);
  EXPECT_EQ(plan.unknown_connections, settings.max_unknown_connections);
  EXPECT_EQ(plan.members, 4096u);
}

// The usual soft limit: 799 descriptors were measured with the defaults, and the store might have used 512 more.
TEST(DescriptorPlan, AThousandKeepTheFetchesWhole) {
  const Settings settings = default_settings();
  const DescriptorPlan plan = plan_descriptors(settings, 1024);
  EXPECT_TRUE(plan.fits);
  EXPECT_LE(plan.sum(), 1024u);
  EXPECT_EQ(plan.max_fetches, settings.max_fetches);
  EXPECT_LT(plan.kept_connections, 512u);
}

TEST(DescriptorPlan, KeptConnectionsGoFirst_ThenTheStore_ThenFetches) {
  Settings settings = default_settings();
  for (const std::uint32_t fetches : {4u, 256u, 10'000u}) {
    settings.max_fetches = fetches;
    for (std::uint64_t limit = 1; limit < 70'000; limit += 1 + limit / 50) {
      const DescriptorPlan plan = plan_descriptors(settings, limit);
      EXPECT_EQ(plan.fits, plan.sum() <= limit) << limit;
      EXPECT_LE(plan.max_fetches, fetches);
      EXPECT_GE(plan.max_fetches, 4u);
      EXPECT_GE(plan.store_files, 20u);
      if (plan.store_files < 512) {
        EXPECT_LE(plan.kept_connections, 128u) << limit;
      }
      if (plan.max_fetches < fetches) {
        EXPECT_LE(plan.store_files, 128u) << limit;
      }
      if (!plan.fits) {
        EXPECT_EQ(plan.kept_connections + plan.max_fetches + plan.store_files, 24u) << limit;
      }
    }
  }
}

TEST(DescriptorPlan, NoMoreIsTakenThanMustBe) {
  const Settings settings = default_settings();
  for (std::uint64_t limit = 700; limit < 3000; limit += 7) {
    const DescriptorPlan plan = plan_descriptors(settings, limit);
    const bool shrunk = plan.kept_connections < 512 || plan.store_files < 512 || plan.max_fetches < 256;
    if (shrunk) {
      EXPECT_GE(plan.sum() + 2, limit) << limit;
    }
  }
}

}  // namespace
}  // namespace orbweaver
