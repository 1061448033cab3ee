#include "tests/sim/scenario.h"

namespace orbweaver::sim {

using std::chrono::seconds;

std::string report(const World& world) {
  std::string text = world.parameters().text();
  for (const std::string& line : world.trace().last()) text += line + "\n";
  for (const std::string& failure : world.failures()) text += "FAIL: " + failure + "\n";
  return text;
}

bool lasts(const Parameters& p) {
  const FakeWeb web(p.web);
  for (std::uint32_t host = 0; host < 3; ++host) {
    const Walk alone = walk(web, {web.page_url(host, 0)}, {web.host_name(host)}, true);
    if (alone.fetched.size() >= 25) return true;
  }
  return false;
}

Parameters scene(std::uint64_t seed) {
  Parameters p;
  p.seed = seed;
  p.peers = 4;
  p.settings = plain_settings();
  p.settings.partitions = 64;
  p.settings.scope = ScopeKind::any;
  p.settings.delay = seconds{1};
  p.settings.stop_when_done = true;
  p.settings.retry_delay = seconds{1};
  p.web.seed = mix(seed);
  p.web.hosts = 12;
  p.web.pages_per_host = 40;
  p.seed_hosts = 6;
  while (!lasts(p)) p.web.seed = mix(p.web.seed);
  return p;
}

}  // namespace orbweaver::sim
