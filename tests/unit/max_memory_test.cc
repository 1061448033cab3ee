// One budget for a peer's memory: how it is split, what counts against a share, what is left out to respect it.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <future>
#include <thread>

#include "node/config/settings_table.h"
#include "node/config/sources/load_settings.h"
#include "node/html/links.h"
#include "node/memory/decode_room.h"
#include "node/memory/links_room.h"
#include "node/memory/memory_share.h"
#include "node/process/in_flight.h"
#include "node/settings/memory_plan.h"
#include "node/sitemap/sitemap.h"
#include "node/system/memory_available.h"
#include "tests/unit/temp_dir.h"

namespace orbweaver {
namespace {

constexpr std::uint64_t mib = std::uint64_t{1} << 20;

TEST(MemoryPlan, SharesAreTheWhole) {
  Settings settings;
  settings.max_memory = 512 * mib;
  const MemoryPlan plan = plan_memory(settings, 64 * 1024 * mib);
  std::uint64_t all = 0;
  for (const auto& [name, bytes] : plan.shares()) {
    EXPECT_GT(bytes, 0u) << name;
    all += bytes;
  }
  EXPECT_EQ(all, 512 * mib);
}

TEST(MemoryPlan, WithoutASettingHalfOfTheMachineSharedByItsPeersUpTo4GiB) {
  EXPECT_EQ(automatic_memory(1024 * mib, 1), 512 * mib);
  EXPECT_EQ(automatic_memory(16 * 1024 * mib, 4), 2048 * mib);
  EXPECT_EQ(automatic_memory(64 * 1024 * mib, 1), 4096 * mib);
  EXPECT_EQ(automatic_memory(0, 1), max_memory_least) << "not known";
  EXPECT_EQ(plan_memory(Settings{}, 1024 * mib).total, 512 * mib);
}

TEST(MemoryPlan, ASettingNeverExceedsItsShareAndAWordIsSaid) {
  Settings settings = load_settings("", {{"max_memory", "512MiB"}}).value().values;
  const MemoryPlan plan = plan_memory(settings, 0);
  std::vector<std::string> reported = fit_settings(settings, {}, plan);
  EXPECT_EQ(settings.max_body_memory, plan.bodies);
  EXPECT_LE(2 * settings.max_body_bytes, plan.bodies);
  EXPECT_LE(2 * settings.max_decoded_bytes, plan.decoded);
  EXPECT_EQ(settings.max_storage_memory + write_buffer_bytes(plan), plan.storage);
  for (const char* name : {"max_body_bytes", "max_decoded_bytes", "max_hosts_in_memory"})
    EXPECT_TRUE(std::any_of(reported.begin(), reported.end(), [&](const std::string& line) {
      return line.starts_with(name);
    })) << name;

  Settings small = load_settings("", {{"max_body_memory", "1MiB"}, {"max_body_bytes", "1MiB"}}).value().values;
  reported = fit_settings(small, {{"max_body_memory", "flag"}}, plan_memory(small, 8192 * mib));
  EXPECT_EQ(small.max_body_memory, mib);
  EXPECT_EQ(reported, std::vector<std::string>());
}

TEST(MemoryPlan, TooLittleIsRefused) {
  const auto loaded = load_settings("", {{"max_memory", "64MiB"}});
  ASSERT_FALSE(loaded);
  EXPECT_NE(loaded.error().message.find("128MiB"), std::string::npos) << loaded.error().message;
}

void write(const std::filesystem::path& path, const std::string& text) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path) << text;
}

TEST(MachineMemory, TheLeastOfTheMachineAndOfAllControlGroupsAbove) {
  const test::TempDir dir;
  const std::string proc = dir.file("proc");
  const std::string groups = dir.file("groups");
  write(proc + "/meminfo", "MemTotal:       8388608 kB\nMemFree: 1 kB\n");
  EXPECT_EQ(memory_of_machine(proc, groups), 8192 * mib);
  write(proc + "/self/cgroup", "0::/a/b\n");
  write(groups + "/a/b/memory.max", "max\n");
  EXPECT_EQ(memory_of_machine(proc, groups), 8192 * mib);
  write(groups + "/a/memory.max", std::to_string(600 * mib) + "\n");
  EXPECT_EQ(memory_of_machine(proc, groups), 600 * mib);
  write(proc + "/self/cgroup", "5:cpu:/x\n4:memory:/job\n0::/\n");
  write(groups + "/memory/memory.limit_in_bytes", "9223372036854771712\n");
  write(groups + "/memory/job/memory.limit_in_bytes", std::to_string(700 * mib) + "\n");
  EXPECT_EQ(memory_of_machine(proc, groups), 700 * mib);
  EXPECT_EQ(memory_of_machine(dir.file("none"), groups), 0u);
}

TEST(MemoryShare, AChargeRidesAlongAndIsGivenBackOnce) {
  const auto share = std::make_shared<MemoryShare>(100);
  {
    share->take(60);
    MemoryCharge first(share, 60);
    MemoryCharge second = std::move(first);
    EXPECT_EQ(share->used(), 60u);
    second.set(80);
    EXPECT_FALSE(share->has_room(30));
  }
  EXPECT_EQ(share->used(), 0u);
  EXPECT_EQ(share->peak(), 80u);
}

TEST(MemoryShare, WhoFindsNoRoomWaitsAndOneLargerThanAllPassesAlone) {
  const auto share = std::make_shared<MemoryShare>(100);
  share->wait_and_take(500);
  std::promise<void> got;
  std::thread other([&] {
    share->wait_and_take(10);
    got.set_value();
  });
  std::future<void> has = got.get_future();
  while (share->waits() == 0) std::this_thread::yield();
  share->give_back(500);
  has.wait();
  other.join();
  EXPECT_EQ(share->used(), 10u);
}

TEST(MemoryShare, NobodyWaitsWhenThoseWhoGiveBackHaveStopped) {
  const auto share = std::make_shared<MemoryShare>(10);
  share->take(10);
  std::thread other([&] { share->wait_and_take(10); });
  share->stop_waiting();
  other.join();
  EXPECT_EQ(share->used(), 20u);
}

TEST(DecodeRoom, SmallPartsAndOneLargeOneAreTheShare) {
  const auto share = std::make_shared<MemoryShare>(100 * mib);
  DecodeRoom room(share, 3);
  DecodeLease small(room, false);
  EXPECT_EQ(small.left(), max_decode_small);
  small.take(mib);
  EXPECT_EQ(small.left(), max_decode_small - mib);
  small.want(mib);
  EXPECT_FALSE(small.outgrown());
  small.want(50 * mib);
  EXPECT_TRUE(small.outgrown());
  DecodeLease large(room, true);
  EXPECT_EQ(large.left(), 100 * mib - 3 * max_decode_small);
  large.want(200 * mib);
  EXPECT_FALSE(large.outgrown()) << "there is nothing larger: what does not fit is cut";
  EXPECT_EQ(decode_small_of(8 * mib, 4), mib);
}

TEST(LinksRoom, LargePagesHaveHalfOfItAtMost) {
  const auto share = std::make_shared<MemoryShare>(100);
  LinksRoom room(share);
  std::shared_ptr<void> first = room.wait_and_take(50, true);
  EXPECT_FALSE(room.has_room(1, true));
  EXPECT_TRUE(room.has_room(50, false)) << "the links of a large page are being committed";
  const std::shared_ptr<void> other = room.wait_and_take(20, false);
  EXPECT_EQ(share->used(), 70u);
  first.reset();
  EXPECT_TRUE(room.has_room(50, true));
  EXPECT_EQ(share->used(), 20u);
}

PageLinks many_links(std::size_t count) {
  PageLinks page;
  page.base = "http://a.test/" + std::string(3900, 'b') + "/";
  for (std::size_t i = 0; i < count; ++i) page.links.push_back({std::to_string(i), LinkKind::anchor, false, false});
  return page;
}

TEST(LinkBudget, ALongBaseMakesNoMoreThanTheBudgetAndTheRestIsCounted) {
  LinkRules rules;
  rules.max_bytes = mib;
  const ResolvedLinks links = resolve_links(many_links(100'000), Url::parse("http://a.test/").value(), nullptr, rules);
  std::uint64_t bytes = 0;
  for (const CanonicalUrl& url : links.urls) bytes += url.text().size();
  EXPECT_LE(bytes, mib);
  EXPECT_GT(bytes, mib - 4096);
  EXPECT_EQ(links.urls.size() + links.over_budget, 100'000u);
}

TEST(LinkBudget, OrdinaryPagesLoseNothing) {
  PageLinks page;
  for (int i = 0; i < 1000; ++i) page.links.push_back({"/p" + std::to_string(i), LinkKind::anchor, false, false});
  LinkRules rules;
  rules.max_bytes = mib;
  const ResolvedLinks links = resolve_links(page, Url::parse("http://a.test/").value(), nullptr, rules);
  EXPECT_EQ(links.urls.size(), 1000u);
  EXPECT_EQ(links.over_budget, 0u);
}

TEST(LinkBudget, HoldsForSitemapsToo) {
  Sitemap sitemap;
  for (int i = 0; i < 100; ++i) sitemap.entries.push_back({"http://a.test/" + std::to_string(1000 + i), {}, {}, {}});
  const SitemapUrls urls = resolve_entries(sitemap, Url::parse("http://a.test/sitemap.xml").value(), {}, 10 * 18);
  EXPECT_EQ(urls.urls.size(), 10u);
  EXPECT_EQ(urls.lastmods.size(), 10u);
  EXPECT_EQ(urls.over_budget, 90u);
}

storage::UrlKey key_of(std::uint8_t number) {
  storage::UrlKey key;
  key.host.partition = static_cast<std::uint16_t>(300 + number);
  key.host.host.fill(number);
  key.url.fill(static_cast<std::uint8_t>(number + 100));
  return key;
}

TEST(InFlight, WhatWasAtWorkWhenAProcessDiedIsLeftAndNothingElse) {
  const test::TempDir dir;
  const std::string path = dir.file("at-work");
  {
    auto in_flight = InFlight::open(path, 3).value();
    in_flight->clear();
    InFlightMark reading = in_flight->begin(key_of(1));
    InFlightMark waiting = in_flight->begin(key_of(2));
    waiting.waits();
    { const InFlightMark done = in_flight->begin(key_of(3)); }
    InFlightMark again = in_flight->begin(key_of(4));
    again.waits();
    again.at_work();
    // The process dies: the next one finds the present content of the file.
    std::filesystem::copy_file(path, path + "-then");
  }
  auto next = InFlight::open(path + "-then", 3).value();
  ASSERT_EQ(next->left().size(), 2u);
  EXPECT_TRUE((next->left()[0] == key_of(1) && next->left()[1] == key_of(4)) ||
              (next->left()[0] == key_of(4) && next->left()[1] == key_of(1)));
  next->clear();
  next.reset();
  EXPECT_TRUE(InFlight::open(path + "-then", 3).value()->left().empty());
}

TEST(InFlight, MorePagesThanPlacesGoUnmarkedAndACleanEndLeavesNoFile) {
  const test::TempDir dir;
  const std::string path = dir.file("at-work");
  auto in_flight = InFlight::open(path, 1).value();
  in_flight->clear();
  {
    const InFlightMark first = in_flight->begin(key_of(1));
    InFlightMark second = in_flight->begin(key_of(2));
    second.at_work();
  }
  const InFlightMark third = in_flight->begin(key_of(3));
  in_flight->close();
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(InFlight, WhatItsThreadWaitsForIsNotThePagesFault) {
  const test::TempDir dir;
  const std::string path = dir.file("at-work");
  const auto left = [&] { return InFlight::open(path, 4).value()->left().size(); };
  const auto in_flight = InFlight::open(path, 4).value();
  in_flight->clear();
  InFlightMark mine = in_flight->begin(key_of(1));
  InFlightMark moved = in_flight->begin(key_of(2));
  moved.waits();
  std::thread other([&] {
    moved.at_work();
    const InFlightPause pause(in_flight.get());
    EXPECT_EQ(left(), 1u) << "the other thread's";
  });
  other.join();
  EXPECT_EQ(left(), 2u);
  {
    const InFlightPause pause(in_flight.get());
    EXPECT_EQ(left(), 1u) << "what the other thread has";
    EXPECT_EQ(InFlight::open(path, 4).value()->left()[0], key_of(2));
  }
  EXPECT_EQ(left(), 2u);
  const InFlightPause nothing(nullptr);
}

TEST(InFlight, PlacesThatOnlyAnEarlierRunHadAreClearedToo) {
  const test::TempDir dir;
  const std::string path = dir.file("at-work");
  {
    const auto wide = InFlight::open(path, 100).value();
    wide->clear();
    std::vector<InFlightMark> marks;
    for (std::uint8_t i = 0; i < 100; ++i) marks.push_back(wide->begin(key_of(i)));
    std::filesystem::copy_file(path, path + "-then");  // the process dies
  }
  // They are not lost before they are in the store either.
  for (int i = 0; i < 2; ++i) EXPECT_EQ(InFlight::open(path + "-then", 2).value()->left().size(), 100u);
  InFlight::open(path + "-then", 2).value()->clear();
  EXPECT_TRUE(InFlight::open(path + "-then", 2).value()->left().empty());
  // A part of a place is not a place.
  std::ofstream(path + "-then", std::ios::app) << std::string(31, '\2');
  InFlight::open(path + "-then", 200).value().reset();
  EXPECT_TRUE(InFlight::open(path + "-then", 300).value()->left().empty());
}

TEST(InFlight, AFileThatIsNoneOfOursIsPassedOver) {
  const test::TempDir dir;
  std::ofstream(dir.file("at-work")) << std::string(200, '\2');
  const auto in_flight = InFlight::open(dir.file("at-work"), 4);
  ASSERT_TRUE(in_flight);
  EXPECT_TRUE((*in_flight)->left().empty());
}

}  // namespace
}  // namespace orbweaver
