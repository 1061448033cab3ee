// The question "urls": what it lists and where it continues; and the filter that it shares with orders to visit again.
#include "node/peer/url_report.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "node/crawl/record_filter.h"
#include "tests/unit/verdict_rig.h"

namespace orbweaver {
namespace {

using nlohmann::json;
using storage::Reason;
using storage::UrlState;

constexpr std::size_t plenty = 1u << 20;

class UrlReportTest : public VerdictRig {
 protected:
  UrlReportTest() {
    build();
    storage::Commit made;
    replication_.partition_manager.learn(replication_.partition_manager.make_ring(), made);
    report_.emplace(store_, partitioner_, replication_.partition_manager);
  }
  void put(std::size_t host, std::size_t page, UrlState state, Reason reason = Reason::none, std::uint16_t status = 0) {
    storage::Merge merge = test::queued_merge(host, page, 1);
    merge.record.state = state;
    merge.record.reason = reason;
    merge.record.status = status;
    merge.record.since = state == UrlState::queued ? Time{} : Time{std::chrono::seconds{60}};
    ASSERT_TRUE(store_.commit(test::commit_of({.merges = {merge}})));
  }
  json ask(const json& question, std::size_t room = plenty) { return report_->answer("me", question, room); }
  static std::set<std::string> urls_of(const json& answer) {
    std::set<std::string> urls;
    for (const json& entry : answer.at("urls")) urls.insert(entry.at("url").get<std::string>());
    EXPECT_EQ(urls.size(), answer.at("urls").size());
    return urls;
  }

  std::optional<UrlReport> report_;
};

TEST_F(UrlReportTest, ListsTheRecordsThatTheFilterTakes) {
  put(1, 1, UrlState::failed, Reason::http_status, 404);
  put(1, 2, UrlState::failed, Reason::timeout);
  put(2, 1, UrlState::excluded, Reason::robots);
  put(2, 2, UrlState::queued);
  put(2, 3, UrlState::fetched, Reason::none, 200);
  EXPECT_EQ(urls_of(ask({{"states", {"failed"}}})), (std::set{test::url_text(1, 1), test::url_text(1, 2)}));
  EXPECT_EQ(urls_of(ask({{"states", {"failed", "queued"}}})),
            (std::set{test::url_text(1, 1), test::url_text(1, 2), test::url_text(2, 2)}));
  EXPECT_EQ(urls_of(ask({{"status", 404}})), std::set{test::url_text(1, 1)});
  EXPECT_EQ(urls_of(ask({{"reason", "robots"}})), std::set{test::url_text(2, 1)});
  EXPECT_EQ(urls_of(ask({{"states", {"failed"}}, {"host", test::host_text(2)}})), std::set<std::string>{});
  EXPECT_EQ(ask(json::object())["urls"].size(), 5u);
  EXPECT_EQ(ask(json::object())["last"], "");
}

TEST_F(UrlReportTest, AnEntrySaysWhatIsKnownAndNothingElse) {
  put(1, 1, UrlState::failed, Reason::http_status, 404);
  put(1, 2, UrlState::queued);
  const json failed = ask({{"states", {"failed"}}})["urls"][0];
  EXPECT_EQ(failed, (json{{"url", test::url_text(1, 1)},
                          {"host", test::host_text(1)},
                          {"state", "failed"},
                          {"reason", "http_status"},
                          {"why", "the server answered 404"},
                          {"status", 404},
                          {"depth", 1},
                          {"when", "1970-01-01T00:01:00Z"}}));
  const json queued = ask({{"states", {"queued"}}})["urls"][0];
  EXPECT_EQ(queued,
            (json{{"url", test::url_text(1, 2)}, {"host", test::host_text(1)}, {"state", "queued"}, {"depth", 1}}));
}

TEST_F(UrlReportTest, PartsThatFitTogetherAreTheWhole) {
  std::set<std::string> all, found;
  for (std::size_t page = 1; page <= 50; ++page) {
    put(page % 3, page, page % 2 == 0 ? UrlState::failed : UrlState::fetched, Reason::http_status, 500);
    if (page % 2 == 0) all.insert(test::url_text(page % 3, page));
  }
  json question = {{"states", {"failed"}}};
  std::size_t parts = 0;
  for (std::string last = "?"; !last.empty() && parts < 100; ++parts) {
    const json answer = ask(question, 1500);
    for (const std::string& url : urls_of(answer)) EXPECT_TRUE(found.insert(url).second) << url << " comes twice";
    last = answer["last"];
    question["after"] = {{"me", last}};
  }
  EXPECT_EQ(found, all);
  EXPECT_GT(parts, 5u);
}

TEST_F(UrlReportTest, OthersRestAndOthersPartitionsAreNotItsOwn) {
  put(1, 1, UrlState::failed, Reason::timeout);
  EXPECT_EQ(ask({{"after", {{"another", test::url_text(1, 1)}}}})["urls"].size(), 0u);
  const Replication other(state_);
  report_.emplace(store_, partitioner_, other.partition_manager);
  EXPECT_EQ(ask(json::object())["urls"].size(), 0u);
}

TEST_F(UrlReportTest, AFieldOfTheWrongKindIsNamed) {
  const std::pair<const char*, json> questions[] = {
      {"states", {{"states", "failed"}}}, {"lost", {{"states", {"lost"}}}},    {"reason", {{"reason", 7}}},
      {"status", {{"status", 70'000}}},   {"host", {{"host", json::array()}}}, {"me", {{"after", {{"me", 7}}}}},
  };
  for (const auto& [field, question] : questions)
    EXPECT_NE(ask(question).value("error", "").find(field), std::string::npos) << question;
  EXPECT_TRUE(ask({{"match", "("}}).contains("error"));
}

TEST(RecordFilter, WhatItWritesReadsBackAlike) {
  const json fields = {
      {"states", {"failed", "excluded"}}, {"reason", "timeout"}, {"status", 503}, {"host", "a.test"}, {"match", "x+"}};
  const Result<RecordFilter> filter = RecordFilter::read(fields);
  ASSERT_TRUE(filter);
  json written = json::object();
  filter->write(written);
  EXPECT_EQ(written, fields);
  json nothing = json::object();
  RecordFilter().write(nothing);
  EXPECT_EQ(nothing, json::object());
}

}  // namespace
}  // namespace orbweaver
