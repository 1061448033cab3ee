// The question "traps": what it lists, what it queues again, where it continues (docs/how-to/traps.md).
#include "node/peer/trap_report.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/unit/verdict_rig.h"

namespace orbweaver {
namespace {

using nlohmann::json;
using storage::UrlState;

class TrapReportTest : public VerdictRig {
 protected:
  TrapReportTest() {
    settings_.trap_rules = {"deep_chain", "same_content", "mirror"};
    settings_.trap_depth = 5;
    build();
    storage::Commit made;
    replication_.partition_manager.learn(replication_.partition_manager.make_ring(), made);
    report_.emplace(store_, partitioner_, *traps_, *mirrors_, replication_.partition_manager, writer_);
  }
  void keep_out(std::size_t host, std::size_t page, std::uint16_t depth) {
    storage::Merge merge = test::queued_merge(host, page, depth);
    merge.record.state = UrlState::excluded;
    merge.record.reason = storage::Reason::trap;
    ASSERT_TRUE(store_.commit(test::commit_of({.merges = {merge}})));
  }
  json ask(const json& body = json::object()) {
    const Result<json> answer = report_->answer({Time{}, out_}, "me", body);
    EXPECT_TRUE(answer);
    return answer ? *answer : json();
  }
  UrlState state_of(std::size_t host, std::size_t page) { return (*store_.find(test::url_key_of(host, page)))->state; }

  std::optional<TrapReport> report_;
  Commands out_;
};

TEST_F(TrapReportTest, ListsWhatIsKeptOutByRuleAndHostWithExamples) {
  for (std::size_t page = 1; page <= 5; ++page) keep_out(1, page, 6);
  keep_out(1, 6, 1);
  keep_out(2, 1, 6);
  ASSERT_TRUE(store_.commit(test::commit_of({.merges = {test::queued_merge(1, 7, 6)}})));
  const json answer = ask();
  ASSERT_EQ(answer["traps"].size(), 3u);
  EXPECT_EQ(answer["traps"][0]["rule"], "deep_chain");
  EXPECT_EQ(answer["traps"][0]["host"], test::host_text(1));
  EXPECT_EQ(answer["traps"][0]["saved"], 5);
  EXPECT_EQ(answer["traps"][0]["examples"].size(), 3u);
  EXPECT_EQ(answer["traps"][1]["host"], test::host_text(2));
  EXPECT_EQ(answer["traps"][2]["rule"], "same_content") << "nothing in the URL is suspect";
  EXPECT_EQ(answer["last"], "");
  EXPECT_EQ(answer["readmitted"], 0);
  EXPECT_EQ(state_of(1, 1), UrlState::excluded);
}

TEST_F(TrapReportTest, HostAndRuleNarrowWhatIsQueuedAgain) {
  keep_out(1, 1, 6);
  keep_out(1, 2, 1);
  keep_out(2, 1, 6);
  EXPECT_EQ(ask({{"readmit", true}, {"host", test::host_text(1)}, {"rule", "deep_chain"}})["readmitted"], 1);
  EXPECT_EQ(state_of(1, 1), UrlState::queued);
  EXPECT_EQ(state_of(1, 2), UrlState::excluded);
  EXPECT_EQ(state_of(2, 1), UrlState::excluded);
  EXPECT_EQ(ask({{"readmit", true}})["readmitted"], 2);
  EXPECT_EQ(ask()["traps"].size(), 0u);
}

TEST_F(TrapReportTest, AMirrorThatIsQueuedAgainIsNoneAnyMore) {
  ASSERT_TRUE(store_.commit(test::commit_of({.meta = {{"mirror/" + test::host_text(1), "o.test"}}})));
  keep_out(1, 1, 1);
  EXPECT_EQ(ask()["traps"][0]["mirror_of"], "o.test");
  const json again = ask({{"readmit", true}});
  EXPECT_EQ(again["readmitted"], 1);
  EXPECT_FALSE(again["traps"][0].contains("mirror_of"));
  EXPECT_EQ(mirrors_->mirror_of(test::host_text(1)), "");
}

TEST_F(TrapReportTest, GoesOnBehindTheUrlOfAnEarlierAnswerAndOthersRestIsNotItsOwn) {
  std::map<storage::UrlKey, std::string> kept;
  for (std::size_t page = 1; page <= 4; ++page) {
    keep_out(1, page, 6);
    kept[test::url_key_of(1, page)] = test::url_text(1, page);
  }
  const std::string second = std::next(kept.begin())->second;
  const json rest = ask({{"after", {{"me", second}}}});
  ASSERT_EQ(rest["traps"].size(), 1u);
  EXPECT_EQ(rest["traps"][0]["saved"], 2);
  EXPECT_EQ(ask({{"after", {{"another", second}}}})["traps"].size(), 0u);
}

TEST_F(TrapReportTest, PartitionsThatThePeerDoesNotHoldAreOthersToTell) {
  keep_out(1, 1, 6);
  const Replication other(state_);
  report_.emplace(store_, partitioner_, *traps_, *mirrors_, other.partition_manager, writer_);
  EXPECT_EQ(ask()["traps"].size(), 0u);
}

TEST_F(TrapReportTest, AFieldOfTheWrongKindIsAnAnswerAndAStoreThatFailsAnError) {
  EXPECT_TRUE(ask({{"readmit", 7}}).contains("error"));
  EXPECT_TRUE(ask({{"host", 7}}).contains("error"));
  keep_out(1, 1, 6);
  kv_.fail_after(0, storage::ErrorKind::io);
  EXPECT_FALSE(report_->answer({Time{}, out_}, "me", {{"readmit", true}}));
}

}  // namespace
}  // namespace orbweaver
