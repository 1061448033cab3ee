// The end of the crawl as it was reported to a peer, and its row.
#include "node/coordination/announced_end.h"

#include <gtest/gtest.h>

#include "node/crawl/meta_names.h"
#include "ring/codec.h"
#include "tests/unit/peer_rig.h"

namespace orbweaver {
namespace {

const ring::Finish finish{7, "no URL is queued", {{"fetched", 3}}};

std::string row_of(const storage::Commit& commit) {
  EXPECT_EQ(commit.meta.size(), 1u);
  EXPECT_EQ(commit.meta.front().first, meta_name::ended);
  return commit.meta.front().second;
}

TEST(AnnouncedEnd, IsReadBackFromItsRow) {
  PeerRig rig;
  storage::Commit commit;
  rig.end.remember(finish, commit);
  AnnouncedEnd other(rig.messenger);
  ASSERT_TRUE(other.restore(row_of(commit)));
  EXPECT_EQ(other.announced()->reason, finish.reason);
  EXPECT_EQ(other.announced()->totals, finish.totals);
}

TEST(AnnouncedEnd, TheFirstEndIsKept) {
  PeerRig rig;
  storage::Commit commit;
  rig.end.remember(finish, commit);
  rig.end.remember({8, "another", {}}, commit);
  EXPECT_EQ(commit.meta.size(), 1u);
  EXPECT_EQ(rig.end.announced()->reason, finish.reason);
}

TEST(AnnouncedEnd, OneThatIsAgreedToIsReadBackAsThat) {
  PeerRig rig;
  storage::Commit commit;
  rig.end.agree(finish, commit);
  EXPECT_TRUE(rig.end.closed());
  AnnouncedEnd other(rig.messenger);
  ASSERT_TRUE(other.restore(row_of(commit)));
  EXPECT_FALSE(other.announced());
  ASSERT_TRUE(other.agreed());
  EXPECT_TRUE(other.knows(finish.by, finish.wave));
  EXPECT_TRUE(other.closed()) << "a restart forgets no agreement";
  other.release();
  EXPECT_FALSE(other.closed());
  storage::Commit decided;
  other.remember(finish, decided);
  EXPECT_TRUE(other.announced());
  EXPECT_FALSE(other.agreed());
}

TEST(AnnouncedEnd, AfterARestartADecidedEndDoesNotKeepCommandsOut) {
  PeerRig rig;
  storage::Commit commit;
  rig.end.remember(finish, commit);
  EXPECT_TRUE(rig.end.closed());
  AnnouncedEnd other(rig.messenger);
  ASSERT_TRUE(other.restore(row_of(commit)));
  EXPECT_FALSE(other.closed());
}

TEST(AnnouncedEnd, WorkTakesItBackOnce) {
  PeerRig rig;
  storage::Commit commit;
  rig.end.reopen(commit);
  EXPECT_TRUE(commit.meta.empty()) << "there was none";
  rig.end.remember(finish, commit);
  storage::Commit again;
  rig.end.reopen(again);
  rig.end.reopen(again);
  EXPECT_EQ(row_of(again), "");
  EXPECT_FALSE(rig.end.announced());
}

TEST(AnnouncedEnd, ARowThatCannotBeReadIsAnEndAnyway) {
  PeerRig rig;
  EXPECT_FALSE(rig.end.restore("rubbish"));
  ASSERT_TRUE(rig.end.announced());
  EXPECT_EQ(rig.end.announced()->reason, "the crawl has ended");
  EXPECT_FALSE(rig.end.restore(ring::encode(rig.messenger.message(ring::FinishAck{1}, {}))))
      << "another message is not one";
}

}  // namespace
}  // namespace orbweaver
