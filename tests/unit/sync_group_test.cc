// Pages that share syncs: which sync serves which page, whose file failed, who leads.
#include "node/crawl/sync_group.h"

#include <gtest/gtest.h>

namespace orbweaver {
namespace {

class NoFile final : public storage::SyncedFile {
 public:
  storage::Result<void> sync() override { return {}; }
};

PageDone page(std::uint64_t id) {
  PageDone done;
  done.id = id;
  done.what = PageRead{};
  return done;
}

std::vector<std::uint64_t> ids(const std::vector<PageDone>& pages) {
  std::vector<std::uint64_t> found;
  for (const PageDone& done : pages) found.push_back(done.id);
  return found;
}

using Ids = std::vector<std::uint64_t>;

class SyncGroupTest : public testing::Test {
 protected:
  SyncGroup::File archive_ = std::make_shared<NoFile>();
  SyncGroup::File other_ = std::make_shared<NoFile>();
  SyncGroup::File text_ = std::make_shared<NoFile>();
  SyncGroup group_;
};

TEST_F(SyncGroupTest, APageAloneIsSyncedAtOnce) {
  EXPECT_TRUE(group_.add(page(1), {archive_}));
  EXPECT_EQ(group_.begin(), std::vector{archive_});
  EXPECT_EQ(ids(group_.end({{}})), Ids{1});
  EXPECT_TRUE(group_.begin().empty());
  EXPECT_TRUE(group_.add(page(2), {archive_})) << "nobody leads any more";
}

TEST_F(SyncGroupTest, OneLeadsAndTheOthersGoOn) {
  EXPECT_TRUE(group_.add(page(1), {archive_}));
  EXPECT_FALSE(group_.add(page(2), {archive_}));
  EXPECT_EQ(group_.begin().size(), 1u);
  EXPECT_FALSE(group_.add(page(3), {archive_}));
  (void)group_.end({{}});
  EXPECT_FALSE(group_.add(page(4), {archive_})) << "the leader has not seen yet that nothing waits";
}

TEST_F(SyncGroupTest, OneSyncServesAllThatWasWrittenBeforeItAndNothingElse) {
  (void)group_.add(page(1), {archive_});
  (void)group_.begin();
  for (const std::uint64_t id : {2u, 3u, 4u}) (void)group_.add(page(id), {archive_});
  EXPECT_EQ(ids(group_.end({{}})), Ids{1});
  EXPECT_EQ(group_.begin(), std::vector{archive_});
  EXPECT_EQ(ids(group_.end({{}})), (Ids{2, 3, 4}));
  EXPECT_EQ(group_.syncs(), 2u);
  EXPECT_EQ(group_.pages(), 4u);
}

TEST_F(SyncGroupTest, EachFileIsSyncedOnce) {
  (void)group_.add(page(1), {archive_, text_});
  (void)group_.add(page(2), {other_});
  (void)group_.add(page(3), {archive_, text_});
  EXPECT_EQ(group_.begin(), (std::vector{archive_, text_, other_}));
  EXPECT_EQ(ids(group_.end({{}, {}, {}})), (Ids{1, 2, 3}));
  EXPECT_EQ(group_.syncs(), 3u);
}

TEST_F(SyncGroupTest, APageWhoseFileFailedDoesNotCount) {
  (void)group_.add(page(1), {archive_, text_});
  (void)group_.add(page(2), {other_});
  (void)group_.begin();
  const std::vector<PageDone> pages = group_.end({{}, fail(ErrorCode::io, "cannot sync text"), {}});
  ASSERT_EQ(ids(pages), (Ids{1, 2}));
  const auto* const failed = std::get_if<NotWritten>(&pages[0].what);
  ASSERT_NE(failed, nullptr);
  EXPECT_EQ(failed->failure.message, "cannot sync text");
  EXPECT_TRUE(std::holds_alternative<PageRead>(pages[1].what));
  EXPECT_EQ(group_.syncs(), 2u);
  EXPECT_EQ(group_.pages(), 1u);
}

}  // namespace
}  // namespace orbweaver
