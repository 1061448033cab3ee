// A core before and after it knows its ring: a joiner asks, is let in or gives up, and becomes a peer once.
#include "node/peer/core.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "node/config/settings_table.h"
#include "node/crawl/meta_names.h"
#include "tests/unit/peer_rig.h"

namespace orbweaver {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class CoreTest : public testing::Test {
 protected:
  void open(std::vector<std::string> join = {"10.0.0.2:7400"}) {
    store_.emplace(*storage::Store::open(kv_));
    PeerStart start;
    start.settings.values = rig_settings();
    start.settings.values.join = std::move(join);
    start.address = "10.0.0.1:7400";
    start.fresh_id = rig_id(1);
    start.fresh_ring = rig_id(200);
    start.random_seed = 1;
    start.at_work = at_work_;
    start.recrawl = recrawl_;
    auto opened = Core::open(std::move(start), *store_, now_);
    ASSERT_TRUE(opened) << opened.error().message;
    core_ = std::move(*opened);
  }
  Commands step(Event event = TickEvent{}) {
    Commands out;
    now_ += milliseconds(1);
    core_->step(now_, std::move(event), out);
    return out;
  }
  Commands receive(ring::Body body) {
    return step(MessageEvent{{ring::protocol_version, rig_id(200), rig_id(2), 0, std::move(body)}, {"route"}});
  }
  ring::Welcome welcome() {
    ring::Welcome welcome;
    welcome.ring = rig_id(200);
    welcome.settings = ring_wide_settings(rig_settings());
    ring::Member other;
    other.id = rig_id(2);
    other.address = "10.0.0.2:7400";
    other.incarnation = other.started = static_cast<std::uint64_t>(now_.time_since_epoch().count());
    other.state = ring::MemberState::active;
    welcome.members = {other};
    welcome.directives_fingerprint = ring::leading_bits(ring::md5(""));
    return welcome;
  }
  static std::size_t joins(const Commands& commands) {
    return static_cast<std::size_t>(std::count_if(commands.begin(), commands.end(), [](const Command& command) {
      const auto* send = std::get_if<SendMessage>(&command);
      return send != nullptr && std::holds_alternative<ring::Join>(send->message.body);
    }));
  }
  static const Exit* exit_of(const Commands& commands) {
    for (const Command& command : commands)
      if (const auto* exit = std::get_if<Exit>(&command)) return exit;
    return nullptr;
  }
  // Steps at each deadline, until the core ends.
  std::optional<Exit> run(Duration most) {
    for (const Time until = now_ + most; now_ < until;) {
      now_ = std::max(now_, core_->next_deadline(now_));
      const Commands out = step();
      if (const Exit* exit = exit_of(out)) return *exit;
    }
    return std::nullopt;
  }

  std::vector<storage::UrlKey> at_work_;  // from the time when the previous process died
  std::optional<Time> recrawl_;           // given to the next start
  storage::MemoryKv kv_;
  std::optional<storage::Store> store_;
  std::unique_ptr<Core> core_;
  Time now_ = Time(std::chrono::hours{480'000});
};

TEST_F(CoreTest, WithNoPeerToJoinItMakesARing) {
  open({});
  EXPECT_TRUE(core_->has_ring());
  EXPECT_EQ(core_->ring_id(), rig_id(200));
  EXPECT_EQ(store_->meta(std::string(meta_name::ring))->value_or(""), rig_id(200).hex());
}

TEST_F(CoreTest, AJoinerAsksOnceASecond) {
  open();
  EXPECT_FALSE(core_->has_ring());
  EXPECT_EQ(joins(step()), 1u);
  EXPECT_EQ(joins(step()), 0u);
  now_ += seconds(1);
  EXPECT_EQ(joins(step()), 1u);
}

TEST_F(CoreTest, AJoinerThatNoMemberAnswersGivesUpAndNamesWhomItAsked) {
  open();
  const auto exit = run(seconds(70));
  ASSERT_TRUE(exit);
  EXPECT_EQ(exit->code, static_cast<int>(ErrorCode::unreachable));
  EXPECT_NE(exit->message.find("10.0.0.2:7400"), std::string::npos);
}

TEST_F(CoreTest, AWelcomeMakesAPeerOnceAndItsRingIsDurable) {
  open();
  step();
  receive(welcome());
  ASSERT_TRUE(core_->has_ring());
  EXPECT_EQ(core_->own_status()["state"], "active");
  EXPECT_EQ(store_->meta(std::string(meta_name::ring))->value_or(""), rig_id(200).hex());
  EXPECT_EQ(joins(step()), 0u) << "it was let in";
  receive(welcome());
  EXPECT_EQ(core_->own_status()["ring"], rig_id(200).hex());
}

TEST_F(CoreTest, ARefusalToJoinEndsTheProcessWithItsReason) {
  open();
  receive(ring::Refuse{"the crawl has ended", true});
  const auto exit = run(seconds(2));
  ASSERT_TRUE(exit);
  EXPECT_EQ(exit->code, static_cast<int>(ErrorCode::mismatch));
  EXPECT_NE(exit->message.find("the crawl has ended"), std::string::npos);
}

TEST_F(CoreTest, AWelcomeWithAnIncarnationThatNoPeerReachesEndsTheProcess) {
  open();
  ring::Welcome ahead = welcome();
  ahead.members[0].incarnation = ring::max_first_incarnation + 1;
  receive(ahead);
  EXPECT_FALSE(core_->has_ring());
  const auto exit = run(seconds(2));
  ASSERT_TRUE(exit);
  EXPECT_NE(exit->message.find("incarnation"), std::string::npos);
}

TEST_F(CoreTest, SettingsThatCannotBeUsedEndTheProcess) {
  open();
  ring::Welcome bad = welcome();
  bad.settings = {{"no_such_setting", "1"}};
  receive(bad);
  const auto exit = run(seconds(2));
  ASSERT_TRUE(exit);
  EXPECT_EQ(exit->code, static_cast<int>(ErrorCode::mismatch));
}

TEST_F(CoreTest, AStoreThatFailsAtTheWelcomeEndsTheProcessAndTheStatusIsStillAnswered) {
  open();
  kv_.fail_after(0, storage::ErrorKind::io);
  const Commands out = receive(welcome());
  const Exit* exit = exit_of(out);
  ASSERT_NE(exit, nullptr);
  EXPECT_EQ(exit->code, static_cast<int>(ErrorCode::io));
  EXPECT_EQ(core_->own_status()["id"], rig_id(1).hex());
  EXPECT_TRUE(step().empty()) << "it has ended";
}

TEST_F(CoreTest, AJoinerAnswersItsStatusAndRefusesOtherQuestions) {
  open();
  for (const auto& [verb, field] : {std::pair("status", "id"), {"explain", "error"}}) {
    const Commands out = receive(ring::Ask{1, verb, "{}", false});
    ASSERT_FALSE(out.empty());
    const auto* reply = std::get_if<ReplyMessage>(&out.front());
    ASSERT_NE(reply, nullptr);
    EXPECT_TRUE(nlohmann::json::parse(std::get<ring::Answer>(reply->message.body).body).contains(field)) << verb;
  }
}

TEST_F(CoreTest, AJoinersStatusHasTheFieldsAndCountsOfAPeer) {
  const auto names = [](const nlohmann::json& object) {
    std::set<std::string> found;
    for (const auto& [name, value] : object.items()) found.insert(name);
    return found;
  };
  open();
  const nlohmann::json before = core_->own_status();
  step();
  receive(welcome());
  ASSERT_TRUE(core_->has_ring());
  const nlohmann::json after = core_->own_status();
  EXPECT_EQ(names(before), names(after));
  EXPECT_EQ(names(before["counts"]), names(after["counts"]));
}

TEST_F(CoreTest, PagesAtWorkOutliveAJoinerAndAnOrderToVisitAgainIsThePeers) {
  at_work_ = {storage::UrlKey{}};
  open();
  at_work_.clear();
  const auto crashes = [this] { return store_->meta_rows(std::string(meta_name::crashed))->size(); };
  EXPECT_EQ(crashes(), 1u);
  recrawl_ = now_;
  open();  // it was killed before any member let it in
  recrawl_.reset();
  receive(welcome());
  ASSERT_TRUE(core_->has_ring());
  EXPECT_EQ(crashes(), 1u);
  EXPECT_EQ(core_->own_status()["orders"]["rows"], 1);
  EXPECT_NE(store_->meta(std::string(meta_name::recrawl))->value_or(""), "") << "the walk has begun";
}

// The members may have ended the crawl meanwhile, and hold what became of the seeds. A restart changes nothing.
TEST_F(CoreTest, ANewcomerWhoseMembersAreGoneGivesUpAndDoesNotBeginTheirCrawlAgain) {
  open();
  ring::Welcome of_a_crawl = welcome();
  for (int host = 0; host < 20; ++host) of_a_crawl.seeds.push_back("http://h" + std::to_string(host) + ".test/");
  std::sort(of_a_crawl.seeds.begin(), of_a_crawl.seeds.end());
  std::string row;
  for (const std::string& seed : of_a_crawl.seeds) row += seed + "\n";
  of_a_crawl.directives_fingerprint = ring::leading_bits(ring::md5(row));
  for (std::uint32_t partition = 0; partition < rig_settings().partitions; ++partition)
    of_a_crawl.tenures.push_back({static_cast<ring::Partition>(partition), {1, rig_id(2)}});
  receive(of_a_crawl);
  for (const bool again : {false, true}) {
    if (again) open({});
    ASSERT_TRUE(core_->has_ring());
    EXPECT_EQ(core_->own_status()["seeds"], 20);
    const auto exit = run(max_join_wait + seconds(20));
    ASSERT_TRUE(exit);
    EXPECT_EQ(exit->code, static_cast<int>(ErrorCode::unreachable)) << exit->message;
    EXPECT_NE(exit->message.find("holds nothing of theirs"), std::string::npos) << exit->message;
    EXPECT_EQ(store_->counts().discovered(), 0u);
  }
}

TEST_F(CoreTest, AStopEndsAJoiner) {
  open();
  step(StopEvent{});
  const auto exit = run(seconds(2));
  ASSERT_TRUE(exit);
  EXPECT_EQ(exit->code, 0);
}

}  // namespace
}  // namespace orbweaver
