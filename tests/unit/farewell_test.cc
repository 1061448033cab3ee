// The last messages of a peer: one that leaves repeats this until another peer has received it.
#include "node/coordination/farewell.h"

#include <gtest/gtest.h>

#include "node/crawl/meta_names.h"
#include "tests/unit/peer_rig.h"

namespace orbweaver {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

class FarewellTest : public testing::Test {
 protected:
  FarewellTest() {
    rig_.enter();
    rig_.add_member(2, ring::MemberState::active);
  }
  const Exit* exit() {
    rig_.clear();
    rig_.farewell.tick(rig_.step());
    for (const Command& command : rig_.out)
      if (const auto* found = std::get_if<Exit>(&command)) return found;
    return nullptr;
  }
  ring::MemberState state() { return rig_.members.membership().self().state; }

  PeerRig rig_;
};

TEST_F(FarewellTest, OneThatStopsStaysAMemberAndEndsAfterItsLastWords) {
  rig_.lifecycle.stop();
  ASSERT_TRUE(rig_.farewell.exit(rig_.step(), 0, "stopped"));
  EXPECT_EQ(state(), ring::MemberState::active);
  EXPECT_EQ(exit(), nullptr);
  rig_.now += exit_linger;
  const Exit* ended = exit();
  ASSERT_NE(ended, nullptr);
  EXPECT_EQ(ended->message, "stopped");
}

TEST_F(FarewellTest, OneThatIsAloneHasNobodyToWaitFor) {
  PeerRig alone;
  alone.enter();
  alone.farewell.finish(alone.step(), "nothing is left to fetch", {});
  alone.farewell.tick(alone.step());
  EXPECT_TRUE(std::holds_alternative<Exit>(alone.out.back()));
}

TEST_F(FarewellTest, OneThatIsAloneAndHasBeenAskedAnswersFirst) {
  PeerRig alone;
  alone.enter();
  alone.farewell.asked(alone.now);
  ASSERT_TRUE(alone.farewell.exit(alone.step(), 0, "stopped"));
  alone.farewell.tick(alone.step());
  EXPECT_TRUE(alone.out.empty()) << "the answer is being sent";
  alone.now += exit_linger;
  alone.farewell.tick(alone.step());
  ASSERT_FALSE(alone.out.empty());
  EXPECT_TRUE(std::holds_alternative<Exit>(alone.out.back()));
}

TEST_F(FarewellTest, OneThatLeavesSaysSoUntilAnotherHasHeardIt) {
  rig_.lifecycle.leave(rig_.now + minutes(1));
  ASSERT_TRUE(rig_.farewell.exit(rig_.step(), 0, "left"));
  EXPECT_EQ(state(), ring::MemberState::left);
  EXPECT_EQ(rig_.store.meta(std::string(meta_name::left))->value_or(""), "yes");
  ASSERT_EQ(rig_.sent<ring::Sync>().size(), 1u);
  const ring::Sync word = rig_.sent<ring::Sync>().front();
  EXPECT_TRUE(word.reply_wanted);
  ASSERT_EQ(word.members.size(), 1u) << "its own record, and not the whole view";
  EXPECT_EQ(word.members.front().id, rig_.state.id);
  rig_.now += seconds(1);
  EXPECT_EQ(exit(), nullptr);
  EXPECT_EQ(rig_.sent<ring::Sync>().size(), 1u) << "said again";
  rig_.farewell.hear(rig_.now, {rig_.members.membership().self()});
  rig_.now += exit_linger;
  EXPECT_NE(exit(), nullptr);
}

TEST_F(FarewellTest, OneThatNoPeerHearsEndsAnyway) {
  rig_.lifecycle.leave(rig_.now + minutes(1));
  ASSERT_TRUE(rig_.farewell.exit(rig_.step(), 0, "left"));
  rig_.now += minutes(2);
  EXPECT_NE(exit(), nullptr);
}

TEST_F(FarewellTest, OneThatStillHasRecordsHasNotLeftByItsDirectory) {
  storage::Commit commit;
  storage::UrlRecord record;
  record.url = "http://a.test/";
  const CanonicalUrl url = *CanonicalUrl::parse(record.url);
  commit.merges.push_back({{rig_.state.partitioner.host_key(url), url.digest()}, record});
  ASSERT_TRUE(rig_.writer.commit(rig_.step(), commit));
  rig_.lifecycle.leave(rig_.now);
  ASSERT_TRUE(rig_.farewell.exit(rig_.step(), 0, "leave_timeout is over"));
  EXPECT_FALSE(*rig_.store.meta(std::string(meta_name::left)));
}

TEST_F(FarewellTest, AStoreThatFailsIsToldOfBeforeAnyWordOfALeave) {
  rig_.lifecycle.leave(rig_.now);
  rig_.kv.fail_after(0, storage::ErrorKind::io);
  EXPECT_FALSE(rig_.farewell.exit(rig_.step(), 0, "left"));
  EXPECT_TRUE(rig_.sent<ring::Sync>().empty());
}

TEST_F(FarewellTest, TheEndOfTheCrawlIsLoggedOnce) {
  rig_.farewell.finish(rig_.step(), "no URL is queued", {});
  EXPECT_TRUE(rig_.logged("crawl ended"));
  rig_.clear();
  rig_.farewell.finish(rig_.step(), "again", {});
  EXPECT_FALSE(rig_.logged("crawl ended"));
  EXPECT_TRUE(rig_.lifecycle.crawl_finished());
}

}  // namespace
}  // namespace orbweaver
