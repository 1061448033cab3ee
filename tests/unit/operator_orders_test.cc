// Operators' orders as rows: which of two counts, what is kept when there are too many, what they mean for hosts.
#include "node/coordination/operator_orders.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <random>

#include "node/config/settings_table.h"
#include "node/links/recrawl_walk.h"
#include "node/peer/order_request.h"
#include "tests/unit/peer_rig.h"

namespace orbweaver {
namespace {

OperatorOrder order(const std::string& name, const std::string& value, std::uint64_t number, std::uint8_t peer = 1) {
  return {name, value, number, rig_id(peer), Time{std::chrono::seconds{5}}};
}

OperatorOrders table(const std::vector<OperatorOrder>& orders) {
  OperatorOrders table;
  for (const OperatorOrder& one : orders) table.take(one);
  table.settle();
  return table;
}

TEST(OperatorOrders, TheGreaterStampCountsWhicheverComesFirst) {
  const OperatorOrder first = order("pause a.test", "yes", 1);
  const OperatorOrder second = order("pause a.test", "", 2);
  EXPECT_EQ(table({first, second}).all().at("pause a.test"), second);
  EXPECT_EQ(table({second, first}).all().at("pause a.test"), second);
  EXPECT_FALSE(table({second, first}).hosts().of("a.test").paused);
  // Two peers that did not know of each other: their ids decide, then the value.
  const OperatorOrder other = order("pause a.test", "yes", 2, 7);
  EXPECT_EQ(table({second, other}).all().at("pause a.test"), other);
  EXPECT_EQ(table({other, second}).fingerprint(), table({second, other}).fingerprint());
  OperatorOrders known = table({second});
  EXPECT_FALSE(known.take(second)) << "it is no news";
  EXPECT_FALSE(known.take(first));
  EXPECT_EQ(known.next_number(), 3u);
}

TEST(OperatorOrders, TheyTellHowHostsAreAsked) {
  const OperatorOrders orders =
      table({order("pause", "yes", 1), order("pause a.test", "yes", 2), order("block b.test", "yes", 3),
             order("delay b.test", "2500000", 4), order("delay c.test", "x", 5),
             order("delay e.test", "9223372036854775807", 7), order("hush d.test", "yes", 6)});
  EXPECT_TRUE(orders.hosts().ring_paused);
  EXPECT_EQ(orders.hosts().of("a.test"), (HostOrder{true, false, {}}));
  EXPECT_EQ(orders.hosts().of("b.test"), (HostOrder{false, true, std::chrono::milliseconds{2500}}));
  EXPECT_EQ(orders.hosts().of("c.test"), HostOrder{}) << "no delay that this release knows";
  EXPECT_EQ(orders.hosts().of("d.test"), HostOrder{}) << "of a later release: kept, without effect";
  EXPECT_EQ(orders.hosts().of("e.test").delay, max_ordered_delay);
  EXPECT_TRUE(orders.contains("hush d.test"));
  EXPECT_FALSE(table({order("pause", "yes", 1), order("pause", "", 2)}).hosts().ring_paused);
}

TEST(OperatorOrders, APatternIsAHostAndAllBelowIt) {
  const OperatorOrders orders =
      table({order("pause *.a.test", "yes", 1), order("block x.a.test", "yes", 2), order("delay *.a.test", "1000", 3),
             order("delay *.deep.a.test", "2000", 4), order("delay x.deep.a.test", "3000", 5)});
  const auto delay = [&](std::string_view host) { return orders.hosts().of(host).delay.value_or(Duration{}).count(); };
  for (const char* const host : {"a.test", "x.a.test", "y.x.a.test"})
    EXPECT_TRUE(orders.hosts().of(host).paused) << host;
  for (const char* const host : {"ba.test", "test", "a.test.b", ""})
    EXPECT_FALSE(orders.hosts().of(host).paused) << host;
  EXPECT_TRUE(orders.hosts().of("x.a.test").blocked);
  EXPECT_FALSE(orders.hosts().of("y.x.a.test").blocked);
  EXPECT_EQ(delay("a.test"), 1000);
  EXPECT_EQ(delay("deep.a.test"), 2000);
  EXPECT_EQ(delay("y.deep.a.test"), 2000);
  EXPECT_EQ(delay("x.deep.a.test"), 3000);
}

TEST(OperatorOrders, ARowIsReadBackAndItsFaultsAreNamed) {
  const OperatorOrders orders = table({order("pause a.test", "yes", 1), order("delay b.test", "1", 2)});
  OperatorOrders again;
  EXPECT_TRUE(again.restore(orders.row()).empty());
  EXPECT_EQ(again.all(), orders.all());
  EXPECT_EQ(again.fingerprint(), orders.fingerprint());
  EXPECT_NE(again.fingerprint(), 0u);
  OperatorOrders part;
  EXPECT_EQ(part.restore("rubbish\n" + OperatorOrders::text_of(order("pause", "yes", 1)) + "\n").size(), 1u);
  EXPECT_EQ(part.size(), 1u);
  const auto refused = [](OperatorOrder wrong) { return !OperatorOrders::read(OperatorOrders::text_of(wrong)); };
  EXPECT_TRUE(refused(order("", "yes", 1)));
  EXPECT_TRUE(refused(order(std::string(301, 'x'), "yes", 1)));
  EXPECT_TRUE(refused(order("pause", std::string(9000, 'x'), 1)));
  EXPECT_TRUE(refused(order("pause", "yes", 0)));
  EXPECT_TRUE(refused(order("pause", "yes", OperatorOrders::max_number + 1)));
  EXPECT_FALSE(OperatorOrders::read(R"({"name": "pause", "value": "yes", "number": 1, "peer": "x"})"));
  EXPECT_FALSE(OperatorOrders::read(R"({"name": 7, "value": "yes", "number": 1})"));
}

// Two peers that get the same rows in different orders and portions keep the same ones.
TEST(OperatorOrders, WhatIsKeptOfTooManyDoesNotDependOnHowItCame) {
  std::vector<OperatorOrder> all;
  for (std::uint64_t i = 1; i <= 3000; ++i)
    all.push_back(order((i % 3 == 0 ? "visit " : "pause h") + std::to_string(i), i % 5 == 0 ? "" : "yes", i));
  const OperatorOrders at_once = table(all);
  EXPECT_EQ(at_once.size(), OperatorOrders::max_rows);
  std::size_t visits = 0;
  for (const auto& [name, one] : at_once.all()) visits += one.kind() == OperatorOrder::Kind::visit ? 1 : 0;
  EXPECT_EQ(visits, OperatorOrders::max_visits);
  std::mt19937 random(7);
  for (int round = 0; round < 5; ++round) {
    std::shuffle(all.begin(), all.end(), random);
    OperatorOrders one, other;
    for (std::size_t i = 0; i < all.size(); ++i) {
      (i % 2 == 0 ? one : other).take(all[i]);
      if (i % 100 == 0) one.settle();
      if (i % 170 == 0) other.settle();
    }
    one.settle();
    other.settle();
    const auto tell = [](const OperatorOrders& from, OperatorOrders& to) {
      for (const auto& [name, order] : from.all()) to.take(order);
      to.settle();
    };
    for (int times = 0; times < 2; ++times) {
      tell(one, other);
      tell(other, one);
    }
    ASSERT_EQ(one.fingerprint(), other.fingerprint());
    ASSERT_EQ(one.size(), other.size());
  }
}

TEST(OperatorOrders, ManyBytesAreBoundedAsManyRowsAre) {
  std::vector<OperatorOrder> all;
  for (std::uint64_t i = 1; i <= 200; ++i) all.push_back(order("hush " + std::to_string(i), std::string(8000, 'x'), i));
  const OperatorOrders orders = table(all);
  EXPECT_LT(orders.size(), 140u);
  EXPECT_GT(orders.size(), 100u);
  EXPECT_TRUE(orders.contains("hush 200"));
  EXPECT_FALSE(orders.contains("hush 1"));
}

TEST(OperatorOrders, ItIsFullOfOrdersThatHold) {
  std::vector<OperatorOrder> all;
  for (std::uint64_t i = 1; i <= OperatorOrders::max_orders; ++i)
    all.push_back(order("block h" + std::to_string(i), "yes", i));
  const OperatorOrder another = order("pause x.test", "yes", 6000);
  EXPECT_FALSE(table(all).has_room_for(another));
  EXPECT_TRUE(table(all).has_room_for(order("block h1", "yes", 6000))) << "it holds already";
  EXPECT_TRUE(table(all).has_room_for(order("pause x.test", "", 6000)));
  EXPECT_TRUE(table(all).has_room_for(order("visit y", "{}", 6000))) << "it takes the place of the oldest";
  all.push_back(order("block h1", "", 5000));
  all.push_back(order("visit x", "{}", 5001));
  EXPECT_TRUE(table(all).has_room_for(another)) << "one was taken back, and a visit takes no place";
}

class OrderRequest : public testing::Test {
 protected:
  Result<OperatorOrder> read(const nlohmann::json& body, const std::string& verb = "order") {
    return read_order_request(verb, body, {canonicaliser_, known_, rig_id(1), Time{std::chrono::seconds{100}}});
  }
  Settings settings_ = default_settings();
  Canonicaliser canonicaliser_{settings_};
  OperatorOrders known_ = table({order("pause", "yes", 41)});
};

TEST_F(OrderRequest, AHostIsMeantByItsCanonicalName) {
  EXPECT_EQ(read({{"kind", "block"}, {"host", "B\u00fccher.TEST"}, {"value", "yes"}})->name,
            "block xn--bcher-kva.test");
  EXPECT_EQ(read({{"kind", "pause"}, {"host", "[::1]"}, {"value", "yes"}})->name, "pause [::1]");
  EXPECT_EQ(read({{"kind", "pause"}, {"host", "*.B.Test"}, {"value", "yes"}})->name, "pause *.b.test");
  EXPECT_EQ(read({{"kind", "pause"}, {"value", ""}})->name, "pause");
  EXPECT_EQ(read({{"kind", "pause"}})->number, 42u);
  for (const char* const host : {"a.test:8080", "a.test/x", "http://a.test", "a b", "*.", "*.*.a.test", "*",
                                 "user@a.test", "a.test?x", "[::1]:80"})
    EXPECT_FALSE(read({{"kind", "block"}, {"host", host}, {"value", "yes"}})) << host;
  EXPECT_FALSE(read({{"kind", "block"}, {"value", "yes"}})) << "no host";
  EXPECT_TRUE(read({{"kind", "delay"}, {"host", "a.test"}, {"value", "86400000000"}}));
  for (const char* const value : {"86400000001", "-1", "5s", "99999999999999999999"})
    EXPECT_FALSE(read({{"kind", "delay"}, {"host", "a.test"}, {"value", value}})) << value;
  EXPECT_FALSE(read({{"kind", "pause"}, {"value", "perhaps"}}));
  EXPECT_FALSE(read({{"kind", "burn"}, {"host", "a.test"}}));
  EXPECT_FALSE(read({{"kind", 7}}));
}

// Seed 16975 of the simulator: a peer whose clock was a year ahead had excluded a page, which no unblock lifted.
TEST_F(OrderRequest, WhatABlockExcludedIsLiftedWhateverTheClocksSay) {
  const auto moment = [](const Result<OperatorOrder>& order) {
    return Time(Duration(nlohmann::json::parse(order->value)["before_us"].get<std::int64_t>()));
  };
  const Time failed = moment(read({{"states", {"failed"}}}, "retry"));
  EXPECT_GT(moment(read({{"states", {"excluded"}}, {"reason", "operator"}}, "retry")),
            failed + std::chrono::hours{9'000});
}

TEST_F(OrderRequest, TheSameVisitHasOneName) {
  const auto now = read({{"host", "a.test"}}, "recrawl");
  const auto same = read({{"host", "a.test"}, {"before_us", 100'000'000}}, "recrawl");
  ASSERT_TRUE(now && same);
  EXPECT_EQ(now->kind(), OperatorOrder::Kind::visit);
  EXPECT_EQ(now->name, same->name);
  EXPECT_NE(now->name, read({{"host", "b.test"}}, "recrawl")->name);
  EXPECT_NE(now->name, read({{"host", "a.test"}, {"older_than_us", 1}}, "recrawl")->name);
  EXPECT_FALSE(read({{"older_than_us", -1}}, "recrawl"));
  const auto wanted = RecrawlWalk::read_order(*now);
  ASSERT_TRUE(wanted);
  EXPECT_EQ(wanted->before, Time{std::chrono::seconds{100}});
  EXPECT_EQ(wanted->filter.host, "a.test");
}

}  // namespace
}  // namespace orbweaver
