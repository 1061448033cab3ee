// Faults in input from outside are counted, named and logged: node/peer/outside_faults.h.
#include "node/peer/outside_faults.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/unit/peer_rig.h"

namespace orbweaver {
namespace {

class OutsideFaultsTest : public testing::Test {
 protected:
  static ring::Message from(const ring::PeerId& peer) { return {ring::protocol_version, rig_id(200), peer, 0, {}}; }
  // The fields of the logged lines, as "name=value name=value".
  std::vector<std::string> lines() const {
    std::vector<std::string> lines;
    for (const Command& command : rig_.out) {
      const auto* note = std::get_if<LogEntry>(&command);
      if (note == nullptr) continue;
      EXPECT_TRUE(note->limited) << "who is outside can trigger it";
      std::string line;
      for (const auto& [name, value] : note->fields) line += std::string(name) + "=" + value + " ";
      lines.push_back(line);
    }
    return lines;
  }
  static bool has(const std::string& line, const std::string& text) { return line.find(text) != std::string::npos; }

  PeerRig rig_;
  OutsideFaults faults_{rig_.members, 3};
};

TEST_F(OutsideFaultsTest, ARefusedMessageIsCountedAndItsSenderTypeAndCauseAreNamed) {
  EXPECT_EQ(faults_.counters().messages_refused, 3u) << "its joiner's";
  rig_.add_member(2, ring::MemberState::active);
  ring::Message message = from(rig_id(2));
  message.body = ring::Sync{};
  faults_.refuse(rig_.step(), message, "of another ring");
  EXPECT_EQ(faults_.counters().messages_refused, 4u);
  ASSERT_EQ(lines().size(), 1u);
  EXPECT_TRUE(has(lines()[0], rig_id(2).brief() + " at 10.0.0.2:7400")) << lines()[0];
  EXPECT_TRUE(has(lines()[0], "cause=of another ring")) << lines()[0];
  EXPECT_TRUE(has(lines()[0], "type=sync")) << lines()[0];
}

TEST_F(OutsideFaultsTest, AStrangerAndACommandAreNamedAsWhatTheyAre) {
  faults_.refuse(rig_.step(), from(rig_id(9)), "x");
  faults_.refuse(rig_.step(), from({}), "x");
  ASSERT_EQ(lines().size(), 2u);
  EXPECT_TRUE(has(lines()[0], rig_id(9).brief() + " (not a member)")) << lines()[0];
  EXPECT_TRUE(has(lines()[1], "a command")) << lines()[1];
}

TEST_F(OutsideFaultsTest, ARefusalThatIsSaidElsewhereIsOnlyCounted) {
  faults_.note_refused();
  EXPECT_EQ(faults_.counters().messages_refused, 4u);
  EXPECT_TRUE(rig_.out.empty());
}

TEST_F(OutsideFaultsTest, ClaimsThatAreNotBelievedAreCountedOneByOneAndSaidOnce) {
  faults_.refuse_claims(rig_.step(), from(rig_id(2)), 0, 0);
  EXPECT_TRUE(rig_.out.empty()) << "all was believed";
  faults_.refuse_claims(rig_.step(), from(rig_id(2)), 2, 5);
  EXPECT_EQ(faults_.counters().claims_refused, 7u);
  EXPECT_EQ(faults_.counters().messages_refused, 3u) << "the message was taken";
  ASSERT_EQ(lines().size(), 1u);
  EXPECT_TRUE(has(lines()[0], "members=2 tenures=5")) << lines()[0];
}

TEST_F(OutsideFaultsTest, RowsThatAreLeftOutAreSaidOnceWithTheFirstStep) {
  faults_.drop_row("seeds", "it is not a URL");
  faults_.drop_row("recrawl", "it is not JSON");
  EXPECT_EQ(faults_.counters().rows_dropped, 2u);
  EXPECT_TRUE(rig_.out.empty()) << "there is no log yet";
  faults_.say_dropped_rows(rig_.step());
  ASSERT_EQ(lines().size(), 2u);
  EXPECT_TRUE(has(lines()[0], "row=seeds cause=it is not a URL")) << lines()[0];
  EXPECT_TRUE(has(lines()[1], "row=recrawl cause=it is not JSON")) << lines()[1];
  rig_.clear();
  faults_.say_dropped_rows(rig_.step());
  EXPECT_TRUE(rig_.out.empty());
}

}  // namespace
}  // namespace orbweaver
