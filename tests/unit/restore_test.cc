// A ring made from stores: records merged, each partition at its owner, links kept, facts carried over. And the
// checkpoints of RocksDB that it is made from.
#include "node/snapshot/restore.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "node/config/settings_table.h"
#include "node/crawl/meta_names.h"
#include "node/frontier/crash_book.h"
#include "storage/bytes.h"
#include "storage/memory_kv.h"
#include "storage/rocks_kv.h"
#include "tests/unit/crawl_keys.h"
#include "tests/unit/temp_dir.h"

namespace orbweaver {
namespace {

using storage::Commit;
using storage::MemoryKv;
using storage::Merge;
using storage::Store;
using storage::UrlState;

ring::Settings few(PartitionBy by = PartitionBy::host) {
  Settings settings = default_settings();
  settings.partitions = test::few_partitions;
  settings.partition_by = by;
  return ring_wide_settings(settings);
}

ring::PeerId id_of(std::uint8_t number) {
  ring::PeerId id;
  id.bytes.fill(number);
  return id;
}

Merge fetched(std::size_t host, std::size_t page) {
  Merge merge = test::queued_merge(host, page);
  merge.record.state = UrlState::fetched;
  merge.record.since = test::at_ms(5);
  return merge;
}

// So many stores, empty at first, and what a restore makes of others.
class Restored {
 public:
  explicit Restored(std::size_t peers) : kvs_(peers) {}
  Result<Restore> begin(PartitionBy by = PartitionBy::host, std::optional<std::uint32_t> partitions = {}) {
    std::vector<Restore::Target> targets;
    for (std::size_t i = 0; i < kvs_.size(); ++i)
      targets.push_back({&kvs_[i], id_of(static_cast<std::uint8_t>(i + 1)), "10.0.0.1:" + std::to_string(7000 + i)});
    return Restore::begin(std::move(targets), id_of(99), few(by), partitions);
  }
  Store open(std::size_t peer) { return std::move(*Store::open(kvs_[peer])); }
  MemoryKv& kv(std::size_t peer) { return kvs_[peer]; }
  std::size_t size() const { return kvs_.size(); }

 private:
  std::vector<MemoryKv> kvs_;
};

TEST(Restore, CopiesAreMergedAndEachPartitionHasOneOwner) {
  for (const std::size_t peers : {1u, 2u, 5u}) {
    MemoryKv first, second;
    Store a = std::move(*Store::open(first));
    Store b = std::move(*Store::open(second));
    Commit commit;
    for (std::size_t host = 0; host < 40; ++host)
      for (std::size_t page = 0; page < 3; ++page) commit.merges.push_back(test::queued_merge(host, page));
    ASSERT_TRUE(a.commit(commit));
    commit.merges.clear();
    for (std::size_t host = 0; host < 40; host += 2) commit.merges.push_back(fetched(host, 1));
    commit.merges.push_back(test::queued_merge(50, 0));
    ASSERT_TRUE(b.commit(commit));
    Restored restored(peers);
    auto restore = restored.begin();
    ASSERT_TRUE(restore) << restore.error().message;
    ASSERT_TRUE(restore->add(a));
    ASSERT_TRUE(restore->add(b));
    const auto counts = restore->finish();
    ASSERT_TRUE(counts);
    EXPECT_EQ(counts->records, 121u);
    EXPECT_EQ(counts->fetched, 20u);
    EXPECT_EQ(counts->queued, 101u);
    std::map<std::uint16_t, std::size_t> at;
    for (std::size_t i = 0; i < peers; ++i)
      for (const std::uint16_t partition : restored.open(i).partitions())
        EXPECT_TRUE(at.emplace(partition, i).second) << partition;
  }
}

TEST(Restore, LinksOnTheirWayAreInTheOutboxOfTheirNewOwner) {
  MemoryKv from;
  Store source = std::move(*Store::open(from));
  std::string record;
  storage::encode_record(test::queued_record(1, 7), record);
  Commit commit;
  for (std::uint16_t partition = 0; partition < test::few_partitions; ++partition)
    commit.to_outbox.emplace_back(partition, record);
  ASSERT_TRUE(source.commit(commit));
  Restored restored(3);
  auto restore = restored.begin();
  ASSERT_TRUE(restore->add(source));
  EXPECT_EQ(restore->finish()->links, test::few_partitions);
  std::size_t found = 0;
  for (std::size_t i = 0; i < restored.size(); ++i) {
    Store store = restored.open(i);
    const auto tenures = store.meta_rows("tenure/");
    ASSERT_TRUE(tenures);
    for (const auto& [name, row] : *tenures) {
      const bool holds = row.substr(8) == std::string(16, static_cast<char>(i + 1));
      const auto partition = storage::get_be<std::uint16_t>(name, 0);
      const std::size_t links = store.outbox_of(partition, 0, 10)->size();
      EXPECT_EQ(links, holds ? 1u : 0u) << partition;
      found += links;
    }
  }
  EXPECT_EQ(found, test::few_partitions);
}

TEST(Restore, OfTwoWaitsTheLongerHolds) {
  MemoryKv first, second;
  Store a = std::move(*Store::open(first));
  Store b = std::move(*Store::open(second));
  const storage::HostKey host = test::host_key_of(4);
  Commit commit;
  commit.clocks = {{host, {.next_allowed = test::at_ms(9000), .failures = 1, .host = test::host_text(4)}}};
  ASSERT_TRUE(a.commit(commit));
  commit.clocks = {{host, {.next_allowed = test::at_ms(100), .failures = 3, .host = test::host_text(4)}}};
  ASSERT_TRUE(b.commit(commit));
  Restored restored(1);
  auto restore = restored.begin();
  ASSERT_TRUE(restore->add(a));
  ASSERT_TRUE(restore->add(b));
  ASSERT_TRUE(restore->finish());
  const auto clock = restored.open(0).clock(host);
  ASSERT_TRUE(clock && *clock);
  EXPECT_EQ((*clock)->next_allowed, test::at_ms(9000));
  EXPECT_EQ((*clock)->failures, 3u);
}

TEST(Restore, OfCookiesTheLaterJarIsTakenAndOfUsesTheLarger) {
  MemoryKv first, second;
  Store a = std::move(*Store::open(first));
  Store b = std::move(*Store::open(second));
  const storage::HostKey site = test::host_key_of(1);
  Commit commit;
  commit.cookies = {{site, storage::SiteCookies{"a.test", 7, test::at_ms(9000), "a jar"}}};
  commit.uses = {{site, storage::SiteUse{"a.test", 3, 1000}}};
  ASSERT_TRUE(a.commit(commit));
  commit.cookies = {{site, storage::SiteCookies{"a.test", 5, test::at_ms(8000), "an older jar"}}};
  commit.uses = {{site, storage::SiteUse{"a.test", 4, 1500}}};
  ASSERT_TRUE(b.commit(commit));
  Restored restored(1);
  auto restore = restored.begin();
  ASSERT_TRUE(restore->add(a));
  ASSERT_TRUE(restore->add(b));
  ASSERT_TRUE(restore->finish());
  Store store = restored.open(0);
  const auto jar = store.cookies(site);
  ASSERT_TRUE(jar && *jar);
  EXPECT_EQ((*jar)->jar, "a jar");
  const auto use = store.use(site);
  ASSERT_TRUE(use && *use);
  EXPECT_EQ((*use)->pages, 4u);
  EXPECT_EQ((*use)->bytes, 1500u);
}

TEST(Restore, WhatBelongsToNoPartitionIsCarriedOver) {
  MemoryKv first, second;
  Store a = std::move(*Store::open(first));
  Store b = std::move(*Store::open(second));
  Commit commit;
  commit.meta = {{"peer", id_of(50).hex()},
                 {"ring", id_of(51).hex()},
                 {"ended", "an end"},
                 {"seeds", "http://a.test/\nhttp://b.test/\n"},
                 {"bytes", "100"},
                 {"mirror/www.a.test", "a.test"},
                 {"recrawl", R"({"before_us":5,"after":"http://a.test/x","queued":7})"}};
  ASSERT_TRUE(a.commit(commit));
  commit.meta = {
      {"seeds", "http://b.test/\nhttp://c.test/\n"}, {"bytes", "11"}, {"mirror/www.a.test", ""}, {"recrawl", ""}};
  ASSERT_TRUE(b.commit(commit));
  Restored restored(2);
  auto restore = restored.begin();
  ASSERT_TRUE(restore->add(a));
  ASSERT_TRUE(restore->add(b));
  ASSERT_TRUE(restore->finish());
  for (std::size_t i = 0; i < 2; ++i) {
    Store store = restored.open(i);
    EXPECT_EQ(*store.meta("seeds"), "http://a.test/\nhttp://b.test/\nhttp://c.test/\n");
    EXPECT_EQ(*store.meta("peer"), id_of(static_cast<std::uint8_t>(i + 1)).hex());
    EXPECT_EQ(*store.meta("ring"), id_of(99).hex());
    EXPECT_EQ(*store.meta("ended"), std::nullopt);
    EXPECT_EQ(*store.meta("mirror/www.a.test"), "");  // a user's word
    EXPECT_EQ(*store.meta("bytes"), i == 0 ? std::optional<std::string>("111") : std::nullopt);
    const auto walk = nlohmann::json::parse((*store.meta("recrawl")).value_or("{}"));
    EXPECT_EQ(walk.value("before_us", 0), 5);
    EXPECT_EQ(walk.value("after", "?"), "");  // from the beginning
  }
}

// One peer is at the first of two orders to visit pages again, another one at the second, with a third that waits.
TEST(Restore, OrdersToVisitPagesAgainAreJoinedAndBegunAnew) {
  MemoryKv first, second;
  Store a = std::move(*Store::open(first));
  Store b = std::move(*Store::open(second));
  Commit commit;
  commit.meta = {{"recrawl", R"({"before_us":5,"after":"http://a.test/x","queued":7,
                                 "next":[{"before_us":9,"host":"b.test","match":""}]})"}};
  ASSERT_TRUE(a.commit(commit));
  commit.meta = {{"recrawl", R"({"before_us":9,"host":"b.test","match":"","after":"http://b.test/y","queued":2,
                                 "next":[{"before_us":12,"host":"","match":"news"}]})"}};
  ASSERT_TRUE(b.commit(commit));
  Restored restored(2);
  auto restore = restored.begin();
  ASSERT_TRUE(restore->add(a));
  ASSERT_TRUE(restore->add(b));
  ASSERT_TRUE(restore->finish());
  for (std::size_t i = 0; i < 2; ++i) {
    const auto walk = nlohmann::json::parse((*restored.open(i).meta("recrawl")).value_or("{}"));
    EXPECT_EQ(walk.value("before_us", 0), 5);
    EXPECT_EQ(walk.value("after", "?"), "");
    EXPECT_EQ(walk.value("next", nlohmann::json()).dump(),
              R"([{"before_us":9,"host":"b.test","match":""},{"before_us":12,"host":"","match":"news"}])");
  }
}

// One peer had not learned of a visit that the other had made, nor of a later resume.
TEST(Restore, OperatorsOrdersAreJoinedAndAVisitThatOnePeerMissedIsBegunAnew) {
  const auto order = [](const std::string& name, const std::string& value, std::uint64_t number) {
    return OperatorOrders::text_of({name, value, number, id_of(50), {}}) + "\n";
  };
  MemoryKv first, second;
  Store a = std::move(*Store::open(first));
  Store b = std::move(*Store::open(second));
  Commit commit;
  commit.meta = {{"orders", order("pause", "", 4) + order("visit x", R"({"before_us":5,"host":"a.test"})", 2) +
                                order("visit y", R"({"before_us":6})", 3)}};
  ASSERT_TRUE(a.commit(commit));
  commit.meta = {{"orders", order("pause", "yes", 1) + order("visit y", R"({"before_us":6})", 3)}};
  ASSERT_TRUE(b.commit(commit));
  Restored restored(2);
  auto restore = restored.begin();
  ASSERT_TRUE(restore->add(a));
  ASSERT_TRUE(restore->add(b));
  ASSERT_TRUE(restore->finish());
  for (std::size_t i = 0; i < 2; ++i) {
    Store store = restored.open(i);
    OperatorOrders known;
    EXPECT_TRUE(known.restore(store.meta("orders")->value_or("")).empty());
    EXPECT_EQ(known.size(), 3u);
    EXPECT_EQ(known.all().at("pause").number, 4u);
    const auto walk = nlohmann::json::parse(store.meta("recrawl")->value_or("{}"));
    EXPECT_EQ(walk.value("before_us", 0), 5);
    EXPECT_FALSE(walk.contains("next")) << "both had made the other one";
  }
}

// Every row is where the peers of the new ring look for it: records, what is known of hosts and sites, links, crashes.
TEST(Restore, ARingMayHaveAnotherNumberOfPartitions) {
  for (const PartitionBy by : {PartitionBy::host, PartitionBy::domain, PartitionBy::url})
    for (const std::uint32_t partitions : {1u, 4u, 16u, 64u, 65536u}) {
      SCOPED_TRACE(partitions);
      Partitioner before(by, test::few_partitions);
      MemoryKv from;
      Store source = std::move(*Store::open(from));
      Commit commit;
      std::vector<CanonicalUrl> urls;
      for (std::size_t host = 0; host < 20; ++host)
        for (std::size_t page = 0; page < 5; ++page) {
          urls.push_back(std::move(*CanonicalUrl::of_stored("http://www" + std::to_string(page % 2) + "." +
                                                            test::host_text(host) + "/" + std::to_string(page))));
          Merge merge{{before.host_key(urls.back()), urls.back().digest()}, {}};
          merge.record.url = urls.back().text();
          merge.record.state = page == 3 ? UrlState::fetched : UrlState::queued;
          std::string link;
          storage::encode_record(merge.record, link);
          commit.to_outbox.emplace_back(merge.key.host.partition, link);
          const std::string name(urls.back().host());
          commit.clocks.emplace_back(merge.key.host, storage::HostClock{.next_allowed = test::at_ms(1), .host = name});
          commit.robots.emplace_back(merge.key.host, "http://" + name, storage::RobotsEntry{});
          commit.cookies.emplace_back(merge.key.host, storage::SiteCookies{name, 7, test::at_ms(9000), "a jar"});
          if (page == 4) commit.meta.emplace_back("crashed/" + CrashBook::text_of(merge.key), "1");
          commit.merges.push_back(std::move(merge));
        }
      for (std::size_t host = 0; host < 20; ++host)
        commit.uses.emplace_back(before.host_key(test::host_text(host), 0),
                                 storage::SiteUse{test::host_text(host), 3, 9});
      ASSERT_TRUE(source.commit(commit));
      Restored restored(2);
      auto restore = restored.begin(by, partitions);
      ASSERT_TRUE(restore) << restore.error().message;
      const Result<void> added = restore->add(source);
      ASSERT_TRUE(added) << added.error().message;
      const auto counts = restore->finish();
      ASSERT_TRUE(counts);
      EXPECT_EQ(counts->records, 100u);
      EXPECT_EQ(counts->fetched, 20u);
      EXPECT_EQ(counts->links, 100u);
      Partitioner after(by, partitions);
      std::vector<Store> stores;
      for (std::size_t i = 0; i < 2; ++i) stores.push_back(restored.open(i));
      const auto at = [&](ring::Partition partition) -> Store& {
        std::string name = "tenure/";
        storage::put_be(name, partition);
        const auto row = stores[0].meta(name);
        return stores[(*row)->substr(8) == std::string(16, 1) ? 0 : 1];
      };
      std::map<std::uint16_t, std::size_t> links;
      for (const CanonicalUrl& url : urls) {
        const storage::UrlKey key{after.host_key(url), url.digest()};
        Store& store = at(key.host.partition);
        EXPECT_TRUE(store.find(key)->has_value()) << url.text();
        EXPECT_TRUE(store.clock(key.host)->has_value());
        EXPECT_TRUE(store.robots(key.host, "http://" + std::string(url.host()))->has_value());
        EXPECT_TRUE(store.cookies(key.host)->has_value());
        const bool crashed = url.text().ends_with("/4");
        EXPECT_EQ((*store.meta("crashed/" + CrashBook::text_of(key))).has_value(), crashed) << url.text();
        ++links[key.host.partition];
      }
      for (const auto& [partition, count] : links)
        EXPECT_EQ(at(partition).outbox_of(partition, 0, 1000)->size(), count);
      for (std::size_t host = 0; host < 20; ++host) {
        const storage::HostKey site = after.host_key(test::host_text(host), 0);
        EXPECT_TRUE(at(site.partition).use(site)->has_value());
      }
      EXPECT_NE((*stores[0].meta("settings"))->find("[\"partitions\",\"" + std::to_string(partitions) + "\"]"),
                std::string::npos);
    }
}

TEST(Restore, ANumberOfPartitionsThatNoRingHasIsRefused) {
  Restored restored(1);
  const auto refused = restored.begin(PartitionBy::host, 1000);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("not a power of two"), std::string::npos) << refused.error().message;
}

TEST(Restore, IntoAStoreThatIsNotEmptyIsRefused) {
  Restored restored(1);
  Store store = restored.open(0);
  Commit commit;
  commit.merges = {test::queued_merge(1, 1)};
  ASSERT_TRUE(store.commit(commit));
  const auto refused = restored.begin();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::mismatch);
}

// The checkpoint has what was committed before it, also what is in memory and the journal only, and nothing of later.
TEST(RocksCheckpoint, IsTheStoreAsOfItsMoment) {
  test::TempDir directory;
  auto kv = storage::open_rocks({.directory = directory.file("store")});
  ASSERT_TRUE(kv);
  Store store = std::move(*Store::open(**kv));
  Commit commit;
  for (std::size_t page = 0; page < 500; ++page) commit.merges.push_back(test::queued_merge(page % 7, page));
  commit.to_outbox = {{3, "a link"}};
  ASSERT_TRUE(store.commit(commit));
  const auto made = (*kv)->checkpoint(directory.file("copy"));
  ASSERT_TRUE(made) << made.error().message;
  commit.merges = {test::queued_merge(1, 1000)};
  commit.to_outbox = {};
  commit.from_outbox = {{3, 1}};
  ASSERT_TRUE(store.commit(commit));
  auto copy = storage::open_rocks({.directory = directory.file("copy"), .look_only = true});
  ASSERT_TRUE(copy) << copy.error().message;
  Store read = std::move(*Store::open(**copy));
  EXPECT_EQ(read.counts().queued, 500u);
  EXPECT_EQ(read.counts().outbox, 1u);
  EXPECT_EQ(read.outbox_of(3, 0, 10)->size(), 1u);
  EXPECT_FALSE((*kv)->checkpoint(directory.file("copy"))) << "it is there already";
}

}  // namespace
}  // namespace orbweaver
