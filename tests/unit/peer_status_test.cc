// What a peer reports about itself: its status and its metrics (node/peer/peer_status.h, docs/reference/metrics.md).
#include "node/peer/peer_status.h"

#include <fstream>
#include <set>
#include <sstream>

#include "node/crawl/peer_words.h"
#include "node/process/metrics.h"
#include "tests/unit/fetch_rig.h"

namespace orbweaver {
namespace {

using nlohmann::json;
using storage::UrlState;
using Names = std::set<std::string>;

class PeerStatusTest : public FetchRig {
 protected:
  json status() const { return parts_->status.status(); }
  json counts() const { return status()["counts"]; }
  std::map<std::string, double> metrics() const {
    const auto values = parts_->status.metrics();
    std::map<std::string, double> by_name(values.begin(), values.end());
    EXPECT_EQ(by_name.size(), values.size()) << "each once";
    return by_name;
  }
};

TEST_F(PeerStatusTest, TheCountsShownAreThoseThatAreNamed) {
  start();
  Names shown;
  const json all = counts();
  for (const auto& [name, value] : all.items()) {
    shown.insert(name);
    EXPECT_TRUE(value.is_number()) << name;
  }
  Names named;
  for (const std::string_view name : count_names()) named.emplace(name);
  EXPECT_EQ(shown, named);
}

TEST_F(PeerStatusTest, MetricsMd_EveryMetricIsTheCoresTheTransportsOrTheProcesss) {
  start();
  MemoryUse use;
  use.shares = {{"links", 1, 2, 3}};
  parts_->status.note_use(use, {});
  Names known;
  for (const auto& [name, value] : metrics()) known.insert("orbweaver_" + name.substr(0, name.find('/')));
  std::vector<std::pair<std::string, double>> transport;
  add_transport({}, transport);
  for (const auto& [name, value] : transport)
    EXPECT_TRUE(known.insert("orbweaver_" + name).second) << name << " is another's";
  // node/process/peer_process.cc, PeerProcess::publish()
  for (const char* name :
       {"messages_malformed_total", "messages_dropped_total", "message_bytes_waiting", "connections_opened_total",
        "dns_queries_total", "descriptor_waits_total", "notices_taken_total", "notices_lost_total", "notices_waiting",
        "archive_syncs_total", "archive_synced_pages_total", "disk_free_bytes", "disk_size_bytes", "cpu_seconds_total",
        "loop_cpu_seconds_total", "start_time_seconds", "build_info"})
    EXPECT_TRUE(known.insert("orbweaver_" + std::string(name)).second) << name << " is another's";
  std::ifstream page("docs/reference/metrics.md");
  Names documented;
  for (std::string line; std::getline(page, line);)
    if (line.starts_with("| `")) documented.insert(line.substr(3, line.find('`', 3) - 3));
  EXPECT_EQ(known, documented);
}

TEST_F(PeerStatusTest, RecordsOfEachStateAreCounted) {
  start();
  storage::UrlRecord record;
  put("http://a.test/1", record);
  put("http://a.test/2", record);
  record.state = UrlState::fetched;
  put("http://b.test/1", record);
  record.state = UrlState::failed;
  put("http://b.test/2", record);
  record.state = UrlState::excluded;
  put("http://b.test/3", record);
  EXPECT_EQ(counts()["queued"], 2);
  EXPECT_EQ(counts()["fetched"], 1);
  EXPECT_EQ(counts()["failed"], 1);
  EXPECT_EQ(counts()["excluded"], 1);
  EXPECT_EQ(counts()["discovered"], 5);
  EXPECT_EQ(metrics()["urls_queued"], 2);
  EXPECT_EQ(metrics()["urls_excluded"], 1);
  EXPECT_EQ(counts()["partitions_held"], 16);
}

TEST_F(PeerStatusTest, PagesInFlightAreThoseWhoseRecordsThisPeerHoldsAsQueued) {
  start();
  put("http://a.test/");
  put("http://b.test/");
  tick();
  EXPECT_EQ(counts()["in_flight"], 2);
  EXPECT_EQ(counts()["pages_in_flight"], 2);
  EXPECT_EQ(counts()["fetches"], 2);
  EXPECT_EQ(metrics()["fetches_in_flight"], 2);
  give_partition("http://a.test/", 2);
  EXPECT_EQ(counts()["in_flight"], 2);
  EXPECT_EQ(counts()["pages_in_flight"],
            key("http://a.test/").host.partition == key("http://b.test/").host.partition ? 0 : 1);
  storage::UrlRecord elsewhere;
  elsewhere.state = UrlState::fetched;
  put("http://b.test/", elsewhere);
  EXPECT_EQ(counts()["pages_in_flight"], 0) << "another peer's outcome has come";
}

TEST_F(PeerStatusTest, WhatFetchesBroughtIsCounted) {
  settings().robots = true;
  start();
  put("http://a.test/");
  ASSERT_TRUE(answer(begin(), 404));
  advance(std::chrono::minutes(1));
  PageRead read;
  read.listed = LinkList{.links = urls({"http://a.test/2"}), .scores = {}, .requisites = {}};
  PageDone page = done(std::move(read));
  page.archived_bytes = 7;
  ASSERT_TRUE(answer(begin(), 200, std::move(page)));
  EXPECT_EQ(counts()["robots_fetched"], 1);
  EXPECT_EQ(counts()["bytes_received"], 200);
  EXPECT_EQ(counts()["archive_bytes"], 7);
  EXPECT_EQ(counts()["links_found"], 1);
  EXPECT_EQ(metrics()["pages_fetched_total"], 1);
  EXPECT_EQ(metrics()["robots_fetched_total"], 1);
  advance(std::chrono::minutes(1));
  ASSERT_TRUE(answer(begin(), 404));
  EXPECT_EQ(metrics()["pages_failed_total"], 1);
}

TEST_F(PeerStatusTest, WhoItIsAndWhomItKnows) {
  start();
  add_member(2);
  add_member(3, ring::MemberState::down);
  const json shown = status();
  EXPECT_EQ(shown["id"], rig_id(1).hex());
  EXPECT_EQ(shown["address"], "10.0.0.1:7400");
  EXPECT_EQ(shown["ring"], rig_id(200).hex());
  EXPECT_EQ(shown["state"], "active");
  EXPECT_EQ(shown["ring_partitions"], 16);
  EXPECT_EQ(shown["confirmed"], true);
  EXPECT_EQ(shown["not_fetching_because"], json::array());
  EXPECT_EQ(shown["started"], utc(now_));
  ASSERT_EQ(shown["members"].size(), 3u);
  EXPECT_EQ(shown["members"][2]["state"], "down");
  EXPECT_EQ(metrics()["members_active"], 2);
  EXPECT_EQ(metrics()["members_down"], 1);
}

TEST_F(PeerStatusTest, WhatKeepsItFromFetchingIsShown) {
  start();
  parts_->fence.raise();
  EXPECT_EQ(status()["not_fetching_because"], json(parts_->fetches.gate.reasons()));
  EXPECT_EQ(status()["not_fetching_because"].size(), 1u);
  EXPECT_EQ(status()["confirmed"], false);
}

TEST_F(PeerStatusTest, APartitionWhoseHolderIsGoneIsOrphaned) {
  start();
  EXPECT_EQ(counts()["partitions_orphaned"], 0);
  give_partition("http://a.test/", 9);
  EXPECT_EQ(counts()["partitions_orphaned"], 1);
  EXPECT_EQ(counts()["partitions_held"], 15);
}

TEST_F(PeerStatusTest, RefusalsOfTheJoinerAndOfThePeerAreOneCount) {
  start_.messages_refused = 2;
  start();
  parts_->faults.note_refused();
  parts_->faults.drop_row("seeds", "x");
  EXPECT_EQ(counts()["messages_refused"], 3);
  EXPECT_EQ(counts()["rows_dropped"], 1);
  EXPECT_EQ(metrics()["messages_refused_total"], 3);
  EXPECT_EQ(metrics()["rows_dropped_total"], 1);
}

TEST_F(PeerStatusTest, MemoryAndTheLinkTraceAreShownOnceTheLoopHasToldOfThem) {
  start();
  EXPECT_FALSE(status().contains("memory"));
  EXPECT_FALSE(status().contains("link_trace"));
  parts_->status.note_use({{{"robots", 10, 4, 6}}, 100, 200}, {});
  parts_->status.note_link_trace({{"links", 5}, {"bytes", 50}});
  const json memory = status()["memory"];
  EXPECT_EQ(memory["resident"], 100);
  EXPECT_EQ(memory["resident_peak"], 200);
  EXPECT_EQ(memory["max_memory"], parts_->state.memory.total);
  EXPECT_EQ(memory["shares"]["robots"], (json{{"bound", 10}, {"used", 4}, {"peak", 6}}));
  EXPECT_EQ(status()["link_trace"]["links"], 5);
  EXPECT_EQ(metrics()["memory_used_bytes/robots"], 4);
  EXPECT_EQ(metrics()["memory_resident_bytes"], 100);
  EXPECT_EQ(metrics()["link_trace_links_total"], 5);
}

TEST_F(PeerStatusTest, OutcomesAreShownByReason) {
  start();
  EXPECT_EQ(status()["outcomes"], json::object());
  EXPECT_EQ(metrics()["urls_excluded_by_reason_total/bad_port"], 0);
  put("http://a.test:25/");
  tick();
  EXPECT_EQ(status()["outcomes"], (json{{"excluded", {{"bad_port", 1}}}}));
  EXPECT_EQ(metrics()["urls_excluded_by_reason_total/bad_port"], 1);
  EXPECT_EQ(metrics()["urls_failed_by_reason_total/dns"], 0);
  EXPECT_EQ(metrics().count("urls_failed_by_reason_total/unknown"), 0u);
}

TEST_F(PeerStatusTest, PolitenessIsWhatTheFetcherMeasured) {
  start();
  EXPECT_EQ(status()["politeness"], (json{{"gaps", 0}, {"too_short", 0}}));
  ProcessUse use;
  use.gaps = {.gaps = 7, .too_short = 1, .least = std::chrono::seconds{1}, .promised = std::chrono::seconds{2}};
  parts_->status.note_use({}, use);
  EXPECT_EQ(status()["politeness"],
            (json{{"gaps", 7}, {"too_short", 1}, {"least_us", 1'000'000}, {"promised_us", 2'000'000}}));
  EXPECT_EQ(metrics()["request_gaps_total"], 7);
  EXPECT_EQ(metrics()["request_gaps_too_short_total"], 1);
}

TEST_F(PeerStatusTest, MemoryUseGoesByTheNamesOfTheShares) {
  start();
  Names shares;
  for (const auto& [name, bound] : parts_->state.memory.shares()) shares.emplace(name);
  for (const auto& [name, used] : parts_->status.memory_use()) EXPECT_TRUE(shares.contains(std::string(name))) << name;
}

}  // namespace
}  // namespace orbweaver
