// Which lines of the log an operator is told of, as what, and by whom.
#include "node/notify/notice.h"

#include <gtest/gtest.h>

#include "node/settings/notice_kinds.h"

namespace orbweaver {
namespace {

using nlohmann::json;

LogEntry line(std::string_view event, std::vector<std::pair<std::string_view, std::string>> fields = {}) {
  return {.level = LogLevel::info, .channel = "ring", .event = event, .fields = std::move(fields), .limited = false};
}

TEST(Notice, LinesOfTheLogAreEvents) {
  EXPECT_EQ(event_of(line("a peer has come or gone", {{"peer", "ab"}, {"state", "down"}})), "peer_lost");
  EXPECT_EQ(event_of(line("a peer has come or gone", {{"state", "active"}})), "peer_joined");
  EXPECT_EQ(event_of(line("a peer has come or gone", {{"state", "left"}})), "peer_left");
  EXPECT_EQ(event_of(line("a peer has come or gone", {{"state", "suspect"}})), std::nullopt);
  EXPECT_EQ(event_of(line("the disk is almost full: nothing is asked for")), "disk_low");
  EXPECT_EQ(event_of(line("message refused")), std::nullopt);
  for (const char* event :
       {"many peers have come or gone", "a peer is forgotten", "cut off from most members, pausing", "continuing",
        "the disk has room again", "operators' orders are news", "snapshot saved", "snapshot failed"}) {
    const auto name = event_of(line(event));
    ASSERT_TRUE(name) << event;
    EXPECT_NE(find_notice_kind(*name), nullptr) << event;
  }
}

TEST(Notice, IsOneLineOfJsonThatSaysWhoWhatAndWhen) {
  const LogEntry lost = line("a peer has come or gone", {{"peer", "cd\nef"}, {"state", "down"}});
  const std::string text = notice({.ring = "1234", .peer = std::string(32, 'a'), .address = "10.0.0.1:7400"}, 7,
                                  Time(std::chrono::seconds{1'700'000'000}), "peer_lost", details_of(lost));
  EXPECT_EQ(text.find('\n'), std::string::npos);
  const json body = json::parse(text);
  EXPECT_EQ(body["event"], "peer_lost");
  EXPECT_EQ(body["at"], "2023-11-14T22:13:20Z");
  EXPECT_EQ(body["ring"], "1234");
  EXPECT_EQ(body["peer"], std::string(32, 'a'));
  EXPECT_EQ(body["details"], (json{{"peer", "cd\nef"}, {"state", "down"}}));
  EXPECT_EQ(body["id"], "aaaaaaaaaaaaaaaa-1700000000000000-7");
  EXPECT_EQ(body["text"], "peer aaaaaaaa at 10.0.0.1:7400: a peer is down: peer=cd\nef, state=down");
}

json status(const std::string& self, std::vector<std::pair<std::string, std::string>> members) {
  json all = json::array();
  for (const auto& [id, state] : members) all.push_back({{"id", id}, {"state", state}});
  return {{"id", self}, {"members", std::move(all)}};
}

TEST(Notice, TheFirstOfThoseThatRunTellsForTheRing) {
  EXPECT_TRUE(tells_for_ring(status("aa", {{"aa", "active"}, {"bb", "active"}})));
  EXPECT_FALSE(tells_for_ring(status("bb", {{"aa", "active"}, {"bb", "active"}})));
  EXPECT_FALSE(tells_for_ring(status("bb", {{"aa", "leaving"}, {"bb", "active"}})));
  EXPECT_TRUE(tells_for_ring(status("bb", {{"aa", "down"}, {"bb", "active"}})));
  EXPECT_TRUE(tells_for_ring(status("bb", {{"aa", "suspect"}, {"bb", "active"}}))) << "it may be gone";
  EXPECT_TRUE(tells_for_ring(status("bb", {})));
  EXPECT_TRUE(tells_for_ring(json{{"id", "bb"}, {"members", {1, "x"}}}));
}

}  // namespace
}  // namespace orbweaver
