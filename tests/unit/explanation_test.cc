// The question "explain": the state of a URL and why it is so, as people are told.
#include "node/crawl/explanation.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "node/config/settings_table.h"
#include "node/crawl/members.h"
#include "storage/memory_kv.h"
#include "tests/unit/crawl_keys.h"

namespace orbweaver {
namespace {

using nlohmann::json;
using storage::Reason;
using storage::UrlRecord;
using storage::UrlState;

class ExplanationTest : public testing::Test {
 protected:
  ExplanationTest() : settings_(default_settings()), store_(*storage::Store::open(kv_)) {
    settings_.trap_rules = {"deep_chain", "mirror"};
    settings_.trap_depth = 5;
    settings_.scope = ScopeKind::host;
    settings_.strip_index = true;
    start();
  }
  void start() {
    canonicaliser_.emplace(settings_);
    rules_ = TrapRules(settings_);
    scope_.emplace(settings_, std::vector<CanonicalUrl>{*CanonicalUrl::parse(test::url_text(1, 0))});
    const RecordWrite write = [this](const Step&, const storage::Commit& commit) -> Result<storage::CommitResult> {
      return *store_.commit(commit);
    };
    const auto scope = [this]() -> const Scope& { return *scope_; };
    mirrors_.emplace(MirrorTable::Around{.settings = settings_,
                                         .rules = rules_,
                                         .store = store_,
                                         .view = view_,
                                         .partitioner = partitioner_,
                                         .messenger = messenger_,
                                         .is_seed_host = [](const std::string&) { return false; },
                                         .write = write});
    traps_.emplace(settings_, rules_, store_, stepped_, *mirrors_);
    walk_.emplace(store_, *canonicaliser_, partitioner_, stepped_, write);
    router_.emplace(LinkRouter::Around{.settings = settings_,
                                       .store = store_,
                                       .view = view_,
                                       .partitioner = partitioner_,
                                       .scope = scope,
                                       .traps = *traps_,
                                       .walk = *walk_});
    redirects_.emplace(SeedRedirects::Around{
        .settings = settings_, .scope = scope, .is_seed = [](const std::string&) { return true; }});
    explanation_.emplace(Explanation::Around{.settings = settings_,
                                             .canonicaliser = *canonicaliser_,
                                             .partitioner = partitioner_,
                                             .store = store_,
                                             .scope = scope,
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
    record.changed = Time{std::chrono::seconds{1000}};
    return record;
  }
  json explain(const std::string& url = test::url_text(1, 1)) { return explanation_->answer({{"url", url}}); }

  Settings settings_;
  std::optional<Canonicaliser> canonicaliser_;
  storage::MemoryKv kv_;
  storage::Store store_;
  TrapRules rules_;
  View view_ = test::view_of(1, {1});
  Partitioner partitioner_{PartitionBy::host, test::few_partitions};
  PeerState state_{settings_, MemoryPlan{}, store_, test::active_member(1).id, {}};
  Members members_{state_, ring::Membership(test::active_member(1), {}, 1)};
  ring::Membership& membership_ = members_.membership();
  ring::Tenures tenures_{test::few_partitions};
  Messenger messenger_{state_, members_, tenures_};
  Workbench bench_{{}, store_, [](std::uint16_t) { return true; }};
  Time stepped_{std::chrono::seconds{1'000'000}};
  std::optional<Scope> scope_;
  std::optional<MirrorTable> mirrors_;
  std::optional<TrapJudge> traps_;
  std::optional<RecrawlWalk> walk_;
  std::optional<LinkRouter> router_;
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
  settings_.hops_off_site = 1;
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
