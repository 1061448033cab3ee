// The outcome of a link: in scope or not, own or foreign, known or new.
#include "node/links/link_router.h"

#include <gtest/gtest.h>

#include "node/crawl/link_limits.h"
#include "tests/unit/verdict_rig.h"

namespace orbweaver {
namespace {

using storage::Reason;
using storage::UrlState;

class LinkRouterTest : public VerdictRig {
 protected:
  LinkRouterTest() {
    settings_.trap_rules = {"same_content"};
    settings_.trap_budget = 0;
    settings_.scope = ScopeKind::any;
    build();
  }
  // The commit for one link, in a write of its own that is durable afterwards.
  storage::Commit route(const std::string& text, const LinkContext& context) {
    storage::Commit commit;
    router_->route(url(text), context, commit);
    EXPECT_TRUE(store_.commit(commit));
    router_->remember(commit, commit.merges.size());
    return commit;
  }
  storage::Commit route(std::size_t host, std::size_t page, const LinkContext& context) {
    return route(test::url_text(host, page), context);
  }
  // A host of a ring of two: one that this peer owns, or one that it does not.
  std::size_t a_host(bool own) const {
    std::size_t host = 1;
    while (view_.owns(test::host_key_of(host).partition) != own) ++host;
    return host;
  }
};

TEST_F(LinkRouterTest, AnOwnLinkBecomesARecordAndAForeignOneAnEntryOfTheOutbox) {
  view_ = test::view_of(1, {1, 2});
  const storage::Commit own = route(a_host(true), 1, {.depth = 3, .steps = 1});
  ASSERT_EQ(own.merges.size(), 1u);
  EXPECT_TRUE(own.to_outbox.empty());
  EXPECT_EQ(own.merges[0].record.depth, 3);
  EXPECT_EQ(own.merges[0].record.steps, 1);
  EXPECT_TRUE(own.merges[0].link);
  const storage::Commit foreign = route(a_host(false), 1, {.depth = 3});
  EXPECT_TRUE(foreign.merges.empty());
  ASSERT_EQ(foreign.to_outbox.size(), 1u);
  EXPECT_EQ(storage::decode_record(foreign.to_outbox[0].second)->url, test::url_text(a_host(false), 1));
  EXPECT_EQ(router_->counters().own, 1u);
  EXPECT_EQ(router_->counters().foreign, 1u);
}

TEST_F(LinkRouterTest, ASeedIsNoLinkThatAFilterMayTakeAsSeen) {
  EXPECT_FALSE(route(1, 1, {}).merges[0].link);
  EXPECT_TRUE(route(1, 2, {.steps = 1}).merges[0].link);
}

TEST_F(LinkRouterTest, WhatTheScopeKeepsOutGoesNowhere) {
  settings_.scope = ScopeKind::host;
  build();
  EXPECT_EQ(route(1, 1, {.depth = 1}).merges.size(), 1u);
  EXPECT_TRUE(route(2, 1, {.depth = 1}).merges.empty());
  EXPECT_EQ(router_->counters().out_of_scope, 1u);
}

TEST_F(LinkRouterTest, SoManyHopsLeadOffTheSeedsSitesAndARequisiteAnother) {
  settings_.scope = ScopeKind::host;
  settings_.max_hops_off_site = 1;
  build();
  const storage::Commit first = route(2, 1, {.depth = 1});
  ASSERT_EQ(first.merges.size(), 1u);
  EXPECT_EQ(first.merges[0].record.off_site, 1);
  EXPECT_TRUE(route(3, 1, {.depth = 2, .off_site = 1}).merges.empty());
  EXPECT_EQ(route(3, 2, {.depth = 2, .off_site = 1, .requisite = true}).merges.size(), 1u);
  EXPECT_EQ(route(1, 5, {.depth = 2, .off_site = 1}).merges[0].record.off_site, 0) << "home again";
}

TEST_F(LinkRouterTest, OnlyAListKeepsOutWhatARobotsFileNames) {
  settings_.scope = ScopeKind::host;
  build();
  storage::Commit commit;
  router_->admit_unless_listed(url(test::url_text(2, 1)), {.depth = 1}, commit);
  EXPECT_EQ(commit.merges.size(), 1u);
  settings_.url_deny = {"h2\\.test"};
  build();
  router_->admit_unless_listed(url(test::url_text(2, 2)), {.depth = 1}, commit);
  EXPECT_EQ(commit.merges.size(), 1u);
  EXPECT_EQ(router_->counters().out_of_scope, 1u);
}

TEST_F(LinkRouterTest, AKnownLinkGoesNoFurtherUnlessItsWayIsShorter) {
  EXPECT_EQ(route(1, 1, {.depth = 5}).merges.size(), 1u);
  EXPECT_TRUE(route(1, 1, {.depth = 5}).merges.empty());
  EXPECT_TRUE(route(1, 1, {.depth = 6}).merges.empty());
  EXPECT_EQ(route(1, 1, {.depth = 4}).merges.size(), 1u);
}

// Its sender relies on its copies (docs/decisions/0026-after-a-restart.md).
TEST_F(LinkRouterTest, AKnownLinkThatMayLackCopiesIsBroughtOnceMore) {
  const ring::Partition partition = test::host_key_of(1).partition;
  EXPECT_EQ(route(1, 1, {.depth = 5}).merges.size(), 1u);
  bool copied = false;
  KnownLinks known;
  known.copied = [&](ring::Partition asked) {
    EXPECT_EQ(asked, partition);
    return copied;
  };
  router_->note_known_in(&known);
  const storage::Commit again = route(1, 1, {.depth = 5});
  ASSERT_EQ(again.merges.size(), 1u);
  EXPECT_EQ(again.merges[0].record.url, test::url_text(1, 1));
  EXPECT_TRUE(known.own.empty());
  copied = true;
  EXPECT_TRUE(route(1, 1, {.depth = 5}).merges.empty());
  EXPECT_EQ(known.own, std::vector<ring::Partition>{partition});
  router_->note_known_in(nullptr);
  copied = false;
  EXPECT_TRUE(route(1, 1, {.depth = 5}).merges.empty()) << "nobody waits for its copies";
}

TEST_F(LinkRouterTest, ALinkOfAWriteThatWasNotMadeIsNotRemembered) {
  storage::Commit lost;
  router_->route(url(test::url_text(1, 1)), {.depth = 5}, lost);
  EXPECT_EQ(route(1, 1, {.depth = 5}).merges.size(), 1u);
}

TEST_F(LinkRouterTest, AForeignLinkIsRememberedUntilOwnersChange) {
  view_ = test::view_of(1, {1, 2});
  const std::size_t host = a_host(false);
  EXPECT_EQ(route(host, 1, {.depth = 1}).to_outbox.size(), 1u);
  EXPECT_TRUE(route(host, 1, {.depth = 1}).to_outbox.empty());
  router_->forget();
  EXPECT_EQ(route(host, 1, {.depth = 1}).to_outbox.size(), 1u);
}

TEST_F(LinkRouterTest, BeyondTheDepthAndTheRedirectsAnOwnLinkIsExcluded) {
  settings_.max_depth = 3;
  settings_.max_redirects = 2;
  EXPECT_EQ(route(1, 1, {.depth = 3, .steps = 2}).merges[0].record.state, UrlState::queued);
  const storage::UrlRecord deep = route(1, 2, {.depth = 4}).merges[0].record;
  EXPECT_EQ(deep.state, UrlState::excluded);
  EXPECT_EQ(deep.reason, Reason::depth);
  EXPECT_EQ(deep.since, Time{});
  EXPECT_EQ(route(1, 3, {.depth = 1, .steps = 3}).merges[0].record.reason, Reason::redirects);
}

TEST_F(LinkRouterTest, WithoutRedirectsARequisiteIsStillOneStepAway) {
  settings_.max_redirects = 0;
  EXPECT_EQ(route(1, 1, {.depth = 1, .steps = 1}).merges[0].record.reason, Reason::redirects);
  settings_.page_requisites = true;
  EXPECT_EQ(route(1, 2, {.depth = 1, .steps = 1}).merges[0].record.state, UrlState::queued);
}

TEST_F(LinkRouterTest, AnExclusionOfWhatAnotherPeerSentIsDated) {
  settings_.max_depth = 1;
  storage::UrlRecord record = test::queued_record(1, 1, 2);
  limit_link(record, settings_, stepped_);
  EXPECT_EQ(record.reason, Reason::depth);
  EXPECT_EQ(record.since, stepped_);
  storage::UrlRecord fetched = test::queued_record(1, 2, 2);
  fetched.state = UrlState::fetched;
  limit_link(fetched, settings_, stepped_);
  EXPECT_EQ(fetched.state, UrlState::fetched) << "what has ended is not judged again";
}

TEST_F(LinkRouterTest, ASuspectBeyondItsBudgetIsExcluded) {
  EXPECT_EQ(route(1, 1, {.depth = 1, .suspect = true}).merges[0].record.reason, Reason::trap);
  EXPECT_EQ(route(1, 2, {.depth = 1}).merges[0].record.state, UrlState::queued);
}

TEST_F(LinkRouterTest, BestFirstAKnownUrlGoesOutAgainWhenItsScoreHasRisen) {
  settings_.order = CrawlOrder::best;
  settings_.best_by = BestBy::inlinks;
  settings_.max_score_entries = 64;
  build();
  const LinkContext context{.depth = 1, .gives = 1};
  const std::uint16_t first = route(1, 1, context).merges[0].record.score;
  std::uint16_t last = first;
  for (int i = 0; i < 20; ++i)
    for (const storage::Merge& merge : route(1, 1, context).merges) {
      EXPECT_GT(merge.record.score, last);
      last = merge.record.score;
    }
  EXPECT_GT(last, first);
  EXPECT_GT(router_->counters().scores_raised, 0u);
  EXPECT_LT(router_->counters().scores_raised, 20u) << "reported when it has risen, not with each link";
}

TEST_F(LinkRouterTest, WhatAPageGivesItsLinks) {
  settings_.order = CrawlOrder::best;
  const std::vector<CanonicalUrl> links = {url(test::url_text(1, 1)), url(test::url_text(1, 2))};
  const std::vector<std::uint8_t> scores = {7, 9};
  storage::QueuedUrl source;
  source.url = test::url_text(1, 1);
  source.score = 40;
  settings_.best_by = BestBy::topic;
  EXPECT_EQ(router_->scored({}, source, links, scores, 1).score, 9);
  EXPECT_EQ(router_->scored({}, source, links, scores, 0).score, 0) << "its word for itself";
  settings_.best_by = BestBy::opic;
  EXPECT_EQ(router_->scored({}, source, links, scores, 1).gives, amount_of_score(40) / 2);
  settings_.best_by = BestBy::inlinks;
  EXPECT_EQ(router_->scored({}, source, links, scores, 1).gives, 1u);
  source.visit = 1;
  EXPECT_EQ(router_->scored({}, source, links, scores, 1).gives, 0u) << "what a page gives it gives once";
  EXPECT_EQ(LinkRouter::as_good_as({}, source).score, 40);
}

}  // namespace
}  // namespace orbweaver
