// Mirrors in the ring: which peer gets a page's fingerprint, which one gets the hint, and how the verdict is used.
#include "node/links/mirror_table.h"

#include <gtest/gtest.h>

#include "node/crawl/meta_names.h"
#include "ring/md5.h"
#include "tests/unit/verdict_rig.h"

namespace orbweaver {
namespace {

using std::chrono::milliseconds;

// The table of peer 1, in a ring of `peers`.
class MirrorTableTest : public VerdictRig {
 protected:
  MirrorTableTest() {
    settings_.trap_rules = {"mirror"};
    settings_.trap_mirror_pages = 2;
    membership_.merge({test::active_member(2)}, Time{});
    start({1});
  }
  void start(const std::vector<std::size_t>& peers, const std::vector<std::string>& seeds = {}) {
    view_ = test::view_of(1, peers);
    build(seeds);
  }
  // Fetches a page at a path that all hosts have; pages with the same `content` have the same body.
  void fetch(const std::string& host, int page, std::uint64_t content) {
    mirrors_->note_page(now_, *CanonicalUrl::parse("http://" + host + "/" + std::to_string(page)), content);
    now_ += milliseconds{300};
    EXPECT_TRUE(mirrors_->tick({now_, out_}));
  }
  void fetch_both(int pages) {
    for (int page = 1; page <= pages; ++page) {
      fetch("one.test", page, 77);
      fetch("the-same.test", page, 77);
    }
  }
  std::optional<std::string> row(const std::string& host) {
    return *store_.meta(std::string(meta_name::mirror) + host);
  }
  template <class Body>
  std::vector<Body> sent() const {
    std::vector<Body> bodies;
    for (const Command& command : out_)
      if (const auto* message = std::get_if<SendMessage>(&command))
        if (const auto* body = std::get_if<Body>(&message->message.body)) bodies.push_back(*body);
    return bodies;
  }

  Time now_{std::chrono::seconds{1000}};
  Commands out_;
};

TEST_F(MirrorTableTest, AHostWithTheSamePagesIsAMirrorOfTheOneWithTheBetterName) {
  fetch_both(1);
  EXPECT_EQ(mirrors_->mirror_of("the-same.test"), "");
  fetch_both(2);
  EXPECT_EQ(mirrors_->mirror_of("the-same.test"), "one.test");
  EXPECT_EQ(mirrors_->mirror_of("one.test"), "");
  EXPECT_EQ(row("the-same.test"), "one.test");
}

TEST_F(MirrorTableTest, ASeedsHostIsKeptWhateverItsName) {
  start({1}, {"http://the-same.test/"});
  fetch_both(3);
  EXPECT_EQ(mirrors_->mirror_of("the-same.test"), "");
  EXPECT_EQ(mirrors_->mirror_of("one.test"), "the-same.test");
}

TEST_F(MirrorTableTest, TwoSeedsAreNoMirrorsOfEachOther) {
  start({1}, {"http://the-same.test/", "http://one.test/"});
  fetch_both(3);
  EXPECT_EQ(mirrors_->mirror_of("the-same.test"), "");
  EXPECT_EQ(mirrors_->mirror_of("one.test"), "");
}

TEST_F(MirrorTableTest, AVerdictSurvivesARestartAndALiftedOneStaysLifted) {
  fetch_both(3);
  start({1});
  EXPECT_EQ(mirrors_->mirror_of("the-same.test"), "one.test");
  EXPECT_TRUE(mirrors_->lift({now_, out_}, "the-same.test"));
  EXPECT_EQ(mirrors_->mirror_of("the-same.test"), "");
  start({1});
  fetch_both(3);
  EXPECT_EQ(mirrors_->mirror_of("the-same.test"), "");
  EXPECT_EQ(row("the-same.test"), "");
}

TEST_F(MirrorTableTest, WithoutTheRuleNothingIsToldAndNobodyIsAMirror) {
  fetch_both(3);
  settings_.trap_rules = {};
  rules_ = TrapRules(settings_);
  EXPECT_EQ(mirrors_->mirror_of("the-same.test"), "");
  mirrors_->note_page(now_, *CanonicalUrl::parse("http://other.test/"), 5);
  EXPECT_FALSE(mirrors_->next_deadline());
}

TEST_F(MirrorTableTest, APageWithoutABodyIsNotTold) {
  mirrors_->note_page(now_, *CanonicalUrl::parse("http://one.test/"), 0);
  EXPECT_FALSE(mirrors_->next_deadline());
}

TEST_F(MirrorTableTest, SightingsWaitForMoreAndGoToTheirOwner) {
  start({2});
  mirrors_->note_page(now_, *CanonicalUrl::parse("http://one.test/1"), 77);
  mirrors_->note_page(now_, *CanonicalUrl::parse("http://one.test/2"), 77);
  EXPECT_EQ(mirrors_->next_deadline(), now_ + milliseconds{200});
  EXPECT_TRUE(mirrors_->tick({now_ + milliseconds{199}, out_}));
  EXPECT_TRUE(out_.empty());
  EXPECT_TRUE(mirrors_->tick({now_ + milliseconds{200}, out_}));
  ASSERT_EQ(sent<ring::PageFingerprints>().size(), 1u);
  EXPECT_EQ(sent<ring::PageFingerprints>().front().fingerprints.size(), 2u);
  EXPECT_FALSE(mirrors_->next_deadline());
}

TEST_F(MirrorTableTest, TheOwnersOfBothHostsHearOfAPageThatIsTheSame) {
  start({2});
  const std::string longest(255, 'h');
  EXPECT_TRUE(
      mirrors_->on_page_fingerprints({now_, out_}, {{{1, "a.test"}, {1, "b.test"}, {2, longest}, {2, longest + "h"}}}));
  ASSERT_EQ(sent<ring::MirrorHints>().size(), 1u) << "one peer owns both; a name that is too long is left out";
  EXPECT_EQ(sent<ring::MirrorHints>().front().pages.size(), 2u);
}

TEST_F(MirrorTableTest, OnlyTheOwnerOfAHostJudgesIt) {
  fetch_both(1);
  start({2});
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(mirrors_->on_mirror_hints({now_, out_}, {{{"the-same.test", "one.test"}}}));
  EXPECT_FALSE(row("the-same.test"));
}

TEST_F(MirrorTableTest, AStoreThatFailsIsAnError) {
  fetch_both(1);
  fetch("one.test", 2, 77);
  mirrors_->note_page(now_, *CanonicalUrl::parse("http://the-same.test/2"), 77);
  kv_.fail_after(0, storage::ErrorKind::io);
  EXPECT_FALSE(mirrors_->tick({now_ + milliseconds{300}, out_}));
  EXPECT_FALSE(mirrors_->lift({now_, out_}, "one.test"));
}

}  // namespace
}  // namespace orbweaver
