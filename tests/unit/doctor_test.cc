// `orbweaver doctor` and `orbweaver health`: what they say of a ring's answers.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "node/cli/doctor_findings.h"
#include "node/cli/doctor_ring.h"
#include "node/config/settings_table.h"
#include "node/ring_view/health.h"

namespace orbweaver {
namespace {

using nlohmann::json;
using std::chrono::seconds;

const Time now{seconds{1'000'000}};

json peer(const std::string& id, std::uint64_t partitions = 2) {
  return {{"id", id},
          {"address", id + ".test:7400"},
          {"ring", "r"},
          {"ring_partitions", 4},
          {"version", "0.1.0"},
          {"clock_us", now.time_since_epoch().count()},
          {"members", json::array({{{"id", "a"}, {"state", "active"}}, {{"id", "b"}, {"state", "active"}}})},
          {"counts", {{"discovered", 3}, {"fetched", 2}, {"queued", 1}, {"partitions_held", partitions}}}};
}
json ring_of(std::vector<json> peers) { return {{"peers", std::move(peers)}, {"unreachable", json::array()}}; }

Finding::State state_of(const Findings& findings, const std::string& check) {
  Finding::State worst = Finding::State::ok;
  bool found = false;
  for (const Finding& finding : findings.all())
    if (finding.check == check) {
      found = true;
      worst = std::max(worst, finding.state);
    }
  EXPECT_TRUE(found) << check << " is not among the findings";
  return worst;
}

TEST(Health, ARingIsHealthyWhenAllAnswerAllIsHeldAndAllIsAccountedFor) {
  const Health health = health_of(ring_of({peer("a"), peer("b")}));
  EXPECT_EQ(health.word(), "healthy");
  EXPECT_EQ(health.peers, 2u);
}

TEST(Health, ASilentPeerOrOneThatIsDownForAnotherBreaksIt) {
  json status = ring_of({peer("a"), peer("b")});
  status["unreachable"].push_back({{"id", "c"}, {"address", "c.test:7400"}});
  EXPECT_EQ(health_of(status).word(), "unhealthy");
  status = ring_of({peer("a"), peer("b")});
  status["peers"][0]["members"][1]["state"] = "suspect";
  const Health health = health_of(status);
  ASSERT_EQ(health.broken.size(), 1u);
  EXPECT_NE(health.broken[0].find("suspect"), std::string::npos);
}

TEST(Health, ADifferenceInTheLedgerBreaksIt) {
  json status = ring_of({peer("a"), peer("b")});
  status["peers"][1]["counts"]["fetched"] = 1;
  EXPECT_EQ(health_of(status).word(), "unhealthy");
  EXPECT_EQ(health_of(ring_of({peer("a"), peer("b", 1)})).word(), "unhealthy") << "a partition that no peer holds";
}

TEST(Health, MovesAndMissingCopiesAreSettling) {
  for (const char* name :
       {"partitions_to_gain", "partitions_to_hand_over", "partitions_to_return", "copies_to_backfill"}) {
    json status = ring_of({peer("a"), peer("b")});
    status["peers"][0]["counts"][name] = 1;
    EXPECT_EQ(health_of(status).word(), "settling") << name;
  }
  json status = ring_of({peer("a"), peer("b")});
  status["peers"][0]["not_fetching_because"] = json::array({"it is stopping"});
  EXPECT_EQ(health_of(status).word(), "settling");
}

TEST(Doctor, AHealthyRingHasNothingToRepair) {
  Findings findings;
  look_at_ring(ring_of({peer("a"), peer("b")}), now + seconds{1}, findings);
  EXPECT_FALSE(findings.any_failed());
  for (const char* check : {"ring.health", "ring.pairs", "ring.clocks", "ring.versions"})
    EXPECT_EQ(state_of(findings, check), Finding::State::ok);
}

TEST(Doctor, APairThatDoesNotReachEachOtherIsNamed) {
  json status = ring_of({peer("a"), peer("b")});
  status["peers"][0]["members"][1] = {{"id", "b"}, {"address", "b.test:7400"}, {"state", "down"}};
  Findings findings;
  look_at_ring(status, now, findings);
  EXPECT_EQ(state_of(findings, "ring.pairs"), Finding::State::fail);
  EXPECT_NE(findings.to_text().find("peer a at a.test:7400 counts peer b at b.test:7400 as down"), std::string::npos)
      << findings.to_text();
}

TEST(Doctor, ClocksAreComparedWithThisMachines) {
  const auto seen = [](seconds ahead) {
    json status = ring_of({peer("a"), peer("b")});
    status["peers"][1]["clock_us"] = (now + ahead).time_since_epoch().count();
    Findings findings;
    look_at_ring(status, now, findings);
    return state_of(findings, "ring.clocks");
  };
  EXPECT_EQ(seen(seconds{-2}), Finding::State::ok) << "the answer waited for others";
  EXPECT_EQ(seen(seconds{-10}), Finding::State::warn);
  EXPECT_EQ(seen(seconds{5}), Finding::State::warn);
  EXPECT_EQ(seen(seconds{3600}), Finding::State::fail);
  EXPECT_EQ(seen(seconds{-3600}), Finding::State::fail);
}

TEST(Doctor, TwoVersionsAreAnUpgradeToFinish) {
  json status = ring_of({peer("a"), peer("b")});
  status["peers"][1]["version"] = "0.2.0";
  Findings findings;
  look_at_ring(status, now, findings);
  EXPECT_EQ(state_of(findings, "ring.versions"), Finding::State::warn);
}

TEST(Doctor, SettingsThatAreRarelyMeantAreNamed) {
  Settings settings = default_settings();
  settings.contact = "https://you.example/bot";
  Findings well;
  look_at_settings(settings, 3, well);
  EXPECT_EQ(well.all().size(), 1u);
  EXPECT_EQ(state_of(well, "settings.contact"), Finding::State::ok);
  settings.contact.clear();
  settings.scope = ScopeKind::any;
  settings.delay = {};
  settings.robots = false;
  settings.replicas = 1;
  Findings odd;
  look_at_settings(settings, 3, odd);
  for (const char* check :
       {"settings.contact", "settings.end", "settings.delay", "settings.robots", "settings.replicas"})
    EXPECT_EQ(state_of(odd, check), Finding::State::warn) << check;
}

TEST(Doctor, APeersSettingsAreReadBack) {
  Settings settings = default_settings();
  settings.delay = seconds{7};
  json values = {{"proxy", nullptr}, {"of a later version", "1"}};
  for (const SettingRow& row : setting_rows())
    if (row.name != "proxy") values[row.name] = setting_text(settings, row.name);
  const SettingsSeen seen = settings_in({{"settings", values}});
  EXPECT_EQ(seen.values.delay, settings.delay);
  EXPECT_EQ(seen.hidden, std::set<std::string>{"proxy"});
}

TEST(Doctor, FindingsSayTheFixBelowWhatWasFound) {
  Findings findings;
  findings.ok("a.b", "fine");
  findings.fail("group.name", "broken", "repair it");
  EXPECT_EQ(findings.to_text(), "ok    a.b         fine\nfail  group.name  broken\n                  fix: repair it\n");
  EXPECT_EQ(findings.to_json(),
            (json::array({{{"check", "a.b"}, {"state", "ok"}, {"found", "fine"}},
                          {{"check", "group.name"}, {"state", "fail"}, {"found", "broken"}, {"fix", "repair it"}}})));
}

}  // namespace
}  // namespace orbweaver
