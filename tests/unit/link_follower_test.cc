// The links of a page: the context in which each is found, the number of pieces, and which pages may name a sitemap.
#include "node/links/link_follower.h"

#include <gtest/gtest.h>

#include "node/robots/robots.h"
#include "tests/unit/verdict_rig.h"

namespace orbweaver {
namespace {

using std::chrono::seconds;
using storage::LinkFlag;

class LinkFollowerTest : public VerdictRig {
 protected:
  LinkFollowerTest() {
    settings_.trap_rules = {"same_content"};
    settings_.trap_same_content = 1;
    settings_.trap_budget = 0;
    settings_.scope = ScopeKind::host;
    settings_.sitemaps = SitemapUse::robots;
    start();
    job_.url = url("http://a.test/page");
    queued().url = "http://a.test/page";
    queued().depth = 2;
  }
  void start() {
    build({"http://a.test/"});
    redirects_.emplace(settings_, *seeds_);
    links_.emplace(LinkFollower::Around{.settings = settings_,
                                        .canonicaliser = canonicaliser_,
                                        .view = view_,
                                        .partitioner = partitioner_,
                                        .seeds = *seeds_,
                                        .bench = bench_,
                                        .traps = *traps_,
                                        .mirrors = *mirrors_,
                                        .router = *router_,
                                        .redirects = *redirects_});
  }
  storage::QueuedUrl& queued() { return std::get<PageFetch>(job_.what).queued; }
  // The robots.txt that the page waits for.
  RobotsFetch robots() { return {.origin = "http://a.test", .asked_for = queued()}; }
  static LinkList& list_of(PageRead& page) { return std::get<LinkList>(page.listed); }
  static std::vector<CanonicalUrl> urls(const std::vector<std::string>& texts) {
    std::vector<CanonicalUrl> urls;
    for (const std::string& text : texts) urls.push_back(url(text));
    return urls;
  }
  // The records of all links of the page, by their URLs.
  std::map<std::string, storage::UrlRecord> add(const PageRead& page) {
    storage::Commit commit;
    progress_ = {};
    links_->add(stepped_, job_, page, SIZE_MAX, progress_, commit);
    return records(commit);
  }
  static std::map<std::string, storage::UrlRecord> records(const storage::Commit& commit) {
    std::map<std::string, storage::UrlRecord> records;
    for (const storage::Merge& merge : commit.merges) records[merge.record.url] = merge.record;
    return records;
  }

  std::optional<SeedRedirects> redirects_;
  std::optional<LinkFollower> links_;
  FetchJob job_{.url = url("http://a.test/page"), .host = {}, .what = PageFetch{}};
  LinkFollower::Progress progress_;
};

TEST_F(LinkFollowerTest, LinksAreOneDeeperARedirectIsOneStepFurther) {
  queued().steps = 3;
  PageRead page;
  list_of(page).links = urls({"http://a.test/1", "http://other.test/"});
  page.redirect = url("http://a.test/2");
  page.skipped_links = 4;
  const auto found = add(page);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found.at("http://a.test/1").depth, 3);
  EXPECT_EQ(found.at("http://a.test/1").steps, 0);
  EXPECT_EQ(found.at("http://a.test/2").depth, 2);
  EXPECT_EQ(found.at("http://a.test/2").steps, 4);
  EXPECT_EQ(links_->found(), 3u) << "those out of scope too, and the redirect";
  EXPECT_EQ(links_->skipped(), 4u);
}

TEST_F(LinkFollowerTest, InPiecesTheyAreTheSameAndCountedOnce) {
  PageRead page;
  for (int i = 0; i < 10; ++i) list_of(page).links.push_back(url("http://a.test/" + std::to_string(i)));
  list_of(page).requisites = urls({"http://a.test/style.css"});
  page.redirect = url("http://a.test/end");
  storage::Commit commit;
  int pieces = 0;
  for (; progress_.next < LinkFollower::count(page); ++pieces) {
    EXPECT_FALSE(records(commit).contains("http://a.test/end")) << "with the last piece";
    links_->add(stepped_, job_, page, 4, progress_, commit);
  }
  EXPECT_EQ(pieces, 3);
  EXPECT_EQ(commit.merges.size(), 12u);
  EXPECT_EQ(links_->found(), 12u);
}

TEST_F(LinkFollowerTest, RequisitesComeOutOfScopeTooAndHaveNoneOfTheirOwn) {
  settings_.page_requisites = true;
  start();
  PageRead page;
  list_of(page).requisites = urls({"http://cdn.test/a.png"});
  const auto found = add(page);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found.at("http://cdn.test/a.png").depth, 2) << "as deep as its page";
  EXPECT_EQ(found.at("http://cdn.test/a.png").steps, 1);
  queued().url = "http://cdn.test/frame";
  queued().steps = 1;
  list_of(page).requisites = urls({"http://cdn.test/b.png"});
  EXPECT_EQ(add(page).size(), 0u);
  list_of(page).stylesheet = true;
  EXPECT_EQ(add(page).at("http://cdn.test/b.png").steps, 2) << "a stylesheet's are a step further";
}

TEST_F(LinkFollowerTest, UnderRecordLinksEachIsTracedWithWhatBecameOfIt) {
  settings_.record_links = true;
  PageRead page;
  list_of(page).links = urls({"http://a.test/1", "http://other.test/"});
  page.redirect = url("http://a.test/2");
  add(page);
  ASSERT_EQ(progress_.trace.links.size(), 3u);
  EXPECT_TRUE(progress_.trace.links[0].has(LinkFlag::in_scope));
  EXPECT_FALSE(progress_.trace.links[1].has(LinkFlag::in_scope));
  EXPECT_TRUE(progress_.trace.links[2].has(LinkFlag::redirect));
  EXPECT_FALSE(progress_.trace.links[0].has(LinkFlag::foreign));
}

TEST_F(LinkFollowerTest, AnIndexNamesSitemapsOfItsOwnHostAndOthersInScope) {
  job_.url = url("http://maps.test/index.xml");
  PageRead page;
  page.listed =
      SitemapIndexList{urls({"http://maps.test/1.xml", "http://a.test/2.xml", "http://other.test/3.xml"}), {}};
  const auto found = add(page);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found.at("http://maps.test/1.xml").depth, 2);
  EXPECT_EQ(found.at("http://maps.test/1.xml").steps, 1);
  EXPECT_TRUE(found.contains("http://a.test/2.xml"));
}

TEST_F(LinkFollowerTest, IndexesLieSoDeepInEachOtherAtMost) {
  queued().steps = 3;
  PageRead page;
  page.listed = SitemapIndexList{urls({"http://a.test/1.xml"}), {}};
  EXPECT_EQ(add(page).size(), 1u);
  queued().steps = 4;
  page.listed = SitemapIndexList{urls({"http://a.test/2.xml"}), {}};
  EXPECT_EQ(add(page).size(), 0u);
  EXPECT_EQ(links_->skipped(), 1u);
}

TEST_F(LinkFollowerTest, ASitemapsDatesCountOnALaterVisitOnly) {
  PageRead page;
  page.listed = SitemapList{urls({"http://a.test/1"}), {}, {Time{seconds{500}}}};
  EXPECT_EQ(add(page).at("http://a.test/1").lastmod, Time{});
  EXPECT_EQ(add(page).at("http://a.test/1").sitemap_visit, 0);
  queued().visit = 1;
  const storage::UrlRecord listed = add(page).at("http://a.test/1");
  EXPECT_EQ(listed.lastmod, Time{seconds{500}});
  EXPECT_EQ(listed.sitemap_visit, 0) << "the owner of the page, this peer, has judged the date";
  EXPECT_EQ(listed.visit, 0) << "the sitemap's visit is not the page's";
}

TEST_F(LinkFollowerTest, ARobotsFileOfAnOriginInScopeNamesSitemapsAnywhere) {
  RobotsRead read;
  read.sitemaps = urls({"http://maps.test/1.xml"});
  storage::Commit commit;
  links_->add_named_sitemaps(robots(), &read, commit);
  ASSERT_EQ(commit.merges.size(), 1u);
  EXPECT_EQ(commit.merges[0].record.depth, 3);
  EXPECT_EQ(commit.merges[0].record.steps, 0);
  queued().url = "http://maps.test/1.xml";
  read.sitemaps = urls({"http://maps.test/2.xml"});
  links_->add_named_sitemaps(robots(), &read, commit);
  EXPECT_EQ(commit.merges.size(), 1u) << "asked only for a sitemap";
}

TEST_F(LinkFollowerTest, SitemapsAtTheUsualPlacesAreAskedForWhereNoneIsNamed) {
  settings_.sitemaps = SitemapUse::well_known;
  storage::Commit commit;
  links_->add_named_sitemaps(robots(), nullptr, commit);
  EXPECT_TRUE(records(commit).contains("http://a.test/sitemap.xml"));
  EXPECT_TRUE(records(commit).contains("http://a.test/sitemap_index.xml"));
  settings_.sitemaps = SitemapUse::off;
  storage::Commit none;
  links_->add_named_sitemaps(robots(), nullptr, none);
  EXPECT_TRUE(none.merges.empty());
}

TEST_F(LinkFollowerTest, OnOneMoreCopyOfAPageLinksToItsHostAreSuspect) {
  ASSERT_TRUE(store_.commit(test::commit_of({.merges = {test::queued_merge(1, 1)}})));
  bench_.admit({.key = test::url_key_of(1, 1), .position = {}, .url = test::url_text(1, 1)}, test::host_text(1), false);
  job_.host = test::host_key_of(1);
  PageRead page;
  page.content = 42;
  list_of(page).links = urls({"http://a.test/1"});
  EXPECT_EQ(add(page).at("http://a.test/1").state, storage::UrlState::queued);
  list_of(page).links = urls({"http://a.test/2"});
  EXPECT_EQ(add(page).at("http://a.test/2").reason, storage::Reason::trap);
  EXPECT_TRUE(progress_.copy);
}

}  // namespace
}  // namespace orbweaver
