// The end of the crawl as one peer of the ring lives it: told, acknowledged, durable.
#include "node/coordination/ending.h"

#include <gtest/gtest.h>

#include "node/crawl/meta_names.h"
#include "tests/unit/peer_rig.h"

namespace orbweaver {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

class EndingTest : public testing::Test {
 protected:
  EndingTest() { rig_.enter(); }
  bool hear(std::uint8_t from, std::uint64_t wave, std::uint64_t sequence = 0, std::uint64_t pages = 0) {
    granted_.reset();
    ring::WaveProbe probe;
    probe.wave = wave;
    probe.grant_sequence = sequence;
    probe.grant_pages = pages;
    return ending_.hear(rig_.now, rig_id(from), probe, granted_);
  }

  static Settings that_end() {
    Settings settings = rig_settings();
    settings.stop_when_done = true;
    return settings;
  }

  PeerRig rig_{that_end()};
  Ending ending_{rig_.state, rig_.members, rig_.messenger, rig_.lifecycle, rig_.writer, rig_.end, rig_.farewell};
  std::optional<std::uint64_t> granted_;
};

TEST_F(EndingTest, AnEndThatAnotherFoundIsDurableBeforeItIsAcknowledged) {
  rig_.add_member(2, ring::MemberState::active);
  ASSERT_TRUE(ending_.hear(rig_.step(), rig_id(2), ring::Finish{5, "all done", {{"fetched", 3}}}, {"route"}));
  EXPECT_NE(rig_.store.meta(std::string(meta_name::ended))->value_or(""), "");
  EXPECT_EQ(rig_.sent<ring::FinishAck>().size(), 1u);
  EXPECT_TRUE(rig_.lifecycle.crawl_finished());
  EXPECT_EQ(rig_.lifecycle.exit().totals.at("fetched"), 3u);
}

TEST_F(EndingTest, WhenTheStoreFailsNothingIsAcknowledged) {
  rig_.kv.fail_after(0, storage::ErrorKind::io);
  EXPECT_FALSE(ending_.hear(rig_.step(), rig_id(2), ring::Finish{5, "all done", {}}, {"route"}));
  EXPECT_TRUE(rig_.sent<ring::FinishAck>().empty());
  EXPECT_FALSE(rig_.lifecycle.ending());
}

TEST_F(EndingTest, ANewcomerThatWasLetInMeanwhileIsToldUntilItAcknowledges) {
  rig_.add_member(2, ring::MemberState::active);
  ASSERT_TRUE(ending_.hear(rig_.step(), rig_id(3), ring::Finish{5, "all done", {}}, {"route"}));
  rig_.clear();
  ending_.tell_newcomer(rig_.step(), rig_id(2), {"route"});
  EXPECT_EQ(rig_.sent<ring::Finish>().size(), 1u);
  ending_.acknowledged(rig_id(2));
  rig_.clear();
  ending_.tell_newcomer(rig_.step(), rig_id(2), {"route"});
  EXPECT_TRUE(rig_.sent<ring::Finish>().empty());
}

TEST_F(EndingTest, AloneInARingThatHadEndedItEndsAgainWithTheSameWords) {
  storage::Commit commit;
  rig_.end.remember(ring::Finish{1, "all done", {{"fetched", 3}}}, commit);
  Ending::Own own;
  own.rests = false;
  ASSERT_TRUE(ending_.tick(rig_.step(), own));
  EXPECT_FALSE(rig_.lifecycle.ending()) << "it has new work";
  own.rests = true;
  ASSERT_TRUE(ending_.tick(rig_.step(), own));
  EXPECT_TRUE(rig_.lifecycle.crawl_finished());
  EXPECT_EQ(rig_.lifecycle.exit().message, "all done");
}

TEST_F(EndingTest, AGrantCountsOnce) {
  EXPECT_TRUE(hear(2, 10, 4, 100));
  EXPECT_EQ(granted_, 100u);
  EXPECT_EQ(ending_.grant_heard(), 4u);
  EXPECT_TRUE(hear(2, 11, 4, 100));
  EXPECT_FALSE(granted_);
}

TEST_F(EndingTest, ALateCopyOfAnOlderWaveIsPassedOver) {
  EXPECT_TRUE(hear(2, 10, 4, 100));
  EXPECT_FALSE(hear(2, 9, 5, 500));
  EXPECT_FALSE(granted_);
  rig_.now += minutes(2);
  EXPECT_TRUE(hear(2, 9, 5, 500)) << "no transport holds a message for this long";
}

TEST_F(EndingTest, AnotherInitiatorsGrantsAreCountedAgain) {
  EXPECT_TRUE(hear(2, 10, 4, 100));
  EXPECT_TRUE(hear(3, 2, 1, 50));
  EXPECT_EQ(granted_, 50u);
}

TEST_F(EndingTest, AWaveFromTheFutureIsRefusedWithItsReason) {
  ring::WaveProbe probe;
  probe.wave = 1;
  EXPECT_FALSE(ending_.fault(rig_.now, probe));
  probe.wave = ~0ull;
  EXPECT_NE(ending_.fault(rig_.now, probe).value_or("").find("hours ahead"), std::string::npos);
}

}  // namespace
}  // namespace orbweaver
