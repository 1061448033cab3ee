// The ring's seeds: durable with their records, admitted by their owners.
#include "node/coordination/seed_set.h"

#include <gtest/gtest.h>

#include "node/crawl/meta_names.h"
#include "tests/unit/peer_rig.h"

namespace orbweaver {
namespace {

class SeedSetTest : public testing::Test {
 protected:
  SeedSetTest() {
    seeds_.make_scope();
    rig_.enter();
  }
  std::string row(std::string_view name) { return rig_.store.meta(std::string(name))->value_or("none"); }

  PeerRig rig_;
  int changes_ = 0;
  SeedSet seeds_{rig_.state, rig_.members, rig_.messenger, rig_.writer, rig_.end, [this] { ++changes_; }};
};

TEST_F(SeedSetTest, NewSeedsAreDurableAndWidenTheScope) {
  const CanonicalUrl page = *CanonicalUrl::parse("http://a.test/page");
  EXPECT_FALSE(seeds_.scope().contains(page));
  ASSERT_TRUE(seeds_.add(rig_.step(), {"http://a.test/", "http://b.test/"}));
  EXPECT_EQ(row(meta_name::seeds), "http://a.test/\nhttp://b.test/\n");
  EXPECT_TRUE(seeds_.scope().contains(page));
  EXPECT_TRUE(seeds_.is_host("b.test"));
  EXPECT_EQ(changes_, 2) << "the scope, then the seeds";
}

TEST_F(SeedSetTest, KnownSeedsAndWhatIsNotAUrlWriteNothing) {
  ASSERT_TRUE(seeds_.add(rig_.step(), {"http://a.test/"}));
  const std::uint64_t before = seeds_.fingerprint();
  rig_.kv.fail_after(0, storage::ErrorKind::io);
  EXPECT_TRUE(seeds_.add(rig_.step(), {"http://a.test/", "not a URL"})) << "no write is made";
  EXPECT_EQ(seeds_.fingerprint(), before);
}

TEST_F(SeedSetTest, AStoreThatFailsIsToldOf) {
  rig_.kv.fail_after(0, storage::ErrorKind::io);
  const Result<void> added = seeds_.add(rig_.step(), {"http://a.test/"});
  ASSERT_FALSE(added);
  EXPECT_EQ(added.error().code, ErrorCode::io);
}

TEST_F(SeedSetTest, NewSeedsTakeUpACrawlThatHadEnded) {
  storage::Commit ended;
  rig_.end.remember(ring::Finish{1, "all done", {}}, ended);
  ASSERT_TRUE(rig_.writer.commit(rig_.step(), ended));
  ASSERT_TRUE(seeds_.add(rig_.step(), {"http://a.test/"}));
  EXPECT_FALSE(rig_.end.announced());
  EXPECT_EQ(row(meta_name::ended), "");
}

TEST_F(SeedSetTest, AnOwnerAdmitsEachSeedOnceAndAllAgainWhenOwnersChange) {
  ASSERT_TRUE(seeds_.add(rig_.step(), {"http://a.test/", "http://b.test/"}));
  ASSERT_TRUE(seeds_.admit_own(rig_.step()));
  EXPECT_EQ(rig_.store.counts().queued, 2u);
  seeds_.restore("http://c.test/\n");
  ASSERT_TRUE(seeds_.admit_own(rig_.step()));
  EXPECT_EQ(rig_.store.counts().queued, 2u) << "nothing new is due";
  seeds_.owners_changed();
  ASSERT_TRUE(seeds_.admit_own(rig_.step()));
  EXPECT_EQ(rig_.store.counts().queued, 3u) << "all are";
}

TEST_F(SeedSetTest, ManySeedsGoInSeveralMessages) {
  rig_.add_member(2, ring::MemberState::active);
  std::vector<std::string> many;
  for (std::size_t i = 0; i < SeedSet::per_message + 1; ++i) many.push_back("http://a.test/" + std::to_string(i));
  seeds_.send(rig_.step(), rig_id(2), many);
  const auto sent = rig_.sent<ring::Sync>();
  ASSERT_EQ(sent.size(), 2u);
  EXPECT_EQ(sent[0].seeds.size(), SeedSet::per_message);
  EXPECT_EQ(sent[1].seeds.size(), 1u);
}

TEST_F(SeedSetTest, OfARowWhatIsNotAUrlIsLeftOutWithItsFault) {
  SeedSet other(rig_.state, rig_.members, rig_.messenger, rig_.writer, rig_.end, [] {});
  const SeedSet::Restored restored = other.restore("http://a.test/\nrubbish\n");
  ASSERT_EQ(restored.left_out.size(), 1u);
  EXPECT_EQ(restored.row, "http://a.test/\n");
  EXPECT_EQ(other.size(), 1u);
}

}  // namespace
}  // namespace orbweaver
