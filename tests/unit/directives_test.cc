// Seeds and operators' orders, told by one fingerprint: durable before they are answered, sent to peers that know
// others.
#include "node/coordination/directives.h"

#include <gtest/gtest.h>

#include "node/crawl/meta_names.h"
#include "tests/unit/peer_rig.h"

namespace orbweaver {
namespace {

class DirectivesTest : public testing::Test {
 protected:
  DirectivesTest() {
    directives_.seeds().make_scope();
    directives_.on_visit([this](const OperatorOrder& visit, storage::Commit&) { visits_.push_back(visit.name); });
    rig_.enter();
    rig_.add_member(2, ring::MemberState::active);
  }
  static OperatorOrder order(const std::string& name, std::uint64_t number, const std::string& value = "yes") {
    return {name, value, number, rig_id(1), Time{}};
  }
  std::string row(std::string_view name) { return rig_.store.meta(std::string(name))->value_or("none"); }

  PeerRig rig_;
  Directives directives_{rig_.state, rig_.members, rig_.messenger, rig_.writer, rig_.end};
  std::vector<std::string> visits_;
};

TEST_F(DirectivesTest, AnOrderIsOnTheDiskAndInTheFingerprint) {
  const std::uint64_t before = directives_.fingerprint();
  EXPECT_EQ(before, directives_.seeds().fingerprint()) << "no order: the seeds' own";
  ASSERT_TRUE(*directives_.learn(rig_.step(), {order("pause a.test", 1)}));
  EXPECT_EQ(row(meta_name::orders), directives_.orders().row());
  EXPECT_NE(directives_.fingerprint(), before);
  EXPECT_EQ(rig_.members.membership().directives_fingerprint(), directives_.fingerprint());
  EXPECT_FALSE(*directives_.learn(rig_.step(), {order("pause a.test", 1)})) << "no news, no write";
  const std::uint64_t with_order = directives_.fingerprint();
  ASSERT_TRUE(directives_.seeds().add(rig_.step(), {"http://a.test/"}));
  EXPECT_NE(directives_.fingerprint(), with_order);
  Directives again(rig_.state, rig_.members, rig_.messenger, rig_.writer, rig_.end);
  EXPECT_TRUE(again.restore_orders(row(meta_name::orders)).empty());
  EXPECT_TRUE(again.orders().hosts().of("a.test").paused);
}

TEST_F(DirectivesTest, AVisitBeginsOnceAndReopensACrawlThatHadEnded) {
  storage::Commit ended;
  rig_.end.remember({}, ended);
  ASSERT_TRUE(rig_.store.commit(ended));
  ASSERT_TRUE(*directives_.learn(rig_.step(), {order("pause", 1)}));
  EXPECT_TRUE(rig_.end.announced()) << "a pause is no work";
  ASSERT_TRUE(*directives_.learn(rig_.step(), {order("visit x", 2)}));
  EXPECT_FALSE(rig_.end.announced());
  ASSERT_TRUE(*directives_.learn(rig_.step(), {order("visit x", 3)})) << "a later stamp of the same";
  EXPECT_EQ(visits_, std::vector<std::string>{"visit x"});
}

TEST_F(DirectivesTest, OfManyVisitsOnlyThoseThatAreKeptBegin) {
  std::vector<OperatorOrder> many;
  for (std::uint64_t i = 1; i <= 100; ++i) many.push_back(order("visit " + std::to_string(i), i));
  ASSERT_TRUE(*directives_.learn(rig_.step(), many));
  EXPECT_EQ(visits_.size(), OperatorOrders::max_visits);
}

TEST_F(DirectivesTest, APeerThatKnowsOthersIsSentTheOrdersAndThenTheSeeds) {
  ASSERT_TRUE(directives_.seeds().add(rig_.step(), {"http://a.test/"}));
  ASSERT_TRUE(directives_.learn(rig_.step(), {order("block b.test", 1)}));
  rig_.clear();
  directives_.compare(rig_.step(), rig_id(2), 7);
  directives_.compare(rig_.step(), rig_id(2), 7);
  auto sent = rig_.sent<ring::Sync>();
  ASSERT_EQ(sent.size(), 1u) << "once in a while";
  EXPECT_EQ(sent[0].orders, directives_.orders().texts());
  EXPECT_EQ(sent[0].directives_fingerprint, directives_.fingerprint());
  EXPECT_TRUE(directives_.differing().contains(rig_id(2)));
  rig_.now += std::chrono::seconds{1};
  directives_.compare(rig_.step(), rig_id(2), 7);
  sent = rig_.sent<ring::Sync>();
  ASSERT_EQ(sent.size(), 2u);
  EXPECT_EQ(sent[1].seeds, std::vector<std::string>{"http://a.test/"});
  directives_.compare(rig_.step(), rig_id(2), 0);
  EXPECT_TRUE(directives_.differing().contains(rig_id(2))) << "it said nothing";
  directives_.compare(rig_.step(), rig_id(2), directives_.fingerprint());
  EXPECT_TRUE(directives_.differing().empty());
}

TEST_F(DirectivesTest, WhoBroughtWhatIsKnownIsToldThatAllIsEqual) {
  directives_.compare_brought(rig_.step(), rig_id(2), directives_.fingerprint());
  const auto sent = rig_.sent<ring::Sync>();
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_EQ(sent[0].directives_fingerprint, directives_.fingerprint());
  EXPECT_TRUE(sent[0].seeds.empty() && sent[0].orders.empty());
}

TEST_F(DirectivesTest, AStrangerHoldsNothingBack) {
  ASSERT_TRUE(directives_.learn(rig_.step(), {order("pause", 1)}));
  directives_.compare(rig_.step(), rig_id(9), 7);
  EXPECT_TRUE(directives_.differing().empty());
  for (const ring::TableSize& table : directives_.tables()) {
    EXPECT_TRUE(table.name != "directives.sent_orders" || table.entries == 0) << table.entries;
  }
}

// Seed 1509 of the simulator: a peer that has lost its disk has the address of the member that it was. What it sends to
// that one comes back, and may be from before it learned of an order.
TEST_F(DirectivesTest, WhatThisPeerOnceSaidHoldsNothingBack) {
  ASSERT_TRUE(directives_.learn(rig_.step(), {order("pause a.test", 1)}));
  directives_.compare(rig_.step(), rig_.state.id, 7);
  EXPECT_TRUE(directives_.differing().empty());
}

TEST_F(DirectivesTest, OfAMessageWhatCannotBeReadIsLeftOut) {
  ASSERT_TRUE(directives_.learn(rig_.step(), rig_id(2), {"rubbish", OperatorOrders::text_of(order("pause", 1))}));
  EXPECT_EQ(directives_.orders().size(), 1u);
  const std::vector<std::string> many(70'000, "{}");
  ASSERT_TRUE(directives_.learn(rig_.step(), rig_id(2), many));
  EXPECT_EQ(directives_.orders().size(), 1u);
}

TEST_F(DirectivesTest, AStoreThatFailsIsToldOf) {
  rig_.kv.fail_after(0, storage::ErrorKind::io);
  EXPECT_FALSE(directives_.learn(rig_.step(), {order("pause", 1)}));
}

}  // namespace
}  // namespace orbweaver
