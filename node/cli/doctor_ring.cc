#include "node/cli/doctor_ring.h"

#include <algorithm>
#include <map>

#include "node/config/settings_table.h"
#include "node/ring_view/health.h"
#include "node/settings/site_header.h"

namespace orbweaver {

namespace {

using nlohmann::json;
using std::chrono::milliseconds;
using std::chrono::seconds;

// An answer may have waited for others for two seconds.
constexpr Duration answer_age = seconds{3};
constexpr Duration skew_bad = seconds{30};

// Which peers do not reach each other, from what each knows of the others.
void look_at_pairs(const json& peers, Findings& findings) {
  bool all = true;
  for (const json& peer : peers)
    for (const json& member : peer.value("members", json::array())) {
      const std::string state = member.value("state", "");
      if (state != "suspect" && state != "down") continue;
      all = false;
      findings.fail("ring.pairs", peer_words(peer) + " counts " + peer_words(member) + " as " + state,
                    "does it run? is its address right (advertise), and its port open between the two machines?");
    }
  if (all) findings.ok("ring.pairs", "every peer reaches every other one");
}

void look_at_clocks(const json& peers, Time now, Findings& findings) {
  bool all = true;
  for (const json& peer : peers) {
    if (!peer.contains("clock_us")) continue;
    const Duration ahead = Time(Duration(peer.value("clock_us", std::int64_t{0}))) - now;
    if (ahead < seconds{1} && ahead > -answer_age) continue;
    all = false;
    const std::string found = "the clock of " + peer_words(peer) + " is " +
                              std::to_string(std::abs(ahead.count()) / 1'000'000) + " s " +
                              (ahead > Duration{} ? "ahead of" : "behind") + " this machine's";
    const std::string fix = "set it by a time server: systemd-timesyncd, chrony or ntpd";
    if (ahead > skew_bad || ahead < -skew_bad) findings.fail("ring.clocks", found, fix);
    if (ahead <= skew_bad && ahead >= -skew_bad) findings.warn("ring.clocks", found, fix);
  }
  if (all) findings.ok("ring.clocks", "all are as this machine's");
}

void look_at_versions(const json& peers, Findings& findings) {
  std::map<std::string, std::size_t> versions;
  for (const json& peer : peers) ++versions[peer.value("version", "?")];
  std::string text;
  for (const auto& [version, count] : versions)
    text += (text.empty() ? "" : ", ") + std::to_string(count) + " of " + version;
  if (versions.size() > 1) return findings.warn("ring.versions", text, "upgrade the others too, one by one");
  findings.ok("ring.versions", text);
}

}  // namespace

void look_at_ring(const json& status, Time now, Findings& findings) {
  const Health health = health_of(status);
  const json peers = status.value("peers", json::array());
  for (const std::string& what : health.broken) findings.fail("ring.health", what, "docs/how-to/report.md");
  for (const std::string& what : health.settling) findings.warn("ring.health", what, "wait: orbweaver health --watch");
  if (health.word() == "healthy")
    findings.ok("ring.health", std::to_string(peers.size()) + " peers answer, every partition is held and has its " +
                                   "copies, every URL is accounted for");
  look_at_pairs(peers, findings);
  look_at_clocks(peers, now, findings);
  look_at_versions(peers, findings);
}

void look_at_settings(const Settings& settings, std::size_t peers, Findings& findings) {
  if (names_contact(settings.user_agent, settings.contact)) {
    findings.ok("settings.contact", user_agent_with(settings.user_agent, settings.contact));
  } else {
    findings.warn("settings.contact", "no contact is set: public sites are not asked",
                  "a ring's contact is set when it is made: --contact https://you.example/bot");
  }
  if (settings.scope == ScopeKind::any && settings.max_pages == 0 && settings.max_depth == 0)
    findings.warn("settings.end", "scope = any, without max_pages and max_depth: the crawl has no end",
                  "set one of them, unless that is meant");
  if (settings.delay < milliseconds{200})
    findings.warn("settings.delay", "delay = " + setting_text(settings, "delay"),
                  "sites that are not yours may take this for an attack; a second is usual");
  if (!settings.robots) findings.warn("settings.robots", "robots = no", "only for your own sites");
  if (settings.replicas < 2 && peers > 1)
    findings.warn("settings.replicas", "replicas = 1: what a lost machine alone knew is lost", "2 is the default");
  if (settings.replicas >= 2 && settings.replicas > peers)
    findings.warn("settings.replicas",
                  "replicas = " + std::to_string(settings.replicas) + ", with " + std::to_string(peers) + " peers",
                  "start more peers: until then a lost machine may take with it what it alone knew");
}

SettingsSeen settings_in(const json& answer) {
  SettingsSeen seen{default_settings()};
  const json values = answer.value("settings", json::object());
  for (const auto& [name, text] : values.items()) {
    if (text.is_null()) seen.hidden.insert(name);
    // One of a later release is not known here.
    if (text.is_string()) static_cast<void>(set_setting(seen.values, name, text.get<std::string>()));
  }
  return seen;
}

}  // namespace orbweaver
