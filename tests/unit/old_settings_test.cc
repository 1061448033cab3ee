// Settings of the previous release: their names and values are accepted, wherever a setting comes from.
#include "node/config/old_settings.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <set>

#include "node/config/settings_table.h"
#include "node/config/sources/load_settings.h"
#include "tests/unit/temp_dir.h"

namespace orbweaver {
namespace {

std::set<std::string> row_names() {
  std::set<std::string> names;
  for (const SettingRow& row : setting_rows()) names.insert(row.name);
  return names;
}

class OldSettings : public testing::Test {
 protected:
  std::string file(const std::string& text) {
    const std::string path = directory_.file("orbweaver.toml");
    std::ofstream(path, std::ios::binary) << text;
    return path;
  }

  test::TempDir directory_;
};

TEST_F(OldSettings, EachLeadsToARowOfTheTableAndNoneIsOne) {
  const std::set<std::string> names = row_names();
  std::set<std::string_view> was, is;
  for (const OldName& old : old_names()) {
    EXPECT_FALSE(names.contains(std::string(old.was))) << old.was;
    EXPECT_TRUE(names.contains(std::string(old.name))) << old.name;
    EXPECT_TRUE(was.insert(old.was).second && is.insert(old.name).second) << old.was;
  }
  for (const OldValue& old : old_values()) {
    Settings settings = default_settings();
    EXPECT_TRUE(set_setting(settings, old.name, old.value)) << old.value;
    EXPECT_EQ(setting_text(settings, old.name), old.value);
  }
}

TEST_F(OldSettings, BoundsBeginWithMaxAndNoneEndsWithIt) {
  for (const std::string& name : row_names()) {
    EXPECT_FALSE(name.ends_with("_max") || name.ends_with("_min")) << name;
    EXPECT_FALSE(name.ends_with("_in_memory") && !name.starts_with("max_")) << name;
    EXPECT_FALSE(name.ends_with("_entries") && !name.starts_with("max_")) << name;
  }
}

TEST_F(OldSettings, AFileAVariableAndAFlagAreTakenWithAWarningEach) {
  const std::string path = file("fetches_max = 7\nendings_deny = [\"pdf\"]\nmax_depth = 3\n");
  ::setenv("ORBWEAVER_GONE_AFTER", "9m", 1);
  const auto loaded = load_settings(path, {{"sitemaps", "usual"}, {"endings_allow", "html"}, {"endings_allow", "txt"}});
  ::unsetenv("ORBWEAVER_GONE_AFTER");
  ASSERT_TRUE(loaded) << loaded.error().message;
  EXPECT_EQ(setting_text(loaded->values, "max_fetches"), "7");
  EXPECT_EQ(setting_text(loaded->values, "extensions_deny"), "pdf");
  EXPECT_EQ(setting_text(loaded->values, "presume_dead_after"), "9m");
  EXPECT_EQ(setting_text(loaded->values, "sitemaps"), "well_known");
  EXPECT_EQ(setting_text(loaded->values, "extensions_allow"), "html,txt") << "flags of a list add up";
  EXPECT_EQ(loaded->given.at("max_fetches"), path + ":1") << "given under the name of now";
  EXPECT_FALSE(loaded->given.contains("fetches_max"));
  ASSERT_EQ(loaded->warnings.size(), 6u);
  EXPECT_EQ(loaded->warnings[0],
            path + ":1: fetches_max is now called max_fetches; release 0.2.0 will not accept the old name");
  EXPECT_EQ(
      loaded->warnings[2],
      "ORBWEAVER_GONE_AFTER: gone_after is now called presume_dead_after; release 0.2.0 will not accept the old name");
  EXPECT_EQ(loaded->warnings[5],
            "flag --sitemaps: sitemaps = usual is now called well_known; release 0.2.0 will not accept the old name");
}

TEST_F(OldSettings, ABadValueIsRefusedUnderTheNameOfNow) {
  const auto loaded = load_settings(file("fetches_max = 0\n"), {});
  ASSERT_FALSE(loaded);
  EXPECT_NE(loaded.error().message.find("max_fetches: "), std::string::npos) << loaded.error().message;
}

TEST_F(OldSettings, OfTwoVariablesTheNewNameHolds) {
  ::setenv("ORBWEAVER_FETCHES_MAX", "7", 1);
  ::setenv("ORBWEAVER_MAX_FETCHES", "8", 1);
  ::setenv("ORBWEAVER_ZONE", "9", 1);
  const auto unknown = load_settings("", {});
  ::unsetenv("ORBWEAVER_ZONE");
  const auto loaded = load_settings("", {});
  ::unsetenv("ORBWEAVER_FETCHES_MAX");
  ::unsetenv("ORBWEAVER_MAX_FETCHES");
  EXPECT_FALSE(unknown) << "and a name that never was is an error";
  ASSERT_TRUE(loaded) << loaded.error().message;
  EXPECT_EQ(setting_text(loaded->values, "max_fetches"), "8");
}

TEST_F(OldSettings, NewNamesWarnOfNothing) {
  const auto loaded = load_settings(file("max_fetches = 7\nsitemaps = \"robots\"\n"), {});
  ASSERT_TRUE(loaded) << loaded.error().message;
  EXPECT_TRUE(loaded->warnings.empty());
}

TEST_F(OldSettings, WhereBothAreGivenTheNewNameHolds) {
  for (const bool old_last : {false, true}) {
    std::vector<std::pair<std::string, std::string>> flags = {{"retries", "2"}, {"max_retries", "5"}};
    if (old_last) std::swap(flags[0], flags[1]);
    const auto by_flags = load_settings("", flags);
    ASSERT_TRUE(by_flags) << by_flags.error().message;
    EXPECT_EQ(setting_text(by_flags->values, "max_retries"), "5");
    const auto by_file =
        load_settings(file(old_last ? "max_retries = 5\nretries = 2\n" : "retries = 2\nmax_retries = 5\n"), {});
    ASSERT_TRUE(by_file) << by_file.error().message;
    EXPECT_EQ(setting_text(by_file->values, "max_retries"), "5");
  }
}

}  // namespace
}  // namespace orbweaver
