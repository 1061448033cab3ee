// `orbweaver top` and the limit line: what they make of a ring's answers.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "node/cli/top_lines.h"

namespace orbweaver {
namespace {

using nlohmann::json;

constexpr std::int64_t began_us = 1'700'000'000'000'000;

json peer(const std::string& id, int second, const std::string& by, const json& seconds_by) {
  return {{"id", id},
          {"address", id + ".test:7400"},
          {"state", "active"},
          {"started", "2023-11-14T22:13:20Z"},
          {"clock_us", began_us + std::int64_t{1'000'000} * second},
          {"counts", {{"pages_fetched", 10 * second}, {"bytes_received", 1000 * second}, {"queued", 5}, {"outbox", 2}}},
          {"process",
           {{"at_us", second * 1000000.0},
            {"cpu_seconds", 0.5 * second},
            {"loop_cpu_seconds", 0.2 * second},
            {"processors", 2}}},
          {"limit",
           {{"by", by},
            {"at_us", second * 1000000.0},
            {"hosts", {{"delays", 7}, {"answers", 1}, {"workers", 0}}},
            {"seconds", seconds_by}}}};
}
json ring_of(std::vector<json> peers) {
  return {{"ring", "0123456789abcdef"},
          {"totals", {{"fetched", 75}, {"queued", 20}, {"failed", 5}, {"excluded", 0}}},
          {"peers", std::move(peers)},
          {"unreachable", json::array()}};
}

TEST(PeerLimit, OfOneAnswerIsWhatThePeerSays) {
  const PeerLimit limit = peer_limit(nullptr, peer("a", 4, "answers", {{"delays", 3.0}, {"answers", 1.0}}));
  EXPECT_EQ(limit.by, "answers");
  EXPECT_FALSE(limit.processors);
}

TEST(PeerLimit, OfTwoAnswersIsWhatTookMostOfTheTimeInBetween) {
  const json before = peer("a", 4, "answers", {{"delays", 1.0}, {"answers", 3.0}});
  const PeerLimit limit = peer_limit(&before, peer("a", 14, "answers", {{"delays", 9.0}, {"answers", 5.0}}));
  EXPECT_EQ(limit.by, "delays");
  EXPECT_DOUBLE_EQ(limit.shares.at("delays"), 0.8);
  EXPECT_DOUBLE_EQ(limit.shares.at("answers"), 0.2);
  EXPECT_DOUBLE_EQ(limit.processors.value_or(0), 0.5);
  EXPECT_DOUBLE_EQ(limit.loop.value_or(0), 0.2);
}

TEST(PeerLimit, AFullProcessorOrALoopThatNeverRestsGoesFirst) {
  const json before = peer("a", 0, "delays", {{"delays", 0.0}});
  json now = peer("a", 10, "delays", {{"delays", 10.0}});
  now["process"]["loop_cpu_seconds"] = 9.5;
  EXPECT_EQ(peer_limit(&before, now).by, "processor");
  now["process"]["loop_cpu_seconds"] = 2;
  now["process"]["cpu_seconds"] = 19;
  EXPECT_EQ(peer_limit(&before, now).by, "processor");
  now["process"]["cpu_seconds"] = 10;
  EXPECT_EQ(peer_limit(&before, now).by, "delays");
  now["memory"] = {{"shares", {{"bodies", {{"used", 96}, {"bound", 100}}}}}};
  EXPECT_EQ(peer_limit(&before, now).by, "memory");
}

TEST(PeerLimit, AProcessThatHasStartedAgainIsNotComparedWithTheEarlierOne) {
  const json before = peer("a", 100, "delays", {{"delays", 90.0}});
  json now = peer("a", 110, "nothing", {{"nothing", 3.0}});
  now["started"] = "2023-11-14T22:15:05Z";
  const PeerLimit limit = peer_limit(&before, now);
  EXPECT_EQ(limit.by, "nothing");
  EXPECT_TRUE(limit.shares.empty());
}

TEST(RingLimit, IsThatOfMostPeers_AndNothingOnlyWhenAllHaveNothing) {
  const json nothing = {{"nothing", 1.0}};
  const json delays = {{"delays", 1.0}};
  const RingLimit some = ring_limit(
      nullptr,
      ring_of({peer("a", 1, "nothing", nothing), peer("b", 1, "nothing", nothing), peer("c", 1, "delays", delays)}));
  EXPECT_EQ(some.by, "delays");
  EXPECT_EQ(some.text,
            "politeness: 21 hosts wait until they and their address may be asked again, 3 are being asked. Hosts at "
            "other addresses would make it faster, more peers would not");
  EXPECT_EQ(ring_limit(nullptr, ring_of({peer("a", 1, "nothing", nothing)})).text, "nothing: no URL is left to fetch");
}

TEST(RingLimit, SaysWhyPeersMayNotFetch) {
  json held = peer("a", 1, "held", json::object());
  held["not_fetching_because"] = {"too many writes"};
  EXPECT_EQ(ring_limit(nullptr, ring_of({held})).text, "1 peer may not fetch: too many writes");
  held.erase("not_fetching_because");
  EXPECT_EQ(ring_limit(nullptr, ring_of({held})).text, "1 peer may not fetch") << "it has passed";
}

TEST(RingLimit, OfFieldsOfOtherTypesMakesTheBest) {
  const json good = peer("a", 1, "delays", {{"delays", 1.0}});
  for (const char* const field : {"id", "started", "clock_us", "limit", "process", "counts", "not_fetching_because"})
    for (const json& wrong : {json(5), json("text"), json::array({1}), json(), json{{"~x/y", 1}}}) {
      json strange = good;
      strange[field] = wrong;
      const json ring = ring_of({strange, good});
      EXPECT_FALSE(ring_limit(&ring, ring).text.empty()) << field;
      json deeper = good;
      deeper["limit"]["seconds"] = wrong;
      EXPECT_EQ(peer_limit(&good, deeper).by, "delays");
    }
}

TEST(RingLimit, PeersOfAnOlderReleaseSayNothing) {
  json old = peer("a", 1, "", json::object());
  old.erase("limit");
  old.erase("process");
  EXPECT_EQ(ring_limit(nullptr, ring_of({old})).text, "not known: the peers do not say");
}

TEST(RingView, RatesNeedTwoAnswers) {
  const json before = ring_of({peer("a", 10, "delays", {{"delays", 9.0}}), peer("b", 10, "delays", {})});
  const json now = ring_of({peer("a", 12, "delays", {{"delays", 11.0}}), peer("b", 12, "delays", {})});
  EXPECT_FALSE(ring_view(nullptr, now, nullptr).pages);
  const RingView view = ring_view(&before, now, nullptr);
  EXPECT_DOUBLE_EQ(view.pages.value_or(0), 20);
  EXPECT_DOUBLE_EQ(view.bytes.value_or(0), 2000);
  EXPECT_EQ(view.seconds_up, 12u);
  EXPECT_EQ(view.fetched, 75u);
  EXPECT_EQ(view.peers.size(), 2u);
}

TEST(RingView, LinesFitTheTerminalAndNameSilentPeers) {
  json now = ring_of({peer("a", 10, "delays", {})});
  now["unreachable"].push_back({{"id", "z"}, {"address", "z.test:7400"}});
  const RingView view = ring_view(nullptr, now, nullptr);
  for (const std::size_t width : {20u, 80u, 200u}) {
    const TopLines shown = to_lines(view, width, TopTable::peers);
    ASSERT_EQ(shown.lines.size(), shown.head + 3);
    for (const std::string& line : shown.lines) EXPECT_LE(line.size(), width);
    EXPECT_EQ(shown.lines[shown.head].substr(0, 4), "PEER");
  }
  const std::vector<std::string> lines = to_lines(view, 200, TopTable::peers).lines;
  ASSERT_EQ(lines.size(), 10u);
  EXPECT_NE(lines[0].find("1 of 2 peers"), std::string::npos);
  EXPECT_NE(lines[1].find("fetched 75 (75%)"), std::string::npos);
  EXPECT_EQ(lines[2].substr(0, 10), "unhealthy:");
  EXPECT_EQ(lines[4], "end: not known: no page was fetched in between");
  EXPECT_NE(lines[7].find("ADDRESS"), std::string::npos);
  EXPECT_EQ(lines[9], "does not answer: z.test:7400");
  const TopLines narrow = to_lines(view, 40, TopTable::peers);
  EXPECT_EQ(narrow.lines[narrow.head].find("ADDRESS"), std::string::npos);
}

TEST(RingView, PeersAreSortedByAColumn) {
  json first = peer("a", 1, "delays", {});
  json second = peer("b", 1, "delays", {});
  second["counts"]["queued"] = 50;
  RingView view = ring_view(nullptr, ring_of({second, first}), nullptr);
  EXPECT_EQ(view.peers[0].id, "a");
  sort_peers(view, PeerOrder::queued);
  EXPECT_EQ(view.peers[0].id, "b");
}

TEST(RingView, AsJsonHasNoRateThatIsNotKnown) {
  const json shown = to_json(ring_view(nullptr, ring_of({peer("a", 10, "delays", {})}), nullptr));
  EXPECT_TRUE(shown["pages_per_second"].is_null());
  EXPECT_EQ(shown["limit"]["by"], "delays");
  EXPECT_EQ(shown["peers"][0]["queued"], 5);
}

TEST(OutcomesView, SumsThePeersMostFirst) {
  json a = peer("a", 4, "delays", json::object()), b = peer("b", 4, "delays", json::object());
  a["outcomes"] = {{"failed", {{"dns", 2}, {"tls", 1}}}, {"fetched", {{"none", 50}}}};
  b["outcomes"] = {{"failed", {{"dns", 3}}}, {"excluded", {{"robots", 9}}}};
  const std::vector<OutcomeView> all = outcomes_view(ring_of({a, b}));
  ASSERT_EQ(all.size(), 4u);
  EXPECT_EQ(all[0].reason, "none");
  EXPECT_EQ(all[1].state + " " + all[1].reason, "excluded robots");
  EXPECT_EQ(all[2].reason, "dns");
  EXPECT_EQ(all[2].urls, 5u);
  EXPECT_EQ(all[3].urls, 1u);
  EXPECT_EQ(to_json(all)[2], (json{{"state", "failed"}, {"reason", "dns"}, {"urls", 5}}));
}

TEST(OutcomesView, WhatAPeerShouldNotSayIsLeftOut) {
  json a = peer("a", 4, "delays", json::object());
  a["outcomes"] = {{"failed", {{"dns", "many"}, {"a/b~", 2}, {"tls", -5}}}, {"excluded", 7}, {"queued", {{"none", 1}}}};
  std::map<std::string, std::uint64_t> counted;
  for (const OutcomeView& outcome : outcomes_view(ring_of({a})))
    counted[outcome.state + " " + outcome.reason] = outcome.urls;
  EXPECT_EQ(counted, (std::map<std::string, std::uint64_t>{{"failed a/b~", 2}, {"failed tls", 0}}));
}

TEST(GapsView, TheLeastIsThatOfThePeerWithTheShortestAgainstItsPromise) {
  json a = peer("a", 4, "delays", json::object()), b = peer("b", 4, "delays", json::object());
  EXPECT_EQ(gaps_view(ring_of({a, b})).text(), "no host was asked twice yet");
  a["politeness"] = {{"gaps", 5}, {"too_short", 0}, {"least_us", 1'500'000}, {"promised_us", 1'000'000}};
  b["politeness"] = {{"gaps", 1}, {"too_short", 0}, {"least_us", 2'002'000}, {"promised_us", 2'000'000}};
  EXPECT_EQ(gaps_view(ring_of({a, b})).text(),
            "6 waits between two requests to one host, none too short; the shortest took 2.002 s where 2.000 s were "
            "promised");
  b["politeness"]["too_short"] = 1;
  b["politeness"]["least_us"] = 10'000;
  const GapsView view = gaps_view(ring_of({a, b}));
  EXPECT_TRUE(view.text().starts_with("1 of 6 waits between two requests to one host was too short;")) << view.text();
  EXPECT_EQ(to_json(view)["least_seconds"], 0.01);
}

}  // namespace
}  // namespace orbweaver
