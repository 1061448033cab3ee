// Settings of the release before: their names and values are taken, wherever a setting comes from.
#include "node/config/old_settings.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "node/config/settings_table.h"
#include "node/config/sources/load_settings.h"
#include "node/coordination/admission.h"
#include "node/crawl/meta_names.h"
#include "node/peer/core.h"
#include "tests/unit/peer_rig.h"
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
  EXPECT_EQ(loaded->warnings[3],
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

TEST_F(OldSettings, TranslatedThereAndBackIsTheSame) {
  Settings settings = default_settings();
  ASSERT_TRUE(set_setting(settings, "sitemaps", "well_known"));
  const NamedValues now = ring_wide_settings(settings);
  const NamedValues before = of_the_release_before(now);
  EXPECT_NE(before, now);
  EXPECT_EQ(of_now(before), now);
  EXPECT_EQ(of_now(now), now) << "what is of now stays";
  Settings other = default_settings();
  ASSERT_TRUE(apply_ring_wide(other, before));
  EXPECT_EQ(ring_wide_settings(other), now);
}

TEST_F(OldSettings, AJoinerAsksInTheOldNames) {
  Admission admission({{"max_redirects", "flag --max-redirects"}}, {"10.0.0.2:7400"});
  Settings settings = rig_settings();
  ASSERT_TRUE(set_setting(settings, "max_redirects", "7"));
  const ring::Join join = admission.ask({}, PeerRig::self(), {}, settings);
  EXPECT_EQ(join.given, (ring::Settings{{"redirects_max", "7"}}));
}

// A directory of the release before, and the settings with which it is started again.
Result<std::unique_ptr<Core>> open_old(storage::Store& store, LoadedSettings settings) {
  Settings of_the_crawl = rig_settings();
  EXPECT_TRUE(set_setting(of_the_crawl, "max_redirects", "7"));
  storage::Commit commit;
  commit.meta.emplace_back(meta_name::ring, rig_id(200).hex());
  commit.meta.emplace_back(meta_name::peer, rig_id(1).hex());
  commit.meta.emplace_back(meta_name::settings,
                           nlohmann::json(of_the_release_before(ring_wide_settings(of_the_crawl))).dump());
  EXPECT_TRUE(store.commit(commit));
  PeerStart start;
  start.settings = std::move(settings);
  start.address = "10.0.0.1:7400";
  start.fresh_id = rig_id(1);
  start.fresh_ring = rig_id(200);
  start.random_seed = 1;
  return Core::open(std::move(start), store, Time(std::chrono::hours{480'000}));
}

TEST_F(OldSettings, ADirectoryOfTheReleaseBeforeStarts) {
  storage::MemoryKv kv;
  storage::Store store = *storage::Store::open(kv);
  LoadedSettings given{.values = rig_settings(), .given = {{"max_redirects", "flag --max-redirects"}}, .warnings = {}};
  ASSERT_TRUE(set_setting(given.values, "max_redirects", "7"));
  const auto core = open_old(store, given);
  ASSERT_TRUE(core) << core.error().message;
  EXPECT_EQ(setting_text((*core)->settings(), "max_redirects"), "7");
}

TEST_F(OldSettings, ADirectoryOfTheReleaseBeforeRefusesAnotherValue) {
  storage::MemoryKv kv;
  storage::Store store = *storage::Store::open(kv);
  LoadedSettings given{.values = rig_settings(), .given = {{"max_redirects", "flag --max-redirects"}}, .warnings = {}};
  ASSERT_TRUE(set_setting(given.values, "max_redirects", "8"));
  const auto core = open_old(store, given);
  ASSERT_FALSE(core);
  EXPECT_NE(core.error().message.find("'max_redirects' is 7"), std::string::npos) << core.error().message;
}

}  // namespace
}  // namespace orbweaver
