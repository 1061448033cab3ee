// The settings of the seen-set, and the guard over large allocations.
#include <gtest/gtest.h>

#include <fstream>

#include "node/config/settings_table.h"
#include "node/settings/settings.h"
#include "node/system/memory_available.h"
#include "tests/unit/temp_dir.h"

namespace orbweaver {
namespace {

TEST(SeenSettings, ExactIsTheDefault) { EXPECT_EQ(default_settings().seen, SeenSet::exact); }

TEST(SeenSettings, TheRateIsANumberWithinBounds) {
  Settings settings = default_settings();
  for (const char* const good : {"0.5", "1e-6", "0.000001", "1e-12"}) {
    EXPECT_TRUE(set_setting(settings, "seen_false_positives", good)) << good;
    EXPECT_EQ(setting_text(settings, "seen_false_positives"), good);
  }
  for (const char* const bad : {"", "0", "1", "-1e-6", "1e-13", "0.51", "nan", "inf", "one", "1e-6x", " 1e-6"}) {
    const auto set = set_setting(settings, "seen_false_positives", bad);
    ASSERT_FALSE(set) << bad;
    EXPECT_NE(set.error().message.find("1e-12 to 0.5"), std::string::npos) << set.error().message;
    EXPECT_NE(set.error().message.find("seen_false_positives"), std::string::npos) << set.error().message;
  }
}

TEST(SeenSettings, TheFilterFollowsFromTheSettings) {
  Settings settings = default_settings();
  EXPECT_EQ(seen_filter_config(settings).urls, 10'000'000u);
  EXPECT_EQ(seen_filter_config(settings).rate, 1e-6);
  // As the setting's description says: 36 MB, and twice that where the way to a page matters.
  const std::uint64_t bytes = storage::SeenFilter::plan(seen_filter_config(settings)).bytes();
  EXPECT_NEAR(static_cast<double>(bytes), 36e6, 0.1e6);
  for (const char* const name : {"max_depth", "max_hops_off_site"}) {
    Settings limited = default_settings();
    ASSERT_TRUE(set_setting(limited, name, "3"));
    EXPECT_TRUE(seen_filter_config(limited).way_matters);
    EXPECT_NEAR(static_cast<double>(storage::SeenFilter::plan(seen_filter_config(limited)).bytes()),
                2 * static_cast<double>(bytes), 64);
  }
}

TEST(MemoryAvailable, Proc5_TheLineMemAvailable) {
  const test::TempDir directory;
  const std::string path = directory.file("meminfo");
  std::ofstream(path) << "MemTotal:       24000000 kB\nMemFree: 1 kB\nMemAvailable:   2048 kB\nBuffers: 7 kB\n";
  const auto bytes = memory_available(path);
  ASSERT_TRUE(bytes) << bytes.error().message;
  EXPECT_EQ(*bytes, 2048u * 1024);
  EXPECT_FALSE(memory_available(directory.file("none")));
  EXPECT_GT(memory_available().value_or(0), 1u << 20);
}

TEST(MemoryAvailable, MoreThanThereIsIsAnErrorWithBothNumbers) {
  EXPECT_TRUE(check_memory("it", 10, 10));
  const auto refused = check_memory("a filter", 3u << 20, std::uint64_t{1} << 20);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::invalid_setting);
  EXPECT_EQ(refused.error().message, "a filter takes 3.0 MiB of memory, and 1.0 MiB are available");
  EXPECT_TRUE(check_memory("it", 10, fail(ErrorCode::unsupported, "no such line")));
}

}  // namespace
}  // namespace orbweaver
