// Seeds that lead out of scope: which are kept, for how long, and what is reported about them.
#include "node/links/seed_redirects.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "node/crawl/meta_names.h"
#include "tests/unit/verdict_rig.h"

namespace orbweaver {
namespace {

class SeedRedirectsTest : public VerdictRig {
 protected:
  SeedRedirectsTest() {
    settings_.scope = ScopeKind::host;
    build({"http://a.test/"});
    start();
  }
  void start() {
    redirects_.emplace(settings_, *seeds_);
    storage::Commit commit;
    const auto left_out = redirects_->restore(store_, commit);
    ASSERT_TRUE(left_out);
    left_out_ = left_out->value_or("");
    ASSERT_TRUE(store_.commit(commit));
  }
  // The number of rows that the visit wrote.
  std::size_t note(const std::string& page, const std::string& target) {
    storage::Commit commit;
    redirects_->note(page, url(target), commit);
    EXPECT_TRUE(store_.commit(commit));
    return commit.meta.size();
  }

  std::optional<SeedRedirects> redirects_;
  std::string left_out_;
};

TEST_F(SeedRedirectsTest, ASeedThatLeadsOutIsKeptOverARestart) {
  EXPECT_EQ(note("http://a.test/", "http://www.a.test/"), 1u);
  EXPECT_EQ(note("http://a.test/", "http://www.a.test/"), 0u) << "nothing new";
  start();
  EXPECT_EQ(redirects_->target_of("http://a.test/"), "http://www.a.test/");
  EXPECT_EQ(redirects_->status().dump(), R"([{"to":"http://www.a.test/","url":"http://a.test/"}])");
}

TEST_F(SeedRedirectsTest, OtherPagesAndRedirectsWithinTheScopeAreNot) {
  EXPECT_EQ(note("http://a.test/page", "http://www.a.test/"), 0u);
  EXPECT_EQ(note("http://a.test/", "http://a.test/home"), 0u);
  EXPECT_EQ(note("http://a.test/", "http://b.test/" + std::string(2000, 'x')), 0u) << "too long to be told";
  EXPECT_TRUE(redirects_->empty());
}

TEST_F(SeedRedirectsTest, TheLatestVisitCounts) {
  note("http://a.test/", "http://b.test/");
  note("http://a.test/", "http://c.test/");
  EXPECT_EQ(redirects_->target_of("http://a.test/"), "http://c.test/");
  EXPECT_EQ(note("http://a.test/", "http://a.test/home"), 1u);
  start();
  EXPECT_TRUE(redirects_->empty());
}

TEST_F(SeedRedirectsTest, ATargetThatALaterSeedBringsIntoScopeIsNotTold) {
  note("http://a.test/", "http://b.test/");
  add_seeds({"http://b.test/x"});
  EXPECT_EQ(redirects_->target_of("http://a.test/"), "");
  EXPECT_TRUE(redirects_->status().empty());
}

TEST_F(SeedRedirectsTest, WithHopsOffSiteOnlyAListLeadsOut) {
  settings_.max_hops_off_site = 1;
  build({"http://a.test/"});
  start();
  EXPECT_EQ(note("http://a.test/", "http://b.test/"), 0u);
}

TEST_F(SeedRedirectsTest, SixtyFourAtMost) {
  for (int i = 0; i < 100; ++i) add_seeds({"http://a.test/" + std::to_string(i)});
  std::size_t kept = 0;
  for (int i = 0; i < 100; ++i) kept += note("http://a.test/" + std::to_string(i), "http://b.test/");
  EXPECT_EQ(kept, 64u);
}

TEST_F(SeedRedirectsTest, ARowThatCannotBeReadIsReplacedAndNamed) {
  storage::Commit commit;
  commit.meta.emplace_back(meta_name::redirects_out, "[1]");
  ASSERT_TRUE(store_.commit(commit));
  start();
  EXPECT_EQ(left_out_, "it is not a JSON object");
  start();
  EXPECT_EQ(left_out_, "");
}

}  // namespace
}  // namespace orbweaver
