// What `orbweaver node` prints on its terminal.
#include "node/process/announcer.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace orbweaver {
namespace {

using nlohmann::json;
using Lines = std::vector<std::string>;

const std::string own(32, 'a');
const std::string other(32, 'b');

json member(const std::string& id, const std::string& state) {
  return {{"id", id}, {"address", "127.0.0.1:1"}, {"state", state}};
}

json status(const std::string& ring, const std::string& state, std::vector<json> members) {
  return {{"id", own},
          {"ring", ring},
          {"state", state},
          {"members", std::move(members)},
          {"counts", {{"partitions_held", 12}, {"records_moved", 3456}, {"outbox", 7}}}};
}

const Announcer::Place place{
    .address = "127.0.0.1:7400", .status_address = "127.0.0.1:7401", .directory = "data", .join = {"10.0.0.1:7400"}};

TEST(Announcer, FirstPeerSaysHowOthersJoinIt) {
  Announcer announcer;
  EXPECT_EQ(announcer.start(place, status("1234567890", "active", {member(own, "active")}), Time{}),
            (Lines{"peer aaaaaaaa listens on 127.0.0.1:7400, data in data",
                   "status and metrics at http://127.0.0.1:7401/status",
                   "in ring 12345678 alone; others join it with: orbweaver node --dir DIR --join 127.0.0.1:7400"}));
}

TEST(Announcer, NewcomerSaysWhereItJoinsAndThenWhatItJoined) {
  Announcer announcer;
  const Lines lines = announcer.start(place, status("", "joining", {member(own, "joining")}), Time{});
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_EQ(lines.back(), "joining the ring at 10.0.0.1:7400");
  const json joined = status("1234567890", "active", {member(own, "active"), member(other, "active")});
  EXPECT_EQ(announcer.update(joined, Time{}), Lines{"in ring 12345678 of 2 peers"});
  EXPECT_EQ(announcer.update(joined, Time{}), Lines{});
}

TEST(Announcer, ARingThatDoesNotAnswerIsSaidNowAndThen) {
  using std::chrono::seconds;
  Announcer announcer;
  const json alone = status("", "joining", {member(own, "joining")});
  announcer.start(place, alone, Time{});
  const Lines silence{
      "10.0.0.1:7400 does not answer: does a peer run there, and does it have the same ring key (--ring-key-file)?"};
  EXPECT_EQ(announcer.update(alone, Time{} + seconds{4}), Lines{});
  EXPECT_EQ(announcer.update(alone, Time{} + seconds{5}), silence);
  EXPECT_EQ(announcer.update(alone, Time{} + seconds{24}), Lines{});
  EXPECT_EQ(announcer.update(alone, Time{} + seconds{25}), silence);
  const json joined = status("1234567890", "active", {member(own, "active"), member(other, "active")});
  EXPECT_EQ(announcer.update(joined, Time{} + seconds{60}), Lines{"in ring 12345678 of 2 peers"});
  EXPECT_EQ(announcer.update(joined, Time{} + seconds{90}), Lines{});
}

TEST(Announcer, EachChangeOfAnotherPeerIsSaidOnce) {
  Announcer announcer;
  announcer.start(place, status("1234567890", "active", {member(own, "active")}), Time{});
  const auto update = [&](const std::string& state) {
    return announcer.update(status("1234567890", "active", {member(own, "active"), member(other, state)}), Time{});
  };
  const std::string peer = "peer bbbbbbbb at 127.0.0.1:1 ";
  EXPECT_EQ(update("joining"), Lines{peer + "joined (2 peers)"});
  EXPECT_EQ(update("active"), Lines{});
  EXPECT_EQ(update("suspect"), Lines{peer + "does not answer (2 peers)"});
  EXPECT_EQ(update("down"), Lines{peer + "is down; others take over its partitions (1 peer)"});
  EXPECT_EQ(update("active"), Lines{peer + "is back (2 peers)"});
  EXPECT_EQ(update("leaving"), Lines{peer + "is leaving (2 peers)"});
  EXPECT_EQ(update("left"), Lines{peer + "has left (1 peer)"});
  EXPECT_EQ(update("left"), Lines{});
}

TEST(Announcer, LeaveShowsProgressNowAndThen) {
  Announcer announcer;
  announcer.start(place, status("1234567890", "active", {member(own, "active")}), Time{});
  const json leaving = status("1234567890", "leaving", {member(own, "leaving")});
  const Lines progress{"leaving: 12 partitions still here, 3456 URLs handed over, 7 links in transit"};
  const Lines first = announcer.update(leaving, Time{});
  ASSERT_EQ(first.size(), 2U);
  EXPECT_EQ(first.back(), progress.back());
  EXPECT_EQ(announcer.update(leaving, Time{} + std::chrono::seconds{1}), Lines{});
  EXPECT_EQ(announcer.update(leaving, Time{} + std::chrono::seconds{2}), progress);
}

TEST(Announcer, EndSaysWhy) {
  EXPECT_EQ(Announcer::end(0, "nothing is left to fetch"), "ended: nothing is left to fetch");
  EXPECT_EQ(Announcer::end(8, "disk full"), "ended: disk full (exit code 8)");
}

}  // namespace
}  // namespace orbweaver
