// When a ring's crawl ends, and the hosts that it waits for.
#include "node/ring_view/ring_end.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace orbweaver {
namespace {

using nlohmann::json;

json host(const std::string& name, int queued, double delay, const std::string& state = "delay") {
  return {
      {"host", name},   {"queued", queued}, {"more", false},     {"delay_us", delay * 1e6}, {"delay_why", "settings"},
      {"next_us", 2e6}, {"state", state},   {"why", "its delay"}};
}
json answer_of(std::vector<json> hosts) { return {{"peers", {{{"id", "a"}, {"hosts", std::move(hosts)}}}}}; }
RingEnd end_of(const RingLoad& load, const json& hosts) { return ring_end(load, hosts_view(&hosts)); }

TEST(HostsView, ThoseThatNeedLongestAreFirst) {
  const json answer = answer_of({host("a.test", 5, 1), host("b.test", 100, 1), host("c.test", 50, 10)});
  const std::vector<HostView> hosts = hosts_view(&answer);
  ASSERT_EQ(hosts.size(), 3u);
  EXPECT_EQ(hosts[0].host, "c.test");
  EXPECT_EQ(hosts[0].peer, "a");
  EXPECT_DOUBLE_EQ(hosts[0].seconds_needed(), 502);
  EXPECT_EQ(hosts[2].host, "a.test");
  EXPECT_TRUE(hosts_view(nullptr).empty());
}

TEST(HostsView, FieldsOfOtherTypesAreLeftOut) {
  const json answer = {{"peers",
                        {{{"id", 7},
                          {"hosts",
                           {1,
                            {{"host", 3}, {"queued", 7}},
                            {{"host", "*.test"}, {"queued", 7}},
                            {{"host", "a.test"}, {"queued", "many"}, {"delay_us", -5}, {"more", 2}}}}},
                         {{"hosts", "none"}},
                         5}}};
  const std::vector<HostView> hosts = hosts_view(&answer);
  ASSERT_EQ(hosts.size(), 1u);
  EXPECT_EQ(hosts[0].host, "a.test");
  EXPECT_DOUBLE_EQ(hosts[0].seconds_needed(), 0);
}

TEST(HostsView, OfManyPeersFewEachAreAskedFor) {
  EXPECT_EQ(hosts_of_each(0), 100u);
  EXPECT_EQ(hosts_of_each(3), 100u);
  EXPECT_EQ(hosts_of_each(20), 30u);
  EXPECT_EQ(hosts_of_each(1000), 3u);
}

TEST(RingEnd, IsThatOfTheSlowestHostNotOfTheMean) {
  const json hosts = answer_of({host("fast.test", 1000, 0.1), host("slow.test", 1860, 10)});
  const RingEnd end = end_of({.queued = 2860, .in_flight = 1, .pages = 20.0, .held = false}, hosts);
  EXPECT_EQ(end.by, "host");
  EXPECT_EQ(end.host, "slow.test");
  EXPECT_DOUBLE_EQ(end.seconds.value_or(0), 18602);
  EXPECT_FALSE(end.at_least);
  EXPECT_EQ(end.text, "in about 5 h 11 min if no more is found: slow.test needs that long: 1860 URLs, 10 s apart");
}

TEST(RingEnd, IsThatOfTheRateWhenNoHostNeedsLonger) {
  const json hosts = answer_of({host("a.test", 10, 1)});
  const RingEnd end = end_of({.queued = 6000, .in_flight = 1, .pages = 10.0, .held = false}, hosts);
  EXPECT_EQ(end.by, "rate");
  EXPECT_DOUBLE_EQ(end.seconds.value_or(0), 600);
  EXPECT_EQ(end.text, "in about 10 min at the rate of now, if no more is found");
}

TEST(RingEnd, IsAtLeastThatWhenMoreIsOnDisk) {
  json more = host("a.test", 100, 10);
  more["more"] = true;
  const RingEnd end = end_of({.queued = 100, .in_flight = 0, .pages = 5.0, .held = false}, answer_of({more}));
  EXPECT_TRUE(end.at_least);
  EXPECT_EQ(end.text,
            "in 17 min at the earliest if no more is found: a.test needs that long: 100 URLs, 10 s apart, and more is "
            "on disk");
}

TEST(RingEnd, LeavesOutWhatAnOperatorHoldsBack) {
  const json hosts = answer_of({host("a.test", 1000, 10, "paused"), host("b.test", 6, 10)});
  const RingEnd end = end_of({.queued = 1006, .in_flight = 0, .pages = std::nullopt, .held = false}, hosts);
  EXPECT_EQ(end.host, "b.test");
  EXPECT_EQ(end.text,
            "in about 2 min if no more is found: b.test needs that long: 6 URLs, 10 s apart; without what 1 paused "
            "or blocked host has in memory");
}

TEST(RingEnd, WhatIsPausedDoesNotCountForTheRateEither) {
  const json hosts = answer_of({host("a.test", 1'000'000, 1, "paused"), host("b.test", 10, 1)});
  const RingEnd end = end_of({.queued = 1'000'600, .in_flight = 0, .pages = 10.0, .held = false}, hosts);
  EXPECT_EQ(end.by, "rate");
  EXPECT_DOUBLE_EQ(end.seconds.value_or(0), 60);
}

TEST(RingEnd, IsNotKnownWithoutARateOrHosts) {
  EXPECT_EQ(ring_end({.queued = 5, .in_flight = 0, .pages = 0.0, .held = false}, {}).text,
            "not known: no page was fetched in between");
  EXPECT_EQ(ring_end({.queued = 5, .in_flight = 0, .pages = 3.0, .held = true}, {}).by, "held");
  EXPECT_EQ(ring_end({.queued = 0, .in_flight = 0, .pages = 0.0, .held = false}, {}).by, "nothing");
  EXPECT_TRUE(to_json(ring_end({.queued = 5, .in_flight = 0, .pages = 0.0, .held = false}, {}))["seconds"].is_null());
}

TEST(RingEnd, TimesAreInTwoUnitsAtMost) {
  EXPECT_EQ(time_words(0), "0 s");
  EXPECT_EQ(time_words(59), "59 s");
  EXPECT_EQ(time_words(61), "2 min");
  EXPECT_EQ(time_words(3600), "1 h");
  EXPECT_EQ(time_words(18000 + 600), "5 h 10 min");
  EXPECT_EQ(time_words(76 * 3600.0), "3 d 4 h");
  EXPECT_EQ(time_words(1e300), "11574074 d 2 h");
}

}  // namespace
}  // namespace orbweaver
