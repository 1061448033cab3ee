// The question "explain": the state of a URL and its reason, as people read it.
#include "node/peer/explanation.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/unit/verdict_rig.h"

namespace orbweaver {
namespace {

using nlohmann::json;
using storage::Reason;
using storage::UrlRecord;
using storage::UrlState;

class ExplanationTest : public VerdictRig {
 protected:
  ExplanationTest() {
    settings_.trap_rules = {"deep_chain", "mirror"};
    settings_.trap_depth = 5;
    settings_.scope = ScopeKind::host;
    settings_.strip_index = true;
    start();
  }
  void start() {
    build({test::url_text(1, 0), test::url_text(1, 1)});
    redirects_.emplace(settings_, *seeds_);
    explanation_.emplace(Explanation::Around{.settings = settings_,
                                             .canonicaliser = canonicaliser_,
                                             .partitioner = partitioner_,
                                             .store = store_,
                                             .seeds = *seeds_,
                                             .bench = bench_,
                                             .router = *router_,
                                             .redirects = *redirects_,
                                             .traps = *traps_,
                                             .mirrors = *mirrors_,
                                             .membership = membership_});
  }
  void write(UrlRecord record) {
    const storage::UrlKey key{test::host_key_of(1), test::url_key_of(1, 1).url};
    ASSERT_TRUE(store_.commit(test::commit_of({.merges = {{key, std::move(record)}}})));
  }
  static UrlRecord ended(UrlState state, Reason reason, std::uint16_t status = 0) {
    UrlRecord record = test::queued_record(1, 1, 1);
    record.state = state;
    record.reason = reason;
    record.status = status;
    (state == UrlState::queued ? record.not_before : record.since) = Time{std::chrono::seconds{1000}};
    return record;
  }
  json explain(const std::string& url = test::url_text(1, 1)) { return explanation_->answer({{"url", url}}); }

  std::optional<SeedRedirects> redirects_;
  std::optional<Explanation> explanation_;
};

TEST_F(ExplanationTest, WhatIsNoUrlIsAnError) {
  EXPECT_TRUE(explain("mailto:x").contains("error"));
  EXPECT_TRUE(explanation_->answer({{"url", 7}}).contains("error"));
}

TEST_F(ExplanationTest, TellsTheFormTheOwnerAndWhatMadeItDiffer) {
  const json answer = explain("http://h1.test/index.html");
  EXPECT_EQ(answer["url"], "http://h1.test/");
  EXPECT_EQ(answer["canonical_rules"].size(), 1u);
  EXPECT_EQ(answer["owner"], test::peer_id(1).hex());
  EXPECT_EQ(answer["owner_address"], test::active_member(1).address);
}

TEST_F(ExplanationTest, AnUnknownUrlMayBeInScopeOrNot) {
  EXPECT_EQ(explain()["state"], "unknown");
  EXPECT_EQ(explain("http://other.test/")["state"], "out of scope");
  settings_.max_hops_off_site = 1;
  start();
  EXPECT_EQ(explain("http://other.test/")["state"], "unknown") << "a hop away";
}

TEST_F(ExplanationTest, AFetchedPageWithItsStatusAndValidator) {
  UrlRecord record = ended(UrlState::fetched, Reason::none, 200);
  record.validator = "e1";
  record.visit = 1;
  write(record);
  const json answer = explain();
  EXPECT_EQ(answer["state"], "fetched");
  EXPECT_EQ(answer["why"], "fetched; the server answered 200");
  EXPECT_EQ(answer["validator"], "e1");
  EXPECT_EQ(answer["visit"], 2) << "the second visit";
  EXPECT_EQ(answer["when"], "1970-01-01T00:16:40Z");
  EXPECT_FALSE(answer.contains("trap"));
}

TEST_F(ExplanationTest, ARedirectOutOfScopeNamesItsTarget) {
  write(ended(UrlState::fetched, Reason::none, 301));
  storage::Commit commit;
  redirects_->note(test::url_text(1, 1), *CanonicalUrl::parse("http://www.h1.test/"), commit);
  EXPECT_EQ(explain()["redirects_to"], "http://www.h1.test/");
}

TEST_F(ExplanationTest, AQueuedPageThatFailedBeforeTellsOfTheLastTry) {
  UrlRecord record = ended(UrlState::queued, Reason::broken);
  record.attempts = 2;
  write(record);
  const json answer = explain();
  EXPECT_EQ(answer["state"], "queued");
  EXPECT_TRUE(answer["why"].get<std::string>().starts_with("waits for try 3")) << answer["why"];
  EXPECT_TRUE(answer.contains("not_before"));
  EXPECT_FALSE(answer.contains("when"));
}

TEST_F(ExplanationTest, ASuspectNamesItsRuleAndAMirrorTheOtherHost) {
  UrlRecord record = ended(UrlState::excluded, Reason::trap);
  record.depth = 6;
  write(record);
  ASSERT_TRUE(store_.commit(test::commit_of({.meta = {{"mirror/" + test::host_text(1), "o.test"}}})));
  EXPECT_EQ(explain()["trap"], "deep_chain");
  EXPECT_EQ(explain()["mirror_of"], "o.test");
  EXPECT_EQ(explain()["reason"], "trap");
}

TEST_F(ExplanationTest, WhatIsBeingFetchedIsInFlight) {
  write(test::queued_record(1, 1, 1));
  bench_.admit({.key = test::url_key_of(1, 1), .position = {}, .url = test::url_text(1, 1)}, test::host_text(1), false);
  const Result<BenchHost*> host = bench_.take(stepped_);
  ASSERT_TRUE(host && *host != nullptr);
  bench_.issue(**host);
  EXPECT_EQ(explain()["state"], "in flight");
}

}  // namespace
}  // namespace orbweaver
