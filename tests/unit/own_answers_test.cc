// This peer's own answers to questions, verb by verb: node/peer/own_answers.h, docs/how-to/recrawl.md and traps.md.
#include "node/peer/own_answers.h"

#include "tests/unit/fetch_rig.h"

namespace orbweaver {
namespace {

using nlohmann::json;
using std::chrono::minutes;
using std::chrono::seconds;
using storage::Reason;
using storage::UrlState;

class OwnAnswersTest : public FetchRig {
 protected:
  // As a command's question comes: it is completed first.
  json ask(const std::string& verb, json body = json::object()) {
    if (const Result<void> complete = parts_->answers.complete(step(), verb, body); !complete)
      return {{"error", complete.error().message}};
    const Result<json> answer = parts_->answers.answer(step(), verb, body);
    EXPECT_TRUE(answer) << verb;
    return answer ? *answer : json();
  }
  std::string error_of(const std::string& verb, const json& body = json::object()) {
    return ask(verb, body).value("error", "");
  }
  static bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }
};

TEST_F(OwnAnswersTest, StatusIsThisPeers) {
  start();
  EXPECT_EQ(ask("status")["id"], rig_id(1).hex());
  EXPECT_TRUE(ask("status")["counts"].is_object());
}

TEST_F(OwnAnswersTest, ExplainTellsTheStateOfAUrl) {
  start();
  put("http://a.test/");
  EXPECT_EQ(ask("explain", {{"url", "http://a.test/"}})["state"], "queued");
}

TEST_F(OwnAnswersTest, HostsTellWhenTheyAreAskedAgainAndWhyNotNow) {
  start();
  for (const char* url : {"http://a.test/", "http://b.test/", "http://b.test/2"}) put(url);
  std::vector<BenchHost*> asked;  // their URLs come from disk with their turn
  while (BenchHost* const host = *parts_->records.bench.take(now_)) asked.push_back(host);
  EXPECT_EQ(ask("hosts")["hosts"][0]["why"], "it is being asked");
  for (BenchHost* const host : asked) parts_->records.bench.release(*host, now_ + seconds{3});
  const json first = ask("hosts")["hosts"];
  ASSERT_EQ(first.size(), 2u);
  EXPECT_EQ(first[0]["host"], "b.test") << "it needs longest";
  EXPECT_EQ(first[0]["queued"], 2);
  EXPECT_EQ(first[0]["delay_why"], "settings");
  EXPECT_EQ(first[0]["why"], "its delay");
  EXPECT_EQ(first[0]["next_us"], 3'000'000);
  ASSERT_TRUE(ask("order", {{"kind", "pause"}, {"host", "b.test"}, {"value", "yes"}})["taken"]);
  ASSERT_TRUE(ask("order", {{"kind", "delay"}, {"host", "b.test"}, {"value", "7000000"}})["taken"]);
  const json answer = ask("hosts", {{"limit", 1}});
  ASSERT_EQ(answer["hosts"].size(), 1u);
  EXPECT_EQ(answer["hosts_in_memory"], 2);
  EXPECT_EQ(answer["hosts"][0]["why"], "paused by an operator");
  EXPECT_EQ(answer["hosts"][0]["delay_us"], 7'000'000);
  EXPECT_EQ(answer["hosts"][0]["delay_why"], "order");
  EXPECT_TRUE(has(error_of("hosts", {{"limit", 501}}), "limit"));
  EXPECT_TRUE(has(error_of("hosts", {{"limit", "all"}}), "limit"));
}

TEST_F(OwnAnswersTest, HistoryIsThisPeers) {
  start();
  parts_->history.note(now_, {.pages = 3, .bytes = 30, .queued = 2, .failed = 1});
  const json answer = ask("history");
  EXPECT_EQ(answer["id"], rig_id(1).hex());
  EXPECT_EQ(answer["fine"]["pages"], json{3});
  EXPECT_EQ(answer["coarse"]["queued"], json{2});
}

TEST_F(OwnAnswersTest, SeedsAreAdmitted) {
  start();
  EXPECT_EQ(ask("seed", {{"urls", {"http://a.test/"}}})["accepted"], json{"http://a.test/"});
  EXPECT_EQ(store_->held().queued, 1u);
}

TEST_F(OwnAnswersTest, TrapsNamesThePeerThatAnswers) {
  start();
  const json answer = ask("traps");
  EXPECT_EQ(answer["id"], rig_id(1).hex());
  EXPECT_EQ(answer["address"], "10.0.0.1:7400");
  EXPECT_TRUE(answer["traps"].is_array() || answer["traps"].is_object()) << answer;
  EXPECT_FALSE(error_of("traps", {{"host", 7}}).empty());
}

TEST_F(OwnAnswersTest, AnUnknownVerbIsAnErrorThatNamesThoseThatAreKnown) {
  start();
  const std::string error = error_of("dance");
  EXPECT_TRUE(has(error, "'dance'")) << error;
  for (const char* verb :
       {"status", "explain", "seed", "traps", "order", "orders", "recrawl", "forget", "leave", "stop"}) {
    EXPECT_TRUE(has(error, verb)) << error;
  }
  for (const char* verb : {"status", "explain", "seed", "traps", "recrawl", "forget"})
    EXPECT_FALSE(has(error_of(verb), "unknown question")) << verb;
  EXPECT_LT(error_of(std::string(100'000, 'x')).size(), 1000u);
}

TEST_F(OwnAnswersTest, LeaveBeginsALeave) {
  start();
  EXPECT_EQ(ask("leave")["leaving"], rig_id(1).hex());
  EXPECT_TRUE(parts_->lifecycle.leaving());
  EXPECT_EQ(parts_->members.membership().self().state, ring::MemberState::leaving);
  const Time by = parts_->lifecycle.leave_by();
  advance(minutes(1));
  EXPECT_EQ(ask("leave")["leaving"], rig_id(1).hex()) << "reported twice it is one leave";
  EXPECT_EQ(parts_->lifecycle.leave_by(), by);
}

TEST_F(OwnAnswersTest, StopStops) {
  start();
  EXPECT_EQ(ask("stop")["stopping"], rig_id(1).hex());
  EXPECT_TRUE(parts_->lifecycle.stopping());
}

// --- orders

TEST_F(OwnAnswersTest, AnOrderIsTakenWithItsStampAndListed) {
  start();
  const json first = ask("order", {{"kind", "block"}, {"host", "A.test"}, {"value", "yes"}});
  EXPECT_EQ(first["taken"], true);
  EXPECT_EQ(first["id"], rig_id(1).hex());
  EXPECT_TRUE(parts_->state.sites.order_of("a.test").blocked);
  EXPECT_EQ(ask("status")["orders"]["blocked_hosts"], 1);
  ask("order", {{"kind", "pause"}, {"value", "yes"}});
  EXPECT_FALSE(parts_->fetches.gate.open());
  EXPECT_TRUE(has(ask("status")["not_fetching_because"].dump(), "orbweaver resume"));
  ask("order", {{"kind", "pause"}, {"value", ""}});
  EXPECT_TRUE(parts_->fetches.gate.open());
  const json orders = ask("orders")["orders"];
  ASSERT_EQ(orders.size(), 2u);
  EXPECT_EQ(orders[0]["name"], "block a.test");
  EXPECT_EQ(orders[1]["number"], 3);
  EXPECT_EQ(ask("order", {{"order", first["order"]}})["taken"], true) << "told twice it is one";
  json late = json::parse(first["order"].get<std::string>());
  late["value"] = "";
  late["number"] = 1;
  EXPECT_EQ(ask("order", {{"order", late.dump()}})["taken"], false) << "a later one is known";
  EXPECT_TRUE(parts_->state.sites.order_of("a.test").blocked);
  late["number"] = std::uint64_t{1} << 40;
  EXPECT_TRUE(has(error_of("order", {{"order", late.dump()}}), "number"));
  EXPECT_FALSE(error_of("order", {{"order", "rubbish"}}).empty());
  EXPECT_FALSE(error_of("order", {{"kind", "dance"}}).empty());
}

TEST_F(OwnAnswersTest, ARingHasNoMoreOrdersThanItMayHave) {
  start();
  const auto block = [&](std::size_t host) {
    return ask("order", {{"kind", "block"}, {"host", "h" + std::to_string(host) + ".test"}, {"value", "yes"}});
  };
  for (std::size_t host = 0; host < OperatorOrders::max_orders; ++host) ASSERT_EQ(block(host)["taken"], true);
  EXPECT_TRUE(has(block(OperatorOrders::max_orders).value("error", ""), "orbweaver orders"));
  EXPECT_EQ(block(0)["taken"], true) << "an order that is known may change";
  EXPECT_EQ(ask("recrawl")["taken"], true) << "a visit takes no place";
  EXPECT_EQ(ask("order", {{"kind", "block"}, {"host", "h1.test"}, {"value", ""}})["taken"], true);
  EXPECT_EQ(block(OperatorOrders::max_orders)["taken"], true) << "there is room again";
}

// --- recrawl

// The others may end at any moment; after a restart there is no such moment.
TEST_F(OwnAnswersTest, AtTheEndNoWorkIsTakenUntilARestart) {
  start();
  storage::UrlRecord fetched;
  fetched.state = UrlState::fetched;
  fetched.status = 200;
  fetched.since = now_ - minutes(1);
  put("http://a.test/", fetched);
  storage::Commit commit;
  parts_->ends.crawl.remember({1, "done", {}}, commit);
  ASSERT_TRUE(store_->commit(commit));
  EXPECT_TRUE(has(error_of("recrawl"), "the crawl is ending"));
  EXPECT_TRUE(has(error_of("seed", {{"urls", {"http://b.test/"}}}), "the crawl is ending"));
  expect("http://a.test/", UrlState::fetched, Reason::none, 200);
  EXPECT_TRUE(parts_->ends.crawl.announced());
}

TEST_F(OwnAnswersTest, RecrawlQueuesWhatEndedBeforeAndReopensTheCrawl) {
  start();
  storage::UrlRecord fetched;
  fetched.state = UrlState::fetched;
  fetched.status = 200;
  fetched.since = now_ - minutes(1);
  put("http://a.test/", fetched);
  storage::Commit commit;
  parts_->ends.crawl.remember({1, "done", {}}, commit);
  ASSERT_TRUE(store_->commit(commit));
  start();
  ASSERT_TRUE(parts_->ends.crawl.restore(meta(meta_name::ended)));
  ASSERT_TRUE(parts_->ends.crawl.announced());
  const json answer = ask("recrawl");
  EXPECT_EQ(answer["taken"], true);
  EXPECT_EQ(answer["id"], rig_id(1).hex());
  EXPECT_EQ(answer["address"], "10.0.0.1:7400");
  expect("http://a.test/", UrlState::queued, Reason::none);
  EXPECT_EQ(record("http://a.test/").visit, 1);
  EXPECT_FALSE(parts_->ends.crawl.announced());
  EXPECT_EQ(meta(meta_name::ended), "");
}

TEST_F(OwnAnswersTest, ARecrawlToldTwiceIsOne) {
  start();
  storage::UrlRecord fetched;
  fetched.state = UrlState::fetched;
  fetched.since = now_ - minutes(1);
  put("http://a.test/", fetched);
  const json question = {{"before_us", now_.time_since_epoch().count()}};
  const json first = ask("recrawl", question);
  EXPECT_EQ(first["taken"], true);
  ASSERT_TRUE(answer(begin(), 200));
  const std::uint64_t writes = kv_.writes();
  advance(minutes(1));
  const json told = {{"order", first["order"]}};
  EXPECT_EQ(ask("recrawl", told), first);
  EXPECT_EQ(kv_.writes(), writes);
  EXPECT_EQ(record("http://a.test/").state, UrlState::fetched);
}

TEST_F(OwnAnswersTest, ARecrawlThatCannotBeReadNamesItsField) {
  start();
  EXPECT_TRUE(has(error_of("recrawl", {{"before_us", "yesterday"}}), "before_us"));
  EXPECT_FALSE(error_of("recrawl", {{"match", "("}}).empty());
  EXPECT_FALSE(parts_->verdicts.walk.under_way());
}

TEST_F(OwnAnswersTest, APeerThatStopsBeginsNoRecrawl) {
  start();
  parts_->lifecycle.stop();
  EXPECT_EQ(error_of("recrawl"), "this peer is stopping");
}

TEST_F(OwnAnswersTest, ARecrawlBeginsThoughItsWalkWaitsForThisPeersPlace) {
  start();
  parts_->fence.raise();
  EXPECT_EQ(ask("recrawl")["taken"], true);
  EXPECT_TRUE(parts_->verdicts.walk.under_way());
  EXPECT_NE(meta(meta_name::recrawl), "") << "it survives a restart";
}

TEST_F(OwnAnswersTest, AStoreThatFailsIsAnError) {
  start();
  json order = json::object();
  ASSERT_TRUE(parts_->answers.complete(step(), "recrawl", order));
  kv_.fail_after(0, storage::ErrorKind::io);
  EXPECT_FALSE(parts_->answers.answer(step(), "recrawl", order));
  EXPECT_FALSE(parts_->answers.answer(step(), "seed", {{"urls", {"http://a.test/"}}}));
}

// --- forget

TEST_F(OwnAnswersTest, ForgetTakesAPeerThatIsDownForGoneForGood) {
  start();
  add_member(2, ring::MemberState::down);
  EXPECT_EQ(ask("forget", {{"id", rig_id(2).hex()}})["forgotten"], rig_id(2).hex());
  EXPECT_EQ(parts_->members.membership().find(rig_id(2))->state, ring::MemberState::left);
}

TEST_F(OwnAnswersTest, ForgetTakesTheFirstDigitsWhenTheyNameOneMember) {
  start();
  add_member(0x20, ring::MemberState::down);
  add_member(0x21, ring::MemberState::down);
  EXPECT_TRUE(has(error_of("forget", {{"id", "2"}}), "2 members")) << error_of("forget", {{"id", "2"}});
  EXPECT_EQ(parts_->members.membership().find(rig_id(0x20))->state, ring::MemberState::down);
  EXPECT_EQ(ask("forget", {{"id", "21"}})["forgotten"], rig_id(0x21).hex());
  EXPECT_EQ(parts_->members.membership().find(rig_id(0x20))->state, ring::MemberState::down);
}

TEST_F(OwnAnswersTest, ForgetRefusesWhomNobodyIsAndWhoIsNotDown) {
  start();
  add_member(2);
  EXPECT_TRUE(has(error_of("forget", {{"id", "ff"}}), "'ff'"));
  EXPECT_FALSE(error_of("forget").empty()) << "no digits name nobody";
  EXPECT_FALSE(error_of("forget", {{"id", 2}}).empty());
  const std::string active = error_of("forget", {{"id", rig_id(2).hex()}});
  EXPECT_TRUE(has(active, "not down")) << active;
  EXPECT_TRUE(has(active, "orbweaver leave --peer 10.0.0.2:7400")) << active;
  EXPECT_FALSE(error_of("forget", {{"id", rig_id(1).hex()}}).empty()) << "not itself";
}

// --- which peer knows most of a URL

TEST_F(OwnAnswersTest, TheHolderKnowsMostAndWithNobodyThereTheOwner) {
  start();
  const std::string page = "http://a.test/";
  EXPECT_EQ(parts_->answers.who_knows(url(page)), std::nullopt) << "this peer";
  add_member(2);
  give_partition(page, 2);
  EXPECT_EQ(parts_->answers.who_knows(url(page)), rig_id(2));
  give_partition(page, 9);  // no peer knows this member
  const ring::PeerId owner = parts_->members.view().owner(key(page).host.partition);
  EXPECT_EQ(parts_->answers.who_knows(url(page)),
            owner == rig_id(1) ? std::nullopt : std::optional<ring::PeerId>(owner));
}

}  // namespace
}  // namespace orbweaver
